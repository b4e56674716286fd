"""The node of a DaemonSet's pod: which may have one, and how a pod is tied to it."""

from collections.abc import Sequence
from typing import Any

from batkube.controllers.pods import from_template
from batkube.kube.apimachinery.deep_copy import deep_copy
from batkube.kube.apimachinery.node_affinity import names
from batkube.kube.apimachinery.taints import tolerates

JSON = dict[str, Any]

HASH, GENERATION = "controller-revision-hash", "pod-template-generation"
TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"
_ENDURED = (
    ("not-ready", "NoExecute"),
    ("unreachable", "NoExecute"),
    ("disk-pressure", "NoSchedule"),
    ("memory-pressure", "NoSchedule"),
    ("pid-pressure", "NoSchedule"),
    ("unschedulable", "NoSchedule"),
)
"""The taints that such pods tolerate, whatever their template says."""
_OF_THE_HOSTS_NETWORK = ("network-unavailable", "NoSchedule")


def tolerations(spec: JSON) -> list[JSON]:
    """Return the tolerations of a pod by this template: its own, and those of all such pods."""
    found = [dict(each) for each in spec.get("tolerations") or ()]
    for name, effect in (*_ENDURED, *([_OF_THE_HOSTS_NETWORK] if spec.get("hostNetwork") else ())):
        new = {"key": f"node.kubernetes.io/{name}", "operator": "Exists", "effect": effect}
        same = [index for index, each in enumerate(found) if _same(each, new)]
        if same:
            found[same[0]] = new
        else:
            found.append(new)
    return found


def _same(one: JSON, other: JSON) -> bool:
    return all(one.get(name, "") == other.get(name, "") for name in ("key", "effect", "operator", "value"))


def should_run(daemon_set: JSON, node: JSON) -> tuple[bool, bool]:
    """Tell whether a pod is to be on the node, and whether one that is there may stay."""
    spec, name = daemon_set["spec"]["template"]["spec"], node["metadata"]["name"]
    if spec.get("nodeName", name) != name or not names(spec, name, node["metadata"].get("labels") or {}):
        return False, False
    taints = (node.get("spec") or {}).get("taints")
    if not taints:
        return True, True
    endured = tolerations(spec)
    effects = {taint["effect"] for taint in taints if not any(tolerates(each, taint) for each in endured)}
    return not effects & {"NoSchedule", "NoExecute"}, "NoExecute" not in effects


def new_pod(daemon_set: JSON, node: str, code: str) -> JSON:
    """Return a pod for this node, by the template whose hash is ``code``."""
    pod = from_template(daemon_set["spec"]["template"], daemon_set)
    labels = pod["metadata"].get("labels") or {}
    if generation := (daemon_set["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION):
        labels[GENERATION] = generation
    pod["metadata"]["labels"] = {**labels, HASH: code}
    spec = pod["spec"]
    spec["tolerations"] = tolerations(spec)
    affinity = deep_copy(spec.get("affinity") or {})
    by_name = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}
    nodes = affinity.setdefault("nodeAffinity", {})
    nodes["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": [by_name]}
    spec["affinity"] = affinity
    return pod


def target(pod: JSON) -> str | None:
    """Return the node that a pod is on, or is meant for."""
    if node := pod["spec"].get("nodeName"):
        return str(node)
    affinity = (pod["spec"].get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    for term in required.get("nodeSelectorTerms") or ():
        for field in term.get("matchFields") or ():
            if field["key"] == "metadata.name" and field["operator"] == "In" and len(field["values"]) == 1:
                return str(field["values"][0])
    return None


def is_updated(daemon_set: JSON, pod: JSON, code: str) -> bool:
    """Tell whether the pod was made by the present template, whose hash is ``code``."""
    labels = pod["metadata"].get("labels") or {}
    generation = (daemon_set["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION)
    return labels.get(HASH) == code or (generation is not None and labels.get(GENERATION) == generation)


def oldest_first(pods: Sequence[JSON]) -> list[JSON]:
    """Return pods with a node before others, the oldest first."""
    return sorted(
        pods,
        key=lambda pod: (
            not pod["spec"].get("nodeName"),
            pod["metadata"]["creationTimestamp"],
            pod["metadata"]["name"],
        ),
    )
