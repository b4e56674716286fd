"""The leases by which kubelets say that their nodes are alive, in the namespace ``kube-node-lease``.

A kubelet renews its own every ten seconds. Here they are made, and renewed, when somebody reads them: as of the last
time at which the kubelet would have. So they cost nothing where nobody looks.
"""

from typing import Any

from batkube.bridge.time import SimulatedTime
from batkube.kube.apimachinery.times import unix_seconds
from batkube.kube.server import ApiServer

JSON = dict[str, Any]

LEASES, NAMESPACE = "leases.coordination.k8s.io", "kube-node-lease"
DURATION = 40
"""The kubelet's ``nodeLeaseDurationSeconds``."""
RENEWED_EVERY = 10
"""Simulated seconds: a quarter of that."""


def serve_node_leases(server: ApiServer, clock: SimulatedTime) -> None:
    """Keep a lease for each node. That of a node that is not ready was renewed as long as it was."""

    def refresh(namespace: str) -> None:
        if namespace not in ("", NAMESPACE):
            return
        nodes = {node["metadata"]["name"]: node for node in server.list("nodes")}
        known = {lease["metadata"]["name"]: lease for lease in server.list(LEASES, NAMESPACE)}
        for name, lease in known.items():
            if name not in nodes and any(own["kind"] == "Node" for own in lease["metadata"].get("ownerReferences", ())):
                server.delete(LEASES, name, NAMESPACE)
        for name, node in nodes.items():
            renewed = clock.rfc3339(_alive_at(node, clock) // RENEWED_EVERY * RENEWED_EVERY)
            renewed = f"{renewed.removesuffix('Z')}.000000Z"
            if name not in known:
                server.create(LEASES, _lease(node, renewed), NAMESPACE)
            elif known[name]["spec"].get("renewTime") != renewed:
                server.update(LEASES, {**known[name], "spec": {**known[name]["spec"], "renewTime": renewed}})

    server.before_reading(LEASES, refresh)


def _lease(node: JSON, renewed: str) -> JSON:
    name, uid = node["metadata"]["name"], node["metadata"]["uid"]
    return {
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": name, "uid": uid}],
        },
        "spec": {"holderIdentity": name, "leaseDurationSeconds": DURATION, "renewTime": renewed},
    }


def _alive_at(node: JSON, clock: SimulatedTime) -> float:
    """Return the last date, in simulated seconds, at which the node's kubelet was there."""
    for condition in node.get("status", {}).get("conditions", ()):
        if condition["type"] == "Ready" and condition["status"] != "True" and condition.get("lastTransitionTime"):
            lost = unix_seconds(condition["lastTransitionTime"]) - clock.epoch
            return min(max(lost, 0.0), clock.now)
    return clock.now
