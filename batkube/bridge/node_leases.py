"""The leases by which kubelets say that their nodes are alive, in the namespace ``kube-node-lease``.

A kubelet renews its own every ten seconds. Here they are made, and renewed, when somebody reads them: as of the last
time at which the kubelet would have. So they cost nothing where nobody looks. Where a client watches them they are
renewed every ten seconds: a node controller takes a node for lost whose lease it has not seen renewed for 50 s.
"""

import math
from typing import Any

from batkube.bridge.time import SimulatedTime
from batkube.controllers.kubelets import LEASE_RENEWED_EVERY, Kubelets
from batkube.kube.server import ApiServer

JSON = dict[str, Any]

LEASES, NAMESPACE = "leases.coordination.k8s.io", "kube-node-lease"
DURATION = 40
"""The kubelet's ``nodeLeaseDurationSeconds``."""


class NodeLeases:
    """Keeps a lease for each node. That of a node whose kubelet is silent was renewed as long as it was not."""

    def __init__(self, server: ApiServer, kubelets: Kubelets, time: SimulatedTime) -> None:
        self._server = server
        self._kubelets = kubelets
        self._time = time
        server.before_reading(LEASES, self._refresh)

    @property
    def next_date(self) -> float | None:
        """The date at which they are renewed next; None where nobody waits for it."""
        if not self._watched:
            return None
        return math.floor(self._time.now / LEASE_RENEWED_EVERY + 1) * LEASE_RENEWED_EVERY

    def advance(self) -> bool:
        """Renew them where somebody watches; False if nothing changed."""
        return self._watched and self._renew()

    @property
    def _watched(self) -> bool:
        return bool(self._server.watching(LEASES))

    def _refresh(self, namespace: str) -> None:
        if namespace in ("", NAMESPACE):
            self._renew()

    def _renew(self) -> bool:
        server, before = self._server, self._server.store.revision
        nodes = {node["metadata"]["name"]: node for node in server.list("nodes")}
        known = {lease["metadata"]["name"]: lease for lease in server.list(LEASES, NAMESPACE)}
        for name, lease in known.items():
            if name not in nodes and any(own["kind"] == "Node" for own in lease["metadata"].get("ownerReferences", ())):
                server.delete(LEASES, name, NAMESPACE)
        for name, node in nodes.items():
            renewed = self._time.rfc3339(self._kubelets.renewed(name, self._time.now))
            renewed = f"{renewed.removesuffix('Z')}.000000Z"
            if name not in known:
                server.create(LEASES, _lease(node, renewed), NAMESPACE)
            elif known[name]["spec"].get("renewTime") != renewed:
                server.update(LEASES, {**known[name], "spec": {**known[name]["spec"], "renewTime": renewed}})
        return server.store.revision != before


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
