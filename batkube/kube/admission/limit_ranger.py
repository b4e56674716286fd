"""LimitRanger: the effect of limit ranges on pods and claims.

Defaults are set first, bounds are checked after validation.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..apimachinery.quantity import Quantity
from ..apimachinery.status import ApiError
from ..kinds.pods.defaults import pod_limits, pod_requests
from ..kinds.strategy import Context
from .plugin import Attributes, Plugin

JSON = dict[str, Any]
Amounts = dict[str, Quantity]

LIMIT_RANGES = "limitranges"
_CLAIMS = "persistentvolumeclaims"
_ANNOTATION = "kubernetes.io/limit-ranger"


class LimitRanger(Plugin):
    name = "LimitRanger"
    handles = ("pods", _CLAIMS)

    def admit(self, write: Attributes) -> None:
        if write.old is None and write.context.resource.storage == "pods":
            _default_to_limits(write.obj, write.context)

    def validate(self, write: Attributes) -> None:
        if write.old is None:
            _check_limits(write.obj, write.context)


def _limits(ctx: Context) -> Iterator[JSON]:
    for found in ctx.store.list(LIMIT_RANGES, ctx.namespace):
        yield from (found.get("spec") or {}).get("limits") or ()


def _default_to_limits(pod: JSON, ctx: Context) -> None:
    """Give the containers of a new pod the default limits and requests of their namespace."""
    limits: JSON = {}
    requests: JSON = {}
    for limit in _limits(ctx):
        if limit.get("type") == "Container":
            limits = {**(limit.get("default") or {}), **limits}
            requests = {**(limit.get("defaultRequest") or {}), **requests}
    if not limits and not requests:
        return
    notes: list[str] = []
    for kind, word in (("containers", "container"), ("initContainers", "init container")):
        for container in pod["spec"].get(kind) or ():
            resources = container["resources"] = dict(container.get("resources") or {})
            for field, defaults, what in (("requests", requests, "request"), ("limits", limits, "limit")):
                given = resources.get(field) or {}
                added = sorted(name for name in defaults if name not in given)
                if added:
                    resources[field] = {**given, **{name: defaults[name] for name in added}}
                    notes.append(f"{', '.join(added)} {what} for {word} {container.get('name', '')}")
    if notes:
        annotations = pod["metadata"].get("annotations") or {}
        text = "LimitRanger plugin set: " + "; ".join(notes)
        pod["metadata"]["annotations"] = {**annotations, _ANNOTATION: text}


def _check_limits(obj: JSON, ctx: Context) -> None:
    """Raise 403 if a new pod or claim is beyond the bounds of its namespace."""
    problems: list[str] = []
    for limit in _limits(ctx):
        kind = limit.get("type", "")
        if ctx.resource.storage == _CLAIMS:
            if kind == "PersistentVolumeClaim":
                asked = _amounts((obj["spec"].get("resources") or {}).get("requests"))
                problems.extend(_beyond(limit, kind, asked, {}, limits_count=False))
        elif kind == "Pod":
            problems.extend(_beyond(limit, kind, pod_requests(obj["spec"]), pod_limits(obj["spec"])))
        elif kind == "Container":
            for each in (*(obj["spec"].get("containers") or ()), *(obj["spec"].get("initContainers") or ())):
                resources = each.get("resources") or {}
                asked, most = _amounts(resources.get("requests")), _amounts(resources.get("limits"))
                problems.extend(_beyond(limit, kind, asked, most))
    if problems:
        problems = list(dict.fromkeys(problems))
        why = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
        raise ApiError.forbidden(ctx.resource.qualified, obj["metadata"]["name"], why)


def _amounts(resources: JSON | None) -> Amounts:
    return {name: Quantity.parse(text) for name, text in (resources or {}).items()}


def _beyond(limit: JSON, kind: str, requests: Amounts, limits: Amounts, limits_count: bool = True) -> Iterator[str]:
    for name, bound in _amounts(limit.get("min")).items():
        what = f"minimum {name} usage per {kind} is {bound}"
        if name not in requests:
            yield f"{what}.  No request is specified"
        elif requests[name] < bound:
            yield f"{what}, but request is {requests[name]}"
        elif name in limits and limits[name] < bound:
            yield f"{what}, but limit is {limits[name]}"
    for name, bound in _amounts(limit.get("max")).items():
        what = f"maximum {name} usage per {kind} is {bound}"
        if limits_count and name not in limits:
            yield f"{what}.  No limit is specified"
        elif not limits_count and name not in requests:
            yield f"{what}.  No request is specified"
        elif name in limits and limits[name] > bound:
            yield f"{what}, but limit is {limits[name]}"
        elif name in requests and requests[name] > bound:
            yield f"{what}, but request is {requests[name]}"
    for name, bound in _amounts(limit.get("maxLimitRequestRatio")).items():
        what = f"{name} max limit to request ratio per {kind} is {bound}, but"
        if name not in requests or not requests[name].value:
            yield f"{what} no request is specified or request is 0"
        elif name not in limits or not limits[name].value:
            yield f"{what} no limit is specified or limit is 0"
        elif (ratio := limits[name].value / requests[name].value) > bound.value:
            yield f"{what} provided ratio is {float(ratio):f}"
