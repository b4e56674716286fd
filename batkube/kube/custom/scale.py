"""The scale subresource of custom resources: a view of two numbers and a selector of the object."""

from __future__ import annotations

from typing import Any

from ..kinds.scale import check_uid
from ..status import ApiError, quote
from ..strategy import Action, ActionRequest, Answer
from .replicas import value_at
from .strategy import CustomStrategy

JSON = dict[str, Any]


def scale_action(strategy: CustomStrategy) -> Action:
    """GET, PUT and PATCH of `scale`."""

    def act(request: ActionRequest) -> Answer:
        paths = strategy.versions[request.ctx.resource.version].scale or {}
        current = request.ctx.store.get(request.ctx.resource.storage, request.ctx.namespace, request.ctx.name)
        if current is None:
            raise ApiError.not_found(request.ctx.resource.qualified, request.ctx.name)
        if request.verb == "get" and value_at(current, paths["specReplicasPath"]) is None:
            raise _no_replicas(paths)
        if request.verb == "get":
            return Answer(200, _scale(current, paths))
        if value_at(current, paths["specReplicasPath"]) is None and request.change is not None:
            raise _no_replicas(paths)
        sent = request.change(_scale(current, paths)) if request.change is not None else request.body or {}
        replicas = (sent.get("spec") or {}).get("replicas", 0)
        metadata = sent.get("metadata") or {}
        if request.verb == "update":
            check_uid(request.ctx, metadata, current)
        version = metadata.get("resourceVersion")

        def scaled(obj: JSON) -> None:
            if version:
                obj["metadata"]["resourceVersion"] = version
            _set(obj, paths["specReplicasPath"], replicas)

        return Answer(200, _scale(request.update(scaled), paths))

    return act


def _no_replicas(paths: JSON) -> ApiError:
    return ApiError.internal(f"the spec replicas field {quote(paths['specReplicasPath'])} does not exist")


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
