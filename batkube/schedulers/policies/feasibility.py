"""The test whether a node may take a pod: selector, required affinity, taints. ``placement`` looks for room."""

from collections.abc import Sequence
from typing import Any

from batkube.kube.apimachinery.node_affinity import fits_one, required_terms
from batkube.kube.apimachinery.taints import tolerates
from batkube.schedulers.policies.nodes import Node
from batkube.schedulers.policies.pods import Pod

JSON = dict[str, Any]


def admits(node: Node, pod: Pod) -> bool:
    """Tell whether the node takes the pod if there is room: cordon, selector, required affinity and taints allow it."""
    if not node.schedulable:
        return False
    selector = pod.node_selector
    if selector:
        labels = node.labels
        if any(labels.get(key) != value for key, value in selector.items()):
            return False
    spec = pod.object["spec"]
    if "affinity" in spec and not fits_one(required_terms(spec), node.name, node.labels):
        return False
    return not node.taints or _tolerates_all(pod.tolerations, node.taints)


def _tolerates_all(tolerations: Sequence[JSON], taints: Sequence[JSON]) -> bool:
    return all(any(tolerates(each, taint) for each in tolerations) for taint in taints)
