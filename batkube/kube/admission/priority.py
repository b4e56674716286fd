"""Priority: pods and pod groups have the priority of their class, and one class is the default for all."""

from __future__ import annotations

from typing import Any

from ..apimachinery.status import ApiError
from ..kinds.policy import PRIORITY_CLASSES
from ..kinds.scheduling import POD_GROUPS, POD_GROUPS_VERSION
from ..kinds.strategy import Context
from .plugin import Attributes, Plugin

JSON = dict[str, Any]

_PREEMPTS = "PreemptLowerPriority"


class Priority(Plugin):
    name = "Priority"
    handles = ("pods", "pods/resize", "pods/ephemeralcontainers", POD_GROUPS, PRIORITY_CLASSES)

    def admit(self, write: Attributes) -> None:
        storage, obj, old = write.context.resource.storage, write.obj, write.old
        if storage == PRIORITY_CLASSES:
            if obj.get("globalDefault") and not (old and old.get("globalDefault")):
                _check_only_default(obj, write.context)
        elif old is not None:
            if storage == "pods":
                _keep_priority(obj["spec"], old["spec"])
        elif storage == "pods":
            _give_priority(obj, write.context)
        elif write.context.requested == POD_GROUPS_VERSION:
            _give_group_priority(obj, write.context)


def _give_priority(pod: JSON, ctx: Context) -> None:
    spec = pod["spec"]
    priority, policy = 0, _PREEMPTS
    found = _class_of("pods", pod, ctx)
    if found is not None:
        spec["priorityClassName"] = found["metadata"]["name"]
        priority, policy = found.get("value", 0), found.get("preemptionPolicy") or _PREEMPTS
    computed = (
        ("priority", priority, "integer value of priority"),
        ("preemptionPolicy", policy, "string value of PreemptionPolicy"),
    )
    for field, value, what in computed:
        given = spec.get(field)
        if given is not None and given != value:
            why = (
                f"the {what} ({given}) must not be provided in pod spec; priority admission controller computed "
                f"{value} from the given PriorityClass name"
            )
            raise ApiError.forbidden("pods", pod["metadata"].get("name", ""), why)
        spec[field] = value


def _keep_priority(spec: JSON, before: JSON) -> None:
    """Fill in fields that a client left out because it read the pod before admission, or wrote it anew."""
    for key in ("priority", "preemptionPolicy"):
        if spec.get(key) is None and before.get(key) is not None:
            spec[key] = before[key]


def _give_group_priority(group: JSON, ctx: Context) -> None:
    spec = group["spec"]
    found = _class_of(POD_GROUPS, group, ctx)
    priority = found.get("value", 0) if found else 0
    given = spec.get("priority")
    if given is not None and given != priority:
        why = (
            f"priority set in the pod group ({given}) must match the priority computed ({priority}) based on the "
            "priority class set in the spec"
        )
        raise ApiError.forbidden(POD_GROUPS, group["metadata"]["name"], why)
    spec["priority"] = priority
    if found:
        spec["priorityClassName"] = found["metadata"]["name"]


def _class_of(resource: str, obj: JSON, ctx: Context) -> JSON | None:
    """Return the priority class that an object names, or else the default class: the lowest of several.

    Raise 403 if there is no class of that name.
    """
    name = obj["spec"].get("priorityClassName")
    if name:
        found = ctx.store.get(PRIORITY_CLASSES, "", name)
        if found is None:
            why = f"no PriorityClass with name {name} was found"
            raise ApiError.forbidden(resource, obj["metadata"].get("name", ""), why)
        return found
    classes = [each for each in ctx.store.list(PRIORITY_CLASSES) if each.get("globalDefault")]
    return min(classes, key=lambda each: each.get("value", 0), default=None)


def _check_only_default(obj: JSON, ctx: Context) -> None:
    """Raise 403 if another class is the default: there is one for the whole cluster."""
    name = obj["metadata"]["name"]
    for other in ctx.store.list(PRIORITY_CLASSES):
        if other.get("globalDefault") and other["metadata"]["name"] != name:
            why = f"PriorityClass {other['metadata']['name']} is already marked as default. Only one default can exist"
            raise ApiError.forbidden(PRIORITY_CLASSES, name, why)
