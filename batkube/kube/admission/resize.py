"""The common part of the plugins that compare `pods/NAME/resize` with the pod's node."""

from __future__ import annotations

from typing import Any

from ..apimachinery.status import ApiError
from ..kinds.strategy import Context
from .plugin import Attributes

JSON = dict[str, Any]

RESIZE = "pods/resize"


def node_to_ask(write: Attributes) -> str | None:
    """Return the node that must support a resize; None if nothing changes, or if the pod has no node."""
    if write.old is None or write.obj["spec"] == write.old["spec"]:
        return None
    return write.obj["spec"].get("nodeName") or None


def node_of(name: str, ctx: Context) -> JSON:
    """Return the node. Raise 403 if there is none."""
    node = ctx.store.get("nodes", "", name)
    if node is None:
        raise refused(ctx, f'node "{name}" not found')
    return node


def refused(ctx: Context, why: str, cause: str = "") -> ApiError:
    """Return the error for a resize."""
    error = ApiError.forbidden("pods", ctx.name, why)
    if cause:
        error.details = {**(error.details or {}), "causes": [{"reason": cause}]}
    return error
