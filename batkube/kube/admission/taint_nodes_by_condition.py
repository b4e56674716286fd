"""TaintNodesByCondition: a new node takes no pods until it is known to be ready."""

from __future__ import annotations

from ..kinds.core.nodes import NOT_READY
from .plugin import Attributes, Plugin


class TaintNodesByCondition(Plugin):
    name = "TaintNodesByCondition"
    handles = ("nodes",)

    def admit(self, write: Attributes) -> None:
        if write.old is not None:
            return
        spec = write.obj["spec"]
        taints = spec.get("taints") or []
        if not any(taint.get("key") == NOT_READY and taint.get("effect") == "NoSchedule" for taint in taints):
            spec["taints"] = [*taints, {"key": NOT_READY, "effect": "NoSchedule"}]
