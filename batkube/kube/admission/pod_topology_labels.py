"""PodTopologyLabels: a bound pod has the labels of its node's zone and region."""

from __future__ import annotations

from typing import Any

from ..kinds.strategy import Reader
from .plugin import Attributes, Plugin

JSON = dict[str, Any]

_LABELS = ("topology.kubernetes.io/zone", "topology.kubernetes.io/region")


class PodTopologyLabels(Plugin):
    name = "PodTopologyLabels"
    handles = ("pods", "pods/binding")

    def admit(self, write: Attributes) -> None:
        obj = write.obj
        if write.context.subresource == "binding":
            target = obj.get("target") or {}
            node = target.get("name") if target.get("kind") == "Node" else None
        else:
            node = obj["spec"].get("nodeName")
        if node and (labels := _labels_of(node, write.context.store)):
            obj["metadata"]["labels"] = {**(obj["metadata"].get("labels") or {}), **labels}


def _labels_of(node: str, store: Reader) -> JSON:
    """Return the labels of a node that its pods get, too."""
    found = store.get("nodes", "", node)
    labels = found["metadata"].get("labels") if found is not None else None
    if not labels:
        return {}
    inherited = {}
    for key in _LABELS:
        if key in labels:
            inherited[key] = labels[key]
    return inherited
