"""Cron jobs (`pkg/apis/batch`, `pkg/registry/batch/cronjob`)."""

from __future__ import annotations

import re
import zoneinfo
from typing import Any

from ...apimachinery.metadata import Errors, problems
from ...apimachinery.status import FieldError
from ..apps.workloads import validate_negatives
from ..pods.scheduling_validation import may_compare
from ..pods.templates import warn_of_name, warn_of_template
from ..published import validate_field
from ..strategy import Context, Strategy
from .jobs import default_template, validate_job_spec

JSON = dict[str, Any]

_MAX_NAME = 52  # its jobs' names are 11 characters longer
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_ZONE_PART = re.compile(r"[A-Za-z._0-9+][A-Za-z._0-9+-]{0,13}")
_TEMPLATE = "spec.jobTemplate.spec"


class CronJobs(Strategy):
    """Rules of cron jobs."""

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_cron_job(obj)
        super().prepare_create(obj, ctx)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_cron_job(new)
        super().prepare_update(new, old, ctx)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_cron_job(new)
        super().prepare_status(new, old, ctx)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_create(obj, ctx), *_validate_cron_job(obj["spec"], {}, may_compare(ctx))]
        name = obj["metadata"]["name"]
        if len(name) > _MAX_NAME:
            errors.append(FieldError.invalid("metadata.name", name, f"must be no more than {_MAX_NAME} characters"))
        if not errors:
            warn_of_name(name, ctx)
            warn_of_template(obj["spec"]["jobTemplate"]["spec"]["template"], f"{_TEMPLATE}.template", ctx)
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if new["spec"] == old["spec"]:
            return errors
        template = old["spec"]["jobTemplate"]["spec"]["template"]
        errors.extend(_validate_cron_job(new["spec"], old["spec"], may_compare(ctx, template["spec"])))
        if not errors:
            warn_of_template(new["spec"]["jobTemplate"]["spec"]["template"], f"{_TEMPLATE}.template", ctx)
        return errors

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return []


def _default_cron_job(obj: JSON) -> None:
    spec = obj.setdefault("spec", {})
    spec["concurrencyPolicy"] = spec.get("concurrencyPolicy") or "Allow"
    for name, value in (("suspend", False), ("successfulJobsHistoryLimit", 3), ("failedJobsHistoryLimit", 1)):
        if spec.get(name) is None:
            spec[name] = value
    default_template(spec.setdefault("jobTemplate", {}).setdefault("spec", {}))


def _validate_cron_job(spec: JSON, before: JSON, comparing: bool) -> Errors:
    """Check the spec. `before` is the spec that the cron job had."""
    schedule, zone = spec.get("schedule", ""), spec.get("timeZone")
    errors = validate_field("batch/v1.CronJobSpec", spec, "schedule", "spec", _schedule_problems)
    if "TZ" in schedule:
        errors.extend(_validate_zones(schedule, zone, before.get("schedule", "")))
    errors.extend(validate_negatives(spec, ("startingDeadlineSeconds",)))
    if zone is not None and (not before or zone != before.get("timeZone")):
        errors.extend(problems("spec.timeZone", zone, _zone_problems(zone)))
    errors.extend(validate_field("batch/v1.CronJobSpec", spec, "concurrencyPolicy", "spec"))
    template = spec["jobTemplate"]["spec"]
    errors.extend(validate_job_spec(template, _TEMPLATE, comparing))
    if template.get("selector") is not None:
        why = "`selector` will be auto-generated"
        errors.append(FieldError.invalid(f"{_TEMPLATE}.selector", template["selector"], why))
    if template.get("manualSelector"):
        errors.append(FieldError.not_supported(f"{_TEMPLATE}.manualSelector", True, ("nil", "false")))
    errors.extend(validate_negatives(spec, ("successfulJobsHistoryLimit", "failedJobsHistoryLimit")))
    return errors


def _validate_zones(schedule: str, zone: str | None, before: str) -> Errors:
    """Check a schedule that contains a time zone: only one that contained a zone before may."""
    if "TZ" not in before:
        why = "cannot use TZ or CRON_TZ in schedule, use timeZone field instead"
        return [FieldError.invalid("spec.schedule", schedule, why)]
    if zone is None:
        return []
    return [
        FieldError.invalid("spec.schedule", schedule, "cannot use both timeZone field and TZ or CRON_TZ in schedule")
    ]


def _schedule_problems(schedule: str) -> tuple[str, ...]:
    """Return what is wrong with the schedule. The number of fields and their characters are checked, no more."""
    if schedule.startswith("@"):
        if schedule in _DESCRIPTORS or schedule.startswith("@every "):
            return ()
        return (f"unrecognized descriptor: {schedule}",)
    fields = schedule.split()
    if fields and fields[0].startswith(("TZ=", "CRON_TZ=")):
        del fields[0]
    if len(fields) != 5:
        return (f"expected exactly 5 fields, found {len(fields)}: [{' '.join(fields)}]",)
    bounds = ((0, 59), (0, 23), (1, 31), (1, 12), (0, 6))
    for field, (low, high) in zip(fields, bounds, strict=True):
        for part in field.split(","):
            place, _, step = part.partition("/")
            if step == "0":
                return (f"step of range should be a positive number: {part}",)
            first, _, last = place.partition("-")
            if first.isdigit() and int(first) < low:
                return (f"beginning of range ({first}) below minimum ({low}): {part}",)
            end = last or first
            if end.isdigit() and int(end) > high:
                return (f"end of range ({end}) above maximum ({high}): {part}",)
            if first.isdigit() and end.isdigit() and int(first) > int(end):
                return (f"beginning of range ({first}) beyond end of range ({end}): {part}",)
    return ()


def _zone_problems(zone: str) -> tuple[str, ...]:
    if not zone:
        return ("timeZone must be nil or non-empty string",)
    if any(part in (".", "..") or not _ZONE_PART.fullmatch(part) for part in zone.split("/")):
        return (f"unknown time zone {zone}",)
    if zone.lower() == "local":
        return ("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",)
    try:
        zoneinfo.ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        return (f"unknown time zone {zone}",)
    return ()
