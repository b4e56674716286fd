"""ExtendedResourceToleration: pods that ask for devices tolerate the taints of nodes with devices.

These taints have the names of the devices.
"""

from __future__ import annotations

from ..kinds.resource_lists import is_extended
from .plugin import Attributes, Plugin


class ExtendedResourceToleration(Plugin):
    name = "ExtendedResourceToleration"
    by_default = False
    handles = ("pods",)

    def admit(self, write: Attributes) -> None:
        if write.old is not None:
            return
        spec = write.obj["spec"]
        containers = [*(spec.get("containers") or ()), *(spec.get("initContainers") or ())]
        asked = {name for each in containers for name in (each.get("resources") or {}).get("requests") or ()}
        tolerations = spec.get("tolerations") or []
        for name in sorted(filter(is_extended, asked)):
            added = {"key": name, "operator": "Exists", "effect": "NoSchedule"}
            if added not in tolerations:
                tolerations = [*tolerations, added]
        if tolerations:
            spec["tolerations"] = tolerations
