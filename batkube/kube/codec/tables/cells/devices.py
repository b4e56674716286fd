"""Dynamic resource allocation: claims, slices, classes, taints of devices."""

from __future__ import annotations

from typing import Any

from ..ages import Ages
from .text import JSON, Cells, age, name, name_and_age, spec, status


def resource_claim(obj: JSON, ages: Ages) -> list[Any]:
    states = []
    deleted = bool(obj["metadata"].get("deletionTimestamp"))
    if deleted:
        states.append("deleted")
    if status(obj).get("allocation") is not None:
        states.append("allocated")
        if status(obj).get("reservedFor"):
            states.append("reserved")
    elif not deleted:
        states.append("pending")
    return [name(obj), ",".join(states), age(obj, ages)]


def resource_slice(obj: JSON, ages: Ages) -> list[Any]:
    its_spec = spec(obj)
    pool = (its_spec.get("pool") or {}).get("name", "")
    return [name(obj), its_spec.get("nodeName") or "", its_spec.get("driver", ""), pool, age(obj, ages)]


def device_taint_rule(obj: JSON, ages: Ages) -> list[Any]:
    taint = spec(obj).get("taint") or {}
    added = ages.since(taint["timeAdded"]) if taint.get("timeAdded") else ""
    return [name(obj), *(taint.get(key, "") for key in ("key", "value", "effect")), added, age(obj, ages)]


CELLS: dict[str, Cells] = {
    "DeviceClass": name_and_age,
    "DeviceTaintRule": device_taint_rule,
    "ResourceClaim": resource_claim,
    "ResourceClaimTemplate": name_and_age,
    "ResourceSlice": resource_slice,
}
