"""The numbers of a custom resource that its scale subresource shows (`ValidateScaleSpec` and `ValidateScaleStatus` of
apiextensions-apiserver).
"""

from __future__ import annotations

from typing import Any

from ..apimachinery.go_values import go_value
from ..apimachinery.status import FieldError

JSON = dict[str, Any]

_MAX = (1 << 31) - 1


def value_at(obj: JSON, path: str) -> Any:
    """Return the value at a simple JSON path such as `.spec.replicas`; None if there is none."""
    value: Any = obj
    for key in path.strip(".").split("."):
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


def validate_spec_replicas(obj: JSON, scale: JSON | None) -> list[FieldError]:
    """Return the errors in the number of replicas of the spec."""
    return [] if scale is None else _validate_number(obj, scale["specReplicasPath"])


def validate_status_replicas(obj: JSON, scale: JSON | None) -> list[FieldError]:
    """Return the errors in the number of replicas of the status, and in the selector."""
    if scale is None:
        return []
    errors = _validate_number(obj, scale["statusReplicasPath"])
    if path := scale.get("labelSelectorPath"):
        errors += _misplaced(obj, path, "", (str,), "string")
    return errors


def _validate_number(obj: JSON, path: str) -> list[FieldError]:
    if errors := _misplaced(obj, path, 0, (int,), "int64"):
        return errors
    number = value_at(obj, path) or 0
    if number < 0:
        return [FieldError.invalid(path, number, "should be a non-negative integer")]
    return [FieldError.invalid(path, number, f"should be less than or equal to {_MAX}")] if number > _MAX else []


def _misplaced(obj: JSON, path: str, nothing: Any, types: tuple[type, ...], name: str) -> list[FieldError]:
    """Return an error if a value at the path or on the way has another type (`unstructured.NestedFieldNoCopy`)."""
    value: Any = obj
    steps = path.removeprefix(".").split(".")
    for index, step in enumerate(steps):
        if not isinstance(value, dict):
            if value is None:
                return []
            why = f"{_dotted(steps[: index + 1])} accessor error: {go_value(value)} is of the type {_go_type(value)}"
            return [FieldError.invalid(path, nothing, f"{why}, expected map[string]interface{{}}")]
        if step not in value:
            return []
        value = value[step]
    if isinstance(value, types) and not isinstance(value, bool):
        return []
    why = f"{_dotted(steps)} accessor error: {go_value(value)} is of the type {_go_type(value)}, expected {name}"
    return [FieldError.invalid(path, nothing, why)]


def _dotted(steps: list[str]) -> str:
    return "." + ".".join(steps)


def _go_type(value: Any) -> str:
    if isinstance(value, bool):
        return "bool"
    names = {int: "int64", float: "float64", str: "string", list: "[]interface {}", dict: "map[string]interface {}"}
    return names.get(type(value), "<nil>")
