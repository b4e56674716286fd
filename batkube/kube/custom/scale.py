"""The scale subresource of custom resources: a view of two numbers and a selector of the object."""

from __future__ import annotations

from typing import Any

from ..status import ApiError, FieldError
from ..strategy import Action, ActionRequest, Answer
from .strategy import CustomStrategy, value_at

JSON = dict[str, Any]


def scale_action(strategy: CustomStrategy) -> Action:
    """GET, PUT and PATCH of `scale`."""

    def act(request: ActionRequest) -> Answer:
        paths = strategy.versions[request.ctx.resource.version].scale or {}
        current = request.ctx.store.get(request.ctx.resource.storage, request.ctx.namespace, request.ctx.name)
        if current is None:
            raise ApiError.not_found(request.ctx.resource.qualified, request.ctx.name)
        if request.verb == "get":
            return Answer(200, _scale(current, paths))
        sent = request.change(_scale(current, paths)) if request.change is not None else request.body or {}
        replicas = (sent.get("spec") or {}).get("replicas", 0)
        if replicas < 0:
            negative = FieldError.invalid(paths["specReplicasPath"], replicas, "should be a non-negative integer")
            field = paths["specReplicasPath"].strip(".")
            low = f"{field} in body should be greater than or equal to 0"
            kind = request.ctx.resource.qualified_kind
            raise ApiError.invalid(kind, request.ctx.name, [FieldError.invalid(field, replicas, low), negative])
        version = (sent.get("metadata") or {}).get("resourceVersion")

        def scaled(obj: JSON) -> None:
            if version:
                obj["metadata"]["resourceVersion"] = version
            _set(obj, paths["specReplicasPath"], replicas)

        return Answer(200, _scale(request.update(scaled), paths))

    return act


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
