"""`pods/NAME/resize` and `pods/NAME/ephemeralcontainers`: one part of a pod, read and written as the whole."""

from __future__ import annotations

from typing import Any

from .. import typed
from ..status import ApiError
from ..strategy import ActionRequest, Answer
from .pods import stored_pod

JSON = dict[str, Any]


def write_part(request: ActionRequest) -> Answer:
    """What of the pod sent is not this subresource's is not taken (see `Pods.prepare_update`)."""
    ctx = request.ctx
    if request.verb == "get":
        return Answer(200, stored_pod(ctx))

    def changed(pod: JSON) -> None:
        if request.change is not None:
            new = typed.decode(ctx.resource, request.change(pod), ctx.field_validation, ctx.warnings)
        else:
            new = request.body or {}
        name = (new.get("metadata") or {}).get("name") or ""
        if name != ctx.name:
            why = f"the name of the object ({name}) does not match the name on the URL ({ctx.name})"
            raise ApiError.bad_request(why)
        pod.clear()
        pod.update(new)

    return Answer(200, request.update(changed))
