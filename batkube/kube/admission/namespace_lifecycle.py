"""NamespaceLifecycle: no object is created in a namespace that does not exist or is being deleted."""

from __future__ import annotations

from ..apimachinery.status import ApiError
from ..kinds.core.namespaces import NAMESPACES, TERMINATING
from ..kinds.strategy import Context
from ..schema.resources import ResourceType
from .plugin import Plugin


class NamespaceLifecycle(Plugin):
    name = "NamespaceLifecycle"

    def enter(self, resource: ResourceType, name: str, context: Context) -> None:
        namespace = context.namespace
        if not namespace or not resource.namespaced:
            return
        found = context.store.get(NAMESPACES, "", namespace)
        if found is None:
            raise ApiError.not_found(NAMESPACES, namespace)
        if found["metadata"].get("deletionTimestamp") or found.get("status", {}).get("phase") == TERMINATING:
            why = f"unable to create new content in namespace {namespace} because it is being terminated"
            refused = ApiError.forbidden(resource.qualified, name, why)
            cause = {
                "reason": "NamespaceTerminating",
                "message": f"namespace {namespace} is being terminated",
                "field": "metadata.namespace",
            }
            refused.details = {**(refused.details or {}), "causes": [cause]}
            raise refused
