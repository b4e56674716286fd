"""Limit ranges and their content (`pkg/apis/core/validation` of Kubernetes).

Their effect on other objects is in `admission/limit_ranger.py`.
"""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import qualified_name
from ...apimachinery.quantity import Quantity
from ...apimachinery.status import FieldError
from ..resource_lists import is_native, round_up
from ..resource_validation import container_resource_name, resource_name
from ..strategy import Context, Strategy

JSON = dict[str, Any]

_LIMIT_TYPES = ("Pod", "Container", "PersistentVolumeClaim")
_BOUNDS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_ONE = Quantity(1)


class LimitRanges(Strategy):
    """The bounds of the requests of pods in a namespace, and the defaults for pods without requests."""

    revalidates_metadata = True
    create_on_update = True
    names_itself = True
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_limits(obj)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate_limits(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_limits(new)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return super().validate_update(new, old, ctx) + _validate_limits(new)


def _default_limits(obj: JSON) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("limits", None)  # no pointer and not left out: null in JSON
    for item in spec["limits"] or ():
        for field in _BOUNDS:
            round_up(item.get(field))
        if item.get("type") == "Container":
            limits = item["default"] = {**(item.get("max") or {}), **(item.get("default") or {})}
            requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
            item["defaultRequest"] = requests
            for field in ("default", "defaultRequest"):
                if not item[field]:
                    del item[field]


def _validate_limits(obj: JSON) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for index, item in enumerate((obj.get("spec") or {}).get("limits") or ()):
        at, kind = f"spec.limits[{index}]", item.get("type") or ""
        if "/" in kind or not kind:
            errors += problems(f"{at}.type", kind, qualified_name(kind))
        elif kind not in _LIMIT_TYPES:
            errors.append(FieldError.invalid(f"{at}.type", kind, "must be a standard limit type or fully qualified"))
        if kind in seen:
            errors.append(FieldError.duplicate(f"{at}.type", kind))
        seen.add(kind)
        if kind == "Pod":
            for field in ("default", "defaultRequest"):
                if item.get(field):
                    errors.append(FieldError.forbidden(f"{at}.{field}", "may not be specified when `type` is 'Pod'"))
        storage = [(item.get(field) or {}).get("storage") for field in ("min", "max")]
        if kind == "PersistentVolumeClaim" and storage == [None, None]:
            why = "either minimum or maximum storage value is required, but neither was provided"
            errors.append(FieldError.required(f"{at}.limits", why))
        errors += _validate_bounds(item, at)
    return errors


def _validate_bounds(item: JSON, at: str) -> Errors:
    errors: Errors = []
    kind = item.get("type") or ""
    rule = container_resource_name if kind in ("Pod", "Container") else resource_name
    given = {field: _amounts(item.get(field)) for field in _BOUNDS}
    if kind == "Pod":  # has no defaults, and what is given as such is not looked at
        given["default"] = given["defaultRequest"] = {}
    for field, listed in given.items():
        for name in listed:
            errors += problems(f"{at}.{field}[{name}]", name, rule(name))
    for name in sorted({name for listed in given.values() for name in listed}):
        low, high = given["min"].get(name), given["max"].get(name)
        default, request = given["default"].get(name), given["defaultRequest"].get(name)
        for one, other, field, shown, why in (
            (low, high, "min", low, f"min value {low} is greater than max value {high}"),
            (
                low,
                request,
                "defaultRequest",
                request,
                f"min value {low} is greater than default request value {request}",
            ),
            (
                request,
                high,
                "defaultRequest",
                request,
                f"default request value {request} is greater than max value {high}",
            ),
            (
                request,
                default,
                "defaultRequest",
                request,
                f"default request value {request} is greater than default limit value {default}",
            ),
            (low, default, "default", low, f"min value {low} is greater than default value {default}"),
            (default, high, "default", high, f"default value {default} is greater than max value {high}"),
        ):
            if one is not None and other is not None and one > other:
                errors.append(FieldError.invalid(f"{at}.{field}[{name}]", str(shown), why))
        ratio = given["maxLimitRequestRatio"].get(name)
        if ratio is not None and ratio < _ONE:
            why = f"ratio {ratio} is less than 1"
            errors.append(FieldError.invalid(f"{at}.maxLimitRequestRatio[{name}]", str(ratio), why))
        if ratio is not None and low is not None and high is not None and low.value:
            most = high.value / low.value
            if ratio.value > most:
                why = f"ratio {ratio} is greater than max/min = {float(most):f}"
                errors.append(FieldError.invalid(f"{at}.maxLimitRequestRatio[{name}]", str(ratio), why))
        overcommitted = is_native(name) and not name.startswith("hugepages-")
        if not overcommitted and default is not None and request is not None and default != request:
            why = f"default value {default} must equal to defaultRequest value {request} in {name}"
            errors.append(FieldError.invalid(f"{at}.defaultRequest[{name}]", str(request), why))
    return errors


def _amounts(resources: JSON | None) -> dict[str, Quantity]:
    return {name: Quantity.parse(quantity) for name, quantity in (resources or {}).items()}
