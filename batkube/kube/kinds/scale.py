"""The scale of a workload: a view of its replicas (`pkg/registry/apps/*/storage`)."""

from __future__ import annotations

from typing import Any

from ..metadata import validate_new
from ..status import ApiError, FieldError
from ..strategy import ActionRequest, Answer, Context

JSON = dict[str, Any]

_METADATA = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale(request: ActionRequest) -> Answer:
    """GET, PUT and PATCH of `scale`."""
    ctx = request.ctx
    current = ctx.store.get(ctx.resource.storage, ctx.namespace, ctx.name)
    if current is None:
        raise ApiError.not_found(ctx.resource.qualified, ctx.name)
    if request.verb == "get":
        return Answer(200, _scale_of(current))
    sent = request.change(_scale_of(current)) if request.change is not None else request.body or {}
    metadata = sent.get("metadata") or {}
    if request.verb == "update":
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

    return Answer(200, _scale_of(request.update(scaled)))


def check_uid(ctx: Context, metadata: JSON, current: JSON) -> None:
    """A scale that names a uid is that of no other object."""
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
    """The selector as one writes it in a request: `a=b,c in (d,e)`."""
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
