"""What the status of a job may say (`validateJobStatus`, `ValidateJobStatusUpdate` in `pkg/apis/batch/validation`)."""

from __future__ import annotations

from typing import Any

from ..metadata import Errors
from ..status import FieldError
from .job_policies import NEGATIVE, count_indexes

JSON = dict[str, Any]

_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")


def validate_job_status(status: JSON, old: JSON) -> Errors:
    """What is wrong with a status; `old` is the stored job. Conditions are looked at where they come up."""
    errors: Errors = []
    for name in _COUNTS:
        if (status.get(name) or 0) < 0:
            errors.append(FieldError.invalid(f"status.{name}", status[name], NEGATIVE))
    ready = status.get("ready")
    if ready is not None and ready > (status.get("active") or 0):
        errors.append(FieldError.invalid("status.ready", ready, "cannot set more ready pods than active"))
    errors.extend(_validate_uncounted(status.get("uncountedTerminatedPods") or {}))
    before, spec = old.get("status") or {}, old["spec"]
    indexes = status.get("completedIndexes", "")
    if indexes and indexes != before.get("completedIndexes", ""):
        errors.extend(_validate_indexes(indexes, spec))
    errors.extend(_validate_end(status, before))
    return errors


def _validate_uncounted(uncounted: JSON) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for key in ("succeeded", "failed"):
        for index, uid in enumerate(uncounted.get(key) or ()):
            path = f"status.uncountedTerminatedPods.{key}[{index}]"
            if not uid:
                errors.append(FieldError.invalid(path, uid, "must not be empty"))
            elif uid in seen:
                errors.append(FieldError.duplicate(path, uid))
            seen.add(uid)
    return errors


def _validate_indexes(indexes: str, spec: JSON) -> Errors:
    errors: Errors = []
    path = "status.completedIndexes"
    if spec.get("completionMode") != "Indexed":
        why = "cannot set non-empty completedIndexes when non-indexed completion mode"
        errors.append(FieldError.invalid(path, indexes, why))
    _, wrong = count_indexes(indexes, spec.get("completions") or 0)
    if wrong:
        errors.append(FieldError.invalid(path, indexes, f"error parsing completedIndexes: {wrong}"))
    return errors


def _is_true(status: JSON, kind: str) -> bool:
    return any(each.get("type") == kind and each.get("status") == "True" for each in status.get("conditions") or ())


def _validate_end(status: JSON, before: JSON) -> Errors:
    """A job that has ended says when it began, and one that is complete when it was."""
    errors: Errors = []
    complete, failed = _is_true(status, "Complete"), _is_true(status, "Failed")
    if complete and failed:
        errors.append(_condition("cannot set Complete=True and Failed=true conditions"))
    if complete and not _is_true(before, "Complete"):
        if not _is_true(status, "SuccessCriteriaMet"):
            errors.append(
                _condition("cannot set Complete=True condition without the SuccessCriteriaMet=true condition")
            )
        if status.get("completionTime") is None:
            why = "completionTime is required for Complete jobs"
            errors.append(FieldError.required("status.completionTime", why))
    if failed and not _is_true(before, "Failed") and not _is_true(status, "FailureTarget"):
        errors.append(_condition("cannot set Failed=True condition without the FailureTarget=true condition"))
    time = status.get("completionTime")
    if time is not None and not complete:
        why = "cannot set completionTime when there is no Complete=True condition"
        errors.append(FieldError.invalid("status.completionTime", time, why))
    if (complete or failed) and status.get("startTime") is None:
        errors.append(FieldError.required("status.startTime", "startTime is required for finished job"))
    if (complete or failed) and (status.get("active") or 0) > 0:
        errors.append(FieldError.invalid("status.active", status["active"], "active>0 is invalid for finished job"))
    return errors


def _condition(why: str) -> FieldError:
    return FieldError("FieldValueInvalid", "status.conditions", f"Invalid value: {why}")
