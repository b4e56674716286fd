"""The scale of a workload: a view of its replicas (`pkg/registry/apps/*/storage`)."""

from __future__ import annotations

from typing import Any

from ..apimachinery.metadata import validate_new
from ..apimachinery.status import ApiError, FieldError
from .action import Action, ActionAnswer, ActionRequest, ObjectOperations
from .strategy import Context

JSON = dict[str, Any]

_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


class Scale(Action):
    """The action `scale` of a workload."""

    def read(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        return ActionAnswer(200, _scale_of(self._current(request.ctx)))

    def update(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        ctx = request.ctx
        current = self._current(ctx)
        sent = server.patched(_scale_of(current))
        metadata = sent.get("metadata") or {}
        if request.body is not None:  # a PUT: a patch says what it is applied to
            check_uid(ctx, metadata, current)
        replicas = (sent.get("spec") or {}).get("replicas") or 0
        errors = validate_new(metadata)
        if replicas < 0:
            errors.append(FieldError.invalid("spec.replicas", replicas, "must be greater than or equal to 0"))
        if errors:
            raise ApiError.invalid("Scale.autoscaling", ctx.name, errors)

        def scaled(obj: JSON) -> None:
            if metadata.get("resourceVersion"):
                obj["metadata"]["resourceVersion"] = metadata["resourceVersion"]
            if metadata.get("uid"):
                obj["metadata"]["uid"] = metadata["uid"]
            obj["spec"]["replicas"] = replicas

        return ActionAnswer(200, _scale_of(server.update(scaled)))

    @staticmethod
    def _current(ctx: Context) -> JSON:
        current = ctx.store.get(ctx.resource.storage, ctx.namespace, ctx.name)
        if current is None:
            raise ApiError.not_found(ctx.resource.qualified, ctx.name)
        return current


def check_uid(ctx: Context, metadata: JSON, current: JSON) -> None:
    """Check that a uid in a scale is that of the object."""
    uid = current["metadata"]["uid"]
    if metadata.get("uid") not in (None, "", uid):
        stored = ctx.resource.storage_key(ctx.namespace, ctx.name)
        raise ApiError.other_object(ctx.resource.qualified, stored, "UID", metadata["uid"], uid, dry_run=ctx.dry_run)


def _scale_of(obj: JSON) -> JSON:
    replicas = obj["spec"].get("replicas") or 0
    status: JSON = {"replicas": (obj.get("status") or {}).get("replicas", 0)}
    if selector := _text(obj["spec"].get("selector") or {}):
        status["selector"] = selector
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {key: obj["metadata"][key] for key in _METADATA if key in obj["metadata"]},
        "spec": {"replicas": replicas} if replicas else {},
        "status": status,
    }


def _text(selector: JSON) -> str:
    """Return the selector as it is written in a request: `a=b,c in (d,e)`."""
    if "matchLabels" not in selector and "matchExpressions" not in selector:
        selector = {"matchLabels": selector}  # that of a replication controller
    labels, expressions = selector.get("matchLabels") or {}, selector.get("matchExpressions") or []
    parts = {key: f"{key}={value}" for key, value in labels.items()}
    for requirement in expressions:
        key, operator = requirement["key"], requirement["operator"]
        if operator in ("Exists", "DoesNotExist"):
            parts[key] = key if operator == "Exists" else f"!{key}"
        else:
            values = ",".join(sorted(requirement.get("values") or ()))
            parts[key] = f"{key} {operator.lower()} ({values})"
    return ",".join(parts[key] for key in sorted(parts))
