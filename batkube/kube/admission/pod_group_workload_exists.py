"""PodGroupWorkloadExists: the workload that a pod group names exists and has the template."""

from __future__ import annotations

from ..apimachinery.status import ApiError
from ..kinds.scheduling import POD_GROUPS, POD_GROUPS_VERSION, WORKLOADS
from .plugin import Attributes, Plugin


class PodGroupWorkloadExists(Plugin):
    name = "PodGroupWorkloadExists"
    handles = (POD_GROUPS,)

    def validate(self, write: Attributes) -> None:
        context, group = write.context, write.obj
        if write.old is not None or context.requested != POD_GROUPS_VERSION:
            return
        reference = (group["spec"].get("podGroupTemplateRef") or {}).get("workload")
        if reference is None:
            return
        name, template = reference["workloadName"], reference["podGroupTemplateName"]
        workload = context.store.get(WORKLOADS, context.namespace, name)
        if workload is None:
            why = f'Workload "{name}" not found'
        elif workload["metadata"].get("deletionTimestamp"):
            why = f'Workload "{name}" is being deleted'
        elif all(each.get("name") != template for each in workload["spec"].get("podGroupTemplates") or ()):
            why = f'PodGroupTemplate "{template}" not found in Workload "{name}"'
        else:
            return
        raise ApiError.forbidden(POD_GROUPS, group["metadata"]["name"], f"PodGroup rejected: {why}")
