"""The policies that say when a job's pods fail it, and which of them are enough: podFailurePolicy and successPolicy
(`pkg/apis/batch/validation`).
"""

from __future__ import annotations

import re
from typing import Any

from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import qualified_name
from ...apimachinery.status import FieldError, quote
from ...schema.field_rules import rule_of
from ..published import validate_field

JSON = dict[str, Any]

_STATUSES = ("False", "True", "Unknown")
_MAX_RULES, _MAX_CODES, _MAX_PATTERNS = 20, 255, 20
_NUMBER = re.compile(r"\+?[0-9]{1,18}")
NEGATIVE = "must be greater than or equal to 0"


def validate_failure_policy(spec: JSON, path: str) -> Errors:
    """Check the podFailurePolicy of a job's spec."""
    rules = spec["podFailurePolicy"].get("rules") or []
    errors: Errors = []
    if len(rules) > _MAX_RULES:
        errors.append(FieldError.too_many(f"{path}.rules", len(rules), _MAX_RULES))
    for index, rule in enumerate(rules):
        errors.extend(_validate_failure_rule(rule, spec, f"{path}.rules[{index}]"))
    return errors


def _validate_failure_rule(rule: JSON, spec: JSON, path: str) -> Errors:
    errors: Errors = []
    action, codes, conditions = rule.get("action", ""), rule.get("onExitCodes"), rule.get("onPodConditions") or []
    if action == "FailIndex" and spec.get("backoffLimitPerIndex") is None:
        errors.append(FieldError.invalid(f"{path}.action", action, "requires the backoffLimitPerIndex to be set"))
    errors.extend(_validate_word("batch/v1.PodFailurePolicyRule", rule, "action", path))
    if codes is not None:
        errors.extend(_validate_codes(codes, spec["template"]["spec"], f"{path}.onExitCodes"))
    if len(conditions) > _MAX_PATTERNS:
        errors.append(FieldError.too_many(f"{path}.onPodConditions", len(conditions), _MAX_PATTERNS))
    for index, pattern in enumerate(conditions):
        where, kind, status = f"{path}.onPodConditions[{index}]", pattern.get("type", ""), pattern.get("status", "")
        errors.extend(problems(f"{where}.type", kind, qualified_name(kind)))
        if not status:
            errors.append(FieldError.required(f"{where}.status", _valid(_STATUSES)))
        elif status not in _STATUSES:
            errors.append(FieldError.not_supported(f"{where}.status", status, _STATUSES))
    why = ""
    if codes is not None and conditions:
        why = "specifying both OnExitCodes and OnPodConditions is not supported"
    elif codes is None and not conditions:
        why = "specifying one of OnExitCodes and OnPodConditions is required"
    if why:
        errors.append(FieldError("FieldValueInvalid", path, f"Invalid value: {why}"))
    return errors


def _validate_word(type_name: str, obj: JSON, field: str, path: str) -> Errors:
    return validate_field(type_name, obj, field, path, missing=_valid(rule_of(type_name, field).values))


def _valid(values: tuple[str, ...]) -> str:
    quoted = " ".join(f'"{value}"' for value in values)
    return f"valid values: [{quoted}]"


def _validate_codes(codes: JSON, pod: JSON, path: str) -> Errors:
    errors = _validate_word("batch/v1.PodFailurePolicyOnExitCodesRequirement", codes, "operator", path)
    operator, name, values = codes.get("operator", ""), codes.get("containerName"), codes.get("values") or []
    names = [each.get("name") for key in ("containers", "initContainers") for each in pod.get(key) or ()]
    if name is not None and name not in names:
        why = "must be one of the container or initContainer names in the pod template"
        errors.append(FieldError.invalid(f"{path}.containerName", name, why))
    if not values:
        errors.append(FieldError.invalid(f"{path}.values", values, "at least one value is required"))
    elif len(values) > _MAX_CODES:
        errors.append(FieldError.too_many(f"{path}.values", len(values), _MAX_CODES))
    for index, value in enumerate(values):
        if operator == "In" and value == 0:
            errors.append(FieldError.invalid(f"{path}.values[{index}]", value, "must not be 0 for the In operator"))
        if value in values[:index]:
            errors.append(FieldError.duplicate(f"{path}.values[{index}]", value))
    if values != sorted(values):
        errors.append(FieldError.invalid(f"{path}.values", values, "must be ordered"))
    return errors


def validate_success_policy(spec: JSON, path: str) -> Errors:
    """Check the successPolicy of an indexed job's spec."""
    rules = spec["successPolicy"].get("rules") or []
    errors: Errors = []
    if not rules:
        why = "at least one rules must be specified when the successPolicy is specified"
        errors.append(FieldError.required(f"{path}.rules", why))
    if len(rules) > _MAX_RULES:
        errors.append(FieldError.too_many(f"{path}.rules", len(rules), _MAX_RULES))
    completions = spec.get("completions") or 0
    for index, rule in enumerate(rules):
        errors.extend(_validate_success_rule(rule, completions, f"{path}.rules[{index}]"))
    return errors


def _validate_success_rule(rule: JSON, completions: int, path: str) -> Errors:
    errors: Errors = []
    count, indexes = rule.get("succeededCount"), rule.get("succeededIndexes")
    if count is None and indexes is None:
        why = "at least one of succeededCount or succeededIndexes must be specified"
        errors.append(FieldError.required(path, why))
    total = 0
    if indexes is not None:
        total, wrong = count_indexes(indexes, completions)
        if wrong:
            where = f"{path}.succeededIndexes"
            errors.append(FieldError.invalid(where, indexes, f"error parsing succeededIndexes: {wrong}"))
    if count is not None:
        where = f"{path}.succeededCount"
        if count < 0:
            errors.append(FieldError.invalid(where, count, NEGATIVE))
        if count > completions:
            why = f"must be less than or equal to {completions} (the number of specified completions)"
            errors.append(FieldError.invalid(where, count, why))
        if indexes is not None and count > total:
            known = "the number of indexes in the specified succeededIndexes field"
            errors.append(FieldError.invalid(where, count, f"must be less than or equal to {total} ({known})"))
    return errors


def count_indexes(text: str, completions: int) -> tuple[int, str]:
    """Return the number of indexes that a text such as `0,2-4` names, and what is wrong with the text (""
    if nothing).
    """
    total, last = 0, None
    for part in text.split(",") if text else ():
        found = _interval(part, completions)
        if isinstance(found, str):
            return 0, found
        if last is not None and found[0] <= last:
            return 0, _disorder(last, found[0])
        total += found[1] - found[0] + 1
        last = found[1]
    return total, ""


def index_intervals(text: str, completions: int) -> list[tuple[int, int]]:
    """Return the intervals of a text such as `0,2-4` as pairs of first and last index. Unreadable parts are
    left out.
    """
    found = [_interval(part, completions) for part in text.split(",")] if text else []
    return [each for each in found if not isinstance(each, str)]


def _interval(part: str, completions: int) -> tuple[int, int] | str:
    """Return the first and the last index of an interval, or what is wrong with it."""
    bounds = part.split("-")
    if len(bounds) > 2:
        why = "violates the requirement that an index interval can have at most two parts separated by '-'"
        return f"the fragment {quote(part)} {why}"
    numbers = []
    for bound in bounds:
        if not _NUMBER.fullmatch(bound):
            return f"cannot convert string to integer for index: {quote(bound)}"
        if int(bound) >= completions:
            return f"too large index: {quote(bound)}"
        numbers.append(int(bound))
    if len(numbers) == 2 and numbers[0] >= numbers[1]:
        return _disorder(*numbers)
    return numbers[0], numbers[-1]


def _disorder(previous: int, current: int) -> str:
    return f"non-increasing order, previous: {previous}, current: {current}"
