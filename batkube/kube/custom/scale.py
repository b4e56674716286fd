"""The scale subresource of custom resources: a view of two numbers and a selector of the object."""

from __future__ import annotations

from typing import Any

from ..apimachinery.status import ApiError, quote
from ..kinds.action import Action, ActionAnswer, ActionRequest, ObjectOperations
from ..kinds.scale import check_uid
from ..kinds.strategy import Context
from .replicas import value_at
from .strategy import CustomStrategy

JSON = dict[str, Any]

_ABSENT = -(1 << 31)
"""The value that a patch finds in place of absent replicas."""


class CustomScale(Action):
    """The scale of a custom resource."""

    def __init__(self, strategy: CustomStrategy) -> None:
        self._strategy = strategy

    def read(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        paths, current = self._found(request.ctx)
        if value_at(current, paths["specReplicasPath"]) is None:
            why = f"the spec replicas field {quote(paths['specReplicasPath'])} does not exist"
            raise ApiError.internal(why)
        return ActionAnswer(200, _scale(current, paths))

    def update(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        paths, current = self._found(request.ctx)
        shown = _scale(current, paths)
        if value_at(current, paths["specReplicasPath"]) is None:
            shown["spec"] = {"replicas": _ABSENT}
        sent = server.patched(shown)
        replicas = (sent.get("spec") or {}).get("replicas", 0)
        if replicas == _ABSENT:
            why = f"the spec replicas field {quote(paths['specReplicasPath'])} cannot be empty"
            raise ApiError.bad_request(why)
        metadata = sent.get("metadata") or {}
        if request.body is not None:
            check_uid(request.ctx, metadata, current)
        version = metadata.get("resourceVersion")

        def scaled(obj: JSON) -> None:
            if version:
                obj["metadata"]["resourceVersion"] = version
            _set(obj, paths["specReplicasPath"], replicas)

        return ActionAnswer(200, _scale(server.update(scaled), paths))

    def _found(self, ctx: Context) -> tuple[JSON, JSON]:
        """Return the paths of the scale, and the object."""
        paths = self._strategy.versions[ctx.resource.version].scale or {}
        current = ctx.store.get(ctx.resource.storage, ctx.namespace, ctx.name)
        if current is None:
            raise ApiError.not_found(ctx.resource.qualified, ctx.name)
        return paths, current


def _scale(obj: JSON, paths: JSON) -> JSON:
    metadata = {
        key: obj["metadata"][key]
        for key in ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")
        if key in obj["metadata"]
    }
    status: JSON = {"replicas": value_at(obj, paths.get("statusReplicasPath", "")) or 0}
    selector = value_at(obj, paths["labelSelectorPath"]) if paths.get("labelSelectorPath") else None
    if selector:
        status["selector"] = selector
    replicas = value_at(obj, paths["specReplicasPath"])
    spec = {"replicas": replicas} if replicas else {}
    return {"kind": "Scale", "apiVersion": "autoscaling/v1", "metadata": metadata, "spec": spec, "status": status}


def _set(obj: JSON, path: str, value: Any) -> None:
    *parents, last = path.strip(".").split(".")
    for key in parents:
        obj = obj.setdefault(key, {})
    obj[last] = value
