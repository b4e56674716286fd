"""The amounts that claims may request of the capacity of a device that they share (`validateRequestPolicy`)."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from typing import Any

from ...apimachinery.metadata import Errors
from ...apimachinery.quantity import Quantity
from ...apimachinery.status import FieldError
from .devices import validate_items

JSON = dict[str, Any]

_MAX_OPTIONS = 10
_ONE_POLICY = 'exactly one policy can be specified, cannot specify "validValues" and "validRange" at the same time'


def validate_capacity(capacity: JSON, path: str, *, shared: bool) -> Errors:
    """Check a capacity of a device. `shared`: several claims may have the device at once."""
    policy = capacity.get("requestPolicy")
    path = f"{path}.requestPolicy"
    if policy is None:
        return []
    if not shared:
        return [FieldError.forbidden(path, "allowMultipleAllocations must be true")]
    options, span, default = policy.get("validValues") or [], policy.get("validRange"), policy.get("default")
    if options and span is not None:
        return [FieldError.forbidden(path, _ONE_POLICY)]
    if not options and span is None:
        return []
    field = "validValues" if options else "validRange"
    if default is None:
        return [FieldError.required(f"{path}.default", f"required when {field} is defined")]
    most, default = Quantity.parse(capacity.get("value") or "0"), Quantity.parse(default)
    if options:
        return _validate_options([Quantity.parse(option) for option in options], default, most, f"{path}.{field}")
    bounds = {key: Quantity.parse(value) for key, value in span.items() if value is not None}
    return _validate_range(bounds, default, most, f"{path}.{field}")


def _validate_options(options: list[Quantity], default: Quantity, most: Quantity, path: str) -> Errors:
    errors = [
        FieldError.invalid(f"{path}[{index + 1}]", str(after), "values must be sorted in ascending order")
        for index, (before, after) in enumerate(pairwise(options))
        if before > after
    ]

    def check(option: Quantity, at: str) -> Errors:
        why = f"option is larger than capacity value: {most}"
        return [FieldError.invalid(at, str(option), why)] if option > most else []

    errors += validate_items(options, _MAX_OPTIONS, check, path, lambda option: str(ceil(option.value)))
    if default not in options[:_MAX_OPTIONS] or len(options) > _MAX_OPTIONS:
        why = "default value is not valid according to the requestPolicy"
        errors.append(FieldError.invalid(path, str(default), why))
    return errors


def _validate_range(bounds: dict[str, Quantity], default: Quantity, most: Quantity, path: str) -> Errors:
    least, top, step = (bounds.get(key) for key in ("min", "max", "step"))
    if least is None:
        return [FieldError.required(f"{path}.min", "required when validRange is defined")]
    found = [
        (least > most, "min", least, f"min is larger than capacity value: {most}"),
        (default < least, "min", default, f"default is less than min: {least}"),
    ]
    if top is not None:
        found += [
            (least > top, "max", least, f"min is larger than max: {top}"),
            (top > most, "max", top, f"max is larger than capacity value: {most}"),
            (default > top, "max", default, f"default is more than max: {top}"),
        ]
    if step is not None:
        once = least + step
        found.append((once > most, "step", step, f"one step {once} is larger than capacity value: {most}"))
        why = f"value is not a multiple of a given step ({step}) from ({least})"
        found += [(not _steps(value, least, step), "step", value, why) for value in (default, top) if value is not None]
    return [FieldError.invalid(f"{path}.{field}", str(value), why) for wrong, field, value, why in found if wrong]


def _steps(value: Quantity, least: Quantity, step: Quantity) -> bool:
    """Return True if the value is the least one plus a whole number of steps. All are rounded up to whole numbers."""
    stride = ceil(step.value)
    return stride != 0 and (ceil(value.value) - ceil(least.value)) % stride == 0
