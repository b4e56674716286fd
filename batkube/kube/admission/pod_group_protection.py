"""PodGroupProtection: deleted pod groups stay until they have no pods."""

from __future__ import annotations

from ..kinds.scheduling import POD_GROUPS, POD_GROUPS_VERSION
from ..schema.gates import GENERIC_WORKLOAD
from .plugin import Attributes, Plugin

_PROTECTED = "scheduling.k8s.io/podgroup-protection"


class PodGroupProtection(Plugin):
    name = "PodGroupProtection"
    handles = (POD_GROUPS,)

    def admit(self, write: Attributes) -> None:
        context, metadata = write.context, write.obj["metadata"]
        if write.old is not None or context.requested != POD_GROUPS_VERSION or GENERIC_WORKLOAD not in context.gates:
            return
        finalizers = metadata.get("finalizers") or []
        if _PROTECTED not in finalizers:
            metadata["finalizers"] = [*finalizers, _PROTECTED]
