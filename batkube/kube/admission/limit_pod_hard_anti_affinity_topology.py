"""LimitPodHardAntiAffinityTopology: pods may keep others off their host, but not off a whole zone."""

from __future__ import annotations

from ..apimachinery.status import ApiError
from .plugin import Attributes, Plugin

_HOSTNAME = "kubernetes.io/hostname"


class LimitPodHardAntiAffinityTopology(Plugin):
    name = "LimitPodHardAntiAffinityTopology"
    by_default = False
    handles = ("pods",)

    def admit(self, write: Attributes) -> None:
        pod = write.obj
        if write.old is not None:
            return
        affinity = (pod["spec"].get("affinity") or {}).get("podAntiAffinity") or {}
        for term in affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or ():
            if term.get("topologyKey") != _HOSTNAME:
                why = (
                    f"affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey {term.get('topologyKey', '')} "
                    f"but only key {_HOSTNAME} is allowed"
                )
                raise ApiError.forbidden("pods", pod["metadata"].get("name", ""), why)
