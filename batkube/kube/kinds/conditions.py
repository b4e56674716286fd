"""The conditions that kinds share (`ValidateConditions` in k8s.io/apimachinery/pkg/apis/meta/v1/validation)."""

from __future__ import annotations

import re
from typing import Any

from ..apimachinery.metadata import Errors, problems
from ..apimachinery.names import qualified_name
from ..apimachinery.status import FieldError
from .published import validate_field

JSON = dict[str, Any]

_STATES = ("False", "True", "Unknown")
_REASON = re.compile(r"[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?")
_MAX_REASON, _MAX_MESSAGE = 1024, 32768


def validate_conditions(conditions: list[JSON], path: str) -> Errors:
    """Check conditions of type metav1.Condition. Pods and nodes have types of their own, which are not checked here."""
    errors: Errors = []
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        kind = condition.get("type", "")
        if kind in seen:
            errors.append(FieldError.duplicate(f"{path}[{index}].type", kind))
        seen.add(kind)
        errors.extend(_validate(condition, f"{path}[{index}]"))
    return errors


def _validate(condition: JSON, path: str) -> Errors:
    errors: Errors = []
    kind, reason = condition.get("type", ""), condition.get("reason", "")
    errors.extend(problems(f"{path}.type", kind, qualified_name(kind)))
    if condition.get("status") not in _STATES:
        errors.append(FieldError.not_supported(f"{path}.status", condition.get("status", ""), _STATES))
    generation = condition.get("observedGeneration", 0)
    if generation < 0:
        why = "must be greater than or equal to zero"
        errors.append(FieldError.invalid(f"{path}.observedGeneration", generation, why))
    for field in ("lastTransitionTime", "reason"):
        errors.extend(validate_field("meta/v1.Condition", condition, field, path))
    if reason and not _REASON.fullmatch(reason):
        why = (
            "a condition reason must start with alphabetic character, optionally followed by a string of alphanumeric "
            "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or 'MY_NAME',  "
            "or 'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
            "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"
        )
        errors.append(FieldError.invalid(f"{path}.reason", reason, why))
    if len(reason.encode()) > _MAX_REASON:
        errors.append(FieldError.too_long(f"{path}.reason", _MAX_REASON))
    if len(condition.get("message", "").encode()) > _MAX_MESSAGE:
        errors.append(FieldError.too_long(f"{path}.message", _MAX_MESSAGE))
    return errors
