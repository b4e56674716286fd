"""Label selectors as fields of objects: `{"matchLabels": ..., "matchExpressions": ...}`.

(The selectors of requests, which are texts, are in `selectors.py`.)
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from .metadata import Errors, problems, validate_labels
from .names import label_value, qualified_name
from .status import FieldError

JSON = dict[str, Any]

_NEEDS_VALUES = "must be specified when `operator` is 'In' or 'NotIn'"
_NO_VALUES = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"


def validate_label_selector(selector: JSON | None, path: str) -> Errors:
    """Return the errors in a LabelSelector (`k8s.io/apimachinery/pkg/apis/meta/v1/validation`)."""
    if not selector:
        return []
    errors = validate_labels(selector.get("matchLabels") or {}, f"{path}.matchLabels")
    for index, requirement in enumerate(selector.get("matchExpressions") or ()):
        errors.extend(_validate_requirement(requirement, f"{path}.matchExpressions[{index}]"))
    return errors


def _validate_requirement(requirement: JSON, path: str) -> Errors:
    errors: Errors = []
    operator, values = requirement.get("operator", ""), requirement.get("values") or []
    if operator in ("In", "NotIn"):
        if not values:
            errors.append(FieldError.required(f"{path}.values", _NEEDS_VALUES))
    elif operator in ("Exists", "DoesNotExist"):
        if values:
            errors.append(FieldError.forbidden(f"{path}.values", _NO_VALUES))
    else:
        errors.append(FieldError.invalid(f"{path}.operator", operator, "not a valid selector operator"))
    key = requirement.get("key", "")
    errors.extend(problems(f"{path}.key", key, qualified_name(key)))
    for index, value in enumerate(values):
        errors.extend(problems(f"{path}.values[{index}]", value, label_value(value)))
    return errors


def matches(selector: JSON | None, labels: Mapping[str, str]) -> bool:
    """Return True if the labels satisfy the selector. An absent selector matches nothing, an empty one everything."""
    if selector is None:
        return False
    for key, value in (selector.get("matchLabels") or {}).items():
        if labels.get(key) != value:
            return False
    return all(_satisfies(requirement, labels) for requirement in selector.get("matchExpressions") or ())


def _satisfies(requirement: JSON, labels: Mapping[str, str]) -> bool:
    key, operator = requirement["key"], requirement["operator"]
    if operator == "Exists":
        return key in labels
    if operator == "DoesNotExist":
        return key not in labels
    contained = labels.get(key) in (requirement.get("values") or ()) and key in labels
    return contained if operator == "In" else not contained
