"""The rules for the status of a job (`validateJobStatus`, `ValidateJobStatusUpdate` in `pkg/apis/batch/validation`).

A rule is checked only when a field that it is about changes (`getStatusValidationOptions` in `pkg/registry/batch/job`).
So a status that already breaks a rule can still be written.
"""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors
from ...apimachinery.status import FieldError
from ...schema.internal_json import internal
from .job_policies import NEGATIVE, count_indexes, index_intervals

JSON = dict[str, Any]

_COUNTS = ("active", "succeeded", "failed", "ready", "terminating")
_TERMINAL = ("Failed", "Complete", "FailureTarget")
_UNCOUNTED = "uncountedTerminatedPods"


def validate_job_status(status: JSON, old: JSON) -> Errors:
    """Return the errors in a status; `old` is the stored job."""
    before, spec = old.get("status") or {}, old["spec"]
    errors: Errors = []
    for name in _COUNTS:
        if (status.get(name) or 0) < 0:
            errors.append(FieldError.invalid(f"status.{name}", status[name], NEGATIVE))
    errors += _validate_uncounted(status.get(_UNCOUNTED) or {})
    errors += _validate_end(status, before, spec)
    errors += _validate_indexes(status, before, spec)
    ready = status.get("ready")
    if _changed(status, before, "ready", "active") and ready is not None and ready > (status.get("active") or 0):
        errors.append(FieldError.invalid("status.ready", ready, "cannot set more ready pods than active"))
    return errors + _validate_success(status, spec) + _validate_transition(status, before, spec)


def _validate_uncounted(uncounted: JSON) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for key in ("succeeded", "failed"):
        for index, uid in enumerate(uncounted.get(key) or ()):
            path = f"status.{_UNCOUNTED}.{key}[{index}]"
            if not uid:
                errors.append(FieldError.invalid(path, uid, "must not be empty"))
            elif uid in seen:
                errors.append(FieldError.duplicate(path, uid))
            seen.add(uid)
    return errors


def _is(status: JSON, kind: str, state: str = "True") -> bool:
    return any(each.get("type") == kind and each.get("status") == state for each in status.get("conditions") or ())


def _is_finished(status: JSON) -> bool:
    return _is(status, "Complete") or _is(status, "Failed")


def _changed(status: JSON, before: JSON, *names: str) -> bool:
    """Return True if any of the fields changes. Zero and absence are the same, except in fields that can be absent."""
    return any(_value(status, name) != _value(before, name) for name in names)


def _value(status: JSON, name: str) -> Any:
    return status.get(name) or _ZEROS[name] if name in _ZEROS else status.get(name)


_ZEROS: JSON = {"active": 0, "completedIndexes": "", _UNCOUNTED: {}}


def _validate_end(status: JSON, before: JSON, spec: JSON) -> Errors:
    """Check that a job that has ended says when it began and when it was complete, and has no active pods."""
    errors: Errors = []
    complete, failed, finished = _is(status, "Complete"), _is(status, "Failed"), _is_finished(status)
    ends = finished != _is_finished(before)
    completes, fails = complete != _is(before, "Complete"), failed != _is(before, "Failed")
    target, met = _is(status, "FailureTarget"), _is(status, "SuccessCriteriaMet")
    start, end = status.get("startTime"), status.get("completionTime")
    dated = _changed(status, before, "completionTime")
    if (completes or fails) and complete and failed:
        errors.append(_condition("cannot set Complete=True and Failed=true conditions"))
    if (completes or target != _is(before, "FailureTarget")) and complete and target:
        errors.append(_condition("cannot set Complete=True and FailureTarget=true conditions"))
    if (completes or dated) and end is not None and not complete:
        why = "cannot set completionTime when there is no Complete=True condition"
        errors.append(FieldError.invalid("status.completionTime", end, why))
    if (completes or dated) and end is None and complete:
        why = "completionTime is required for Complete jobs"
        errors.append(FieldError.required("status.completionTime", why))
    if (dated or _changed(status, before, "startTime")) and start is not None and end is not None and end < start:
        errors.append(FieldError.invalid("status.completionTime", end, "must be equal to or after `startTime`"))
    if (fails or _changed(status, before, "failedIndexes")) and failed and not target:
        errors.append(_condition("cannot set Failed=True condition without the FailureTarget=true condition"))
    if (completes or met != _is(before, "SuccessCriteriaMet")) and complete and not met:
        errors.append(_condition("cannot set Complete=True condition without the SuccessCriteriaMet=true condition"))
    if not finished:
        return errors
    if (ends or _changed(status, before, "active")) and (status.get("active") or 0) > 0:
        errors.append(FieldError.invalid("status.active", status["active"], "active>0 is invalid for finished job"))
    never_began = spec.get("suspend") and spec.get("completions") == 0
    if (ends or _changed(status, before, "startTime")) and start is None and not never_began:
        errors.append(FieldError.required("status.startTime", "startTime is required for finished job"))
    uncounted = status.get(_UNCOUNTED) or {}
    if (ends or _changed(status, before, _UNCOUNTED)) and any(uncounted.get(key) for key in ("succeeded", "failed")):
        shown = internal("batch/v1.UncountedTerminatedPods", uncounted)
        errors.append(FieldError.invalid(f"status.{_UNCOUNTED}", shown, "must be empty for finished job"))
    if (ends or _changed(status, before, "terminating")) and (status.get("terminating") or 0) > 0:
        why = "terminating>0 is invalid for finished job"
        errors.append(FieldError.invalid("status.terminating", status["terminating"], why))
    return errors


def _validate_indexes(status: JSON, before: JSON, spec: JSON) -> Errors:
    """Check the indexes that are done and those that have failed."""
    errors: Errors = []
    done, failed, completions = (
        status.get("completedIndexes") or "",
        status.get("failedIndexes"),
        spec.get("completions"),
    )
    of_done, of_failed = "status.completedIndexes", "status.failedIndexes"
    changed, changed_failed = (_changed(status, before, name) for name in ("completedIndexes", "failedIndexes"))
    by_index = spec.get("backoffLimitPerIndex") is not None
    if changed and completions is not None and (wrong := count_indexes(done, completions)[1]):
        errors.append(FieldError.invalid(of_done, done, f"error parsing completedIndexes: {wrong}"))
    if (
        changed_failed
        and completions is not None
        and by_index
        and (wrong := count_indexes(failed or "", completions)[1])
    ):
        errors.append(FieldError.invalid(of_failed, failed, f"error parsing failedIndexes: {wrong}"))
    if changed and done and spec.get("completionMode") != "Indexed":
        why = "cannot set non-empty completedIndexes when non-indexed completion mode"
        errors.append(FieldError.invalid(of_done, done, why))
    if changed_failed and not by_index and failed is not None:
        why = "cannot set non-null failedIndexes when backoffLimitPerIndex is null"
        errors.append(FieldError.invalid(of_failed, failed, why))
    if (changed or changed_failed) and completions is not None and failed is not None:
        both = _overlap(index_intervals(done, completions), index_intervals(failed, completions))
        if both is not None:
            why = f"failedIndexes and completedIndexes overlap at index: {both}"
            errors.append(FieldError.invalid(of_failed, failed, why))
    return errors


def _overlap(done: list[tuple[int, int]], failed: list[tuple[int, int]]) -> int | None:
    """Return the first index that is in both lists, in the order in which the real server walks along them."""
    one = other = 0
    while one < len(done) and other < len(failed):
        (first, last), (begin, end) = done[one], failed[other]
        if first <= end and begin <= last:
            return max(first, begin)
        if first <= begin:
            one += 1
        else:
            other += 1
    return None


def _validate_success(status: JSON, spec: JSON) -> Errors:
    """Check that a job whose success criteria are met has not failed."""
    errors: Errors = []
    if _is(status, "SuccessCriteriaMet"):
        if _is(status, "Failed"):
            errors.append(_condition("cannot set SuccessCriteriaMet=True and Failed=true conditions"))
        if _is(status, "FailureTarget"):
            errors.append(_condition("cannot set SuccessCriteriaMet=True and FailureTarget=true conditions"))
    elif spec.get("successPolicy") is not None and _is(status, "Complete"):
        why = "cannot set Complete=True for Job with SuccessPolicy unless SuccessCriteriaMet=True"
        errors.append(_condition(why))
    return errors


def _validate_transition(status: JSON, before: JSON, spec: JSON) -> Errors:
    """Check that the conditions that end a job stay, its times too, and that its counts do not go down."""
    errors: Errors = []
    for kind in _TERMINAL:
        if _is(before, kind) and not _is(status, kind):
            errors.append(_condition(f"cannot disable the terminal {kind}=True condition"))
    counted = ["failed"]
    if spec.get("completionMode") != "Indexed" or spec.get("completions") != spec.get("parallelism"):
        counted.append("succeeded")
    for name in counted:
        count = status.get(name) or 0
        if count < (before.get(name) or 0):
            errors.append(FieldError.invalid(f"status.{name}", count, f"cannot decrease the {name} counter"))
    end, ended = status.get("completionTime"), before.get("completionTime")
    if end is not None and ended is not None and end != ended:
        errors.append(FieldError.invalid("status.completionTime", end, "field is immutable"))
    start, started = status.get("startTime"), before.get("startTime")
    resumes = _is(before, "Suspended") and _is(status, "Suspended", "False")
    if started is not None and start != started and not resumes and not spec.get("suspend"):
        why = "field is immutable for unsuspended job once set"
        errors.append(FieldError.invalid("status.startTime", start, why))
    met = _is(status, "SuccessCriteriaMet")
    if _is(before, "SuccessCriteriaMet") and not met:
        errors.append(_condition("cannot disable the SuccessCriteriaMet=True condition"))
    elif met and _is(before, "Complete") and not _is(before, "SuccessCriteriaMet"):
        errors.append(_condition("cannot set SuccessCriteriaMet=True for Job already has Complete=true conditions"))
    return errors


def _condition(why: str) -> FieldError:
    return FieldError("FieldValueInvalid", "status.conditions", f"Invalid value: {why}")
