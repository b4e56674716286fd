"""Jobs and cron jobs (`pkg/apis/batch`, `pkg/registry/batch`)."""

from __future__ import annotations

import zoneinfo
from typing import Any

from ..internal_json import internal
from ..label_selectors import validate_label_selector
from ..metadata import (
    Errors,
    immutable,
    problems,
    validate_annotations,
    validate_domain_prefixed_path,
    validate_labels,
)
from ..names import dns_label
from ..status import FieldError
from ..strategy import Context, Strategy
from .job_policies import validate_failure_policy, validate_success_policy
from .job_status import validate_job_status
from .pod_defaults import default_pod_template
from .pod_validation import validate_pod_spec
from .scheduling_validation import may_compare
from .workloads import validate_negatives, validate_selected

JSON = dict[str, Any]

_NAME_LABELS = ("job-name", "batch.kubernetes.io/job-name")
_UID_LABELS = ("controller-uid", "batch.kubernetes.io/controller-uid")
_COUNTS = (
    "parallelism",
    "completions",
    "activeDeadlineSeconds",
    "backoffLimit",
    "ttlSecondsAfterFinished",
    "backoffLimitPerIndex",
    "maxFailedIndexes",
)
_MAX_PARALLELISM = 100_000  # of an indexed job
_REPLACEMENTS = ("Failed", "TerminatingOrFailed")
_MODES = ("NonIndexed", "Indexed")
_MAX_NAME = 52  # of a cron job: its jobs' names are 11 characters longer
_RESTART_POLICIES = ('valid values: "OnFailure", "Never"', ("OnFailure", "Never"))
_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
# What may change in the template of a suspended job, where its pods go among others.
_SCHEDULING = ("nodeSelector", "tolerations", "schedulingGates")


class Jobs(Strategy):
    set_by_admission = frozenset(("spec.selector", "spec.template.metadata"))
    orphans_by_default = True
    orphan_warning = (
        "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or "
        "set propagationPolicy=Orphan to suppress this warning"
    )
    selectable_fields = frozenset(("status.successful",))

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        spec = obj.setdefault("spec", {})
        _default_job(spec)
        if not spec["manualSelector"]:
            _generate_selector(obj)
        labels = (spec["template"].get("metadata") or {}).get("labels")
        if labels and not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = dict(labels)
        super().prepare_create(obj, ctx)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_job(new.setdefault("spec", {}))
        super().prepare_update(new, old, ctx)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        spec, name = obj["spec"], obj["metadata"]["name"]
        errors = super().validate_create(obj, ctx)
        if any(error.field == "metadata.labels" for error in errors) and obj["metadata"].get("labels") == (
            spec["template"].get("metadata") or {}
        ).get("labels"):
            # They are the template's, and the error is about those.
            errors = [error for error in errors if error.field != "metadata.labels"]
        if not spec["manualSelector"]:
            errors.extend(_validate_generated(obj))
        errors.extend(validate_label_selector(spec.get("selector"), "spec.selector"))
        if spec.get("selector") is None:
            labels = (spec["template"].get("metadata") or {}).get("labels")
            errors.append(FieldError.required("spec.selector"))
            why = "`selector` does not match template `labels`"
            errors.append(FieldError.invalid("spec.template.metadata.labels", labels, why))
        elif not errors:
            errors.extend(validate_selected(spec["selector"], spec["template"]))
        errors.extend(validate_job_spec(spec, "spec", may_compare(ctx)))
        if spec["completionMode"] == "Indexed" and spec.get("completions"):
            hostname = f"{name}-{spec['completions'] - 1}"
            if dns_label(hostname):
                why = f"will not able to create pod with invalid DNS label: {hostname}"
                errors.append(FieldError.invalid("metadata.name", name, why))
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if ctx.subresource == "status":
            return [*errors, *validate_job_status(new.get("status") or {}, old)]
        spec, before = new["spec"], old["spec"]
        if spec == before:
            return errors
        errors.extend(validate_job_spec(spec, "spec", may_compare(ctx, before["template"]["spec"])))
        completions = spec.get("completions")
        if spec["completionMode"] != "Indexed":
            errors.extend(immutable("spec.completions", completions, before.get("completions")))
        elif completions not in (None, before.get("completions"), spec.get("parallelism")):
            why = "can only be modified in tandem with spec.parallelism"
            errors.append(FieldError.invalid("spec.completions", completions, why))
        errors.extend(immutable("spec.selector", spec.get("selector"), before.get("selector")))
        errors.extend(_validate_template_change(new, old))
        for name in ("completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"):
            errors.extend(immutable(f"spec.{name}", spec.get(name), before.get(name)))
        return errors

    def field_labels(self, obj: JSON) -> dict[str, str]:
        return {"status.successful": str((obj.get("status") or {}).get("succeeded", 0))}


def _default_template(spec: JSON) -> None:
    """The defaults of a job, or of the template of a cron job, which has no others."""
    default_pod_template(spec.setdefault("template", {}))
    for pattern in ((spec.get("podFailurePolicy") or {}).get("rules")) or ():
        for condition in pattern.get("onPodConditions") or ():
            condition["status"] = condition.get("status") or "True"


def _default_job(spec: JSON) -> None:
    _default_template(spec)
    if spec.get("manualSelector") is None:
        spec["manualSelector"] = False
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    if spec.get("parallelism") is None:
        spec["parallelism"] = 1
    if spec.get("backoffLimit") is None:
        spec["backoffLimit"] = 6 if spec.get("backoffLimitPerIndex") is None else (1 << 31) - 1
    spec["completionMode"] = spec.get("completionMode") or "NonIndexed"
    if spec.get("suspend") is None:
        spec["suspend"] = False
    if not spec.get("podReplacementPolicy"):
        by_policy = spec.get("podFailurePolicy") is not None
        spec["podReplacementPolicy"] = "Failed" if by_policy else "TerminatingOrFailed"


def _generate_selector(job: JSON) -> None:
    """Labels by which the job's pods are its own, and the selector for them."""
    metadata, spec = job["metadata"], job["spec"]
    template = spec["template"].setdefault("metadata", {})
    labels = template["labels"] = dict(template.get("labels") or {})
    for key in _NAME_LABELS:
        labels.setdefault(key, metadata["name"])
    for key in _UID_LABELS:
        labels.setdefault(key, metadata["uid"])
    selector = spec["selector"] = dict(spec.get("selector") or {})
    selector["matchLabels"] = dict(selector.get("matchLabels") or {})
    selector["matchLabels"].setdefault(_UID_LABELS[1], metadata["uid"])


def _validate_generated(job: JSON) -> Errors:
    """The labels of the template are the job's, and the selector is the generated one."""
    metadata, spec = job["metadata"], job["spec"]
    labels = spec["template"]["metadata"]["labels"]
    errors: Errors = []
    for key, wanted in (
        *((key, metadata["uid"]) for key in _UID_LABELS),
        *((key, metadata["name"]) for key in _NAME_LABELS),
    ):
        if labels.get(key) != wanted:
            why = "must be " + wanted
            errors.append(FieldError.invalid(f"spec.template.metadata.labels[{key}]", labels.get(key, ""), why))
    if spec["selector"] != {"matchLabels": {_UID_LABELS[1]: metadata["uid"]}}:
        errors.append(FieldError.invalid("spec.selector", spec["selector"], "`selector` not auto-generated"))
        errors.extend(validate_selected(spec["selector"], spec["template"]))
    return errors


def validate_job_spec(spec: JSON, path: str, comparing: bool) -> Errors:
    """The spec of a job or of a cron job's template."""
    errors = validate_negatives(spec, _COUNTS, path)
    if (manager := spec.get("managedBy")) is not None:
        errors.extend(validate_domain_prefixed_path(manager, f"{path}.managedBy"))
    mode = spec.get("completionMode") or "NonIndexed"
    if mode not in _MODES:
        errors.append(FieldError.not_supported(f"{path}.completionMode", mode, _MODES))
    limited = spec.get("backoffLimitPerIndex") is not None
    if spec.get("maxFailedIndexes") is not None and not limited:
        errors.append(FieldError.required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    if mode == "Indexed":
        if (spec.get("parallelism") or 0) > _MAX_PARALLELISM:
            why = f"must be less than or equal to {_MAX_PARALLELISM} when completion mode is Indexed"
            errors.append(FieldError.invalid(f"{path}.parallelism", spec["parallelism"], why))
        if spec.get("successPolicy") is not None:
            errors.extend(validate_success_policy(spec, f"{path}.successPolicy"))
        if spec.get("completions") is None:
            errors.append(FieldError.required(f"{path}.completions", "when completion mode is Indexed"))
        completions, most = spec.get("completions"), spec.get("maxFailedIndexes")
        if completions is not None and most is not None and most > completions:
            why = "must be less than or equal to completions"
            errors.append(FieldError.invalid(f"{path}.maxFailedIndexes", most, why))
    else:
        for name in ("backoffLimitPerIndex", "maxFailedIndexes"):
            if spec.get(name) is not None:
                errors.append(FieldError.invalid(f"{path}.{name}", spec[name], "requires indexed completion mode"))
        if spec.get("successPolicy") is not None:
            why = "requires indexed completion mode"
            shown = internal("batch/v1.SuccessPolicy", spec["successPolicy"])
            errors.append(FieldError.invalid(f"{path}.successPolicy", shown, why))
    if spec.get("podFailurePolicy") is not None:
        errors.extend(validate_failure_policy(spec, f"{path}.podFailurePolicy"))
    replacement = spec.get("podReplacementPolicy")
    if replacement is not None and replacement not in _REPLACEMENTS:
        errors.append(FieldError.not_supported(f"{path}.podReplacementPolicy", replacement, _REPLACEMENTS))
    template = spec["template"]
    metadata = template.get("metadata") or {}
    errors.extend(validate_labels(metadata.get("labels") or {}, f"{path}.template.labels"))
    errors.extend(validate_annotations(metadata.get("annotations") or {}, f"{path}.template.annotations"))
    where = f"{path}.template.spec.restartPolicy"
    found = validate_pod_spec(template["spec"], f"{path}.template.spec", comparing=comparing)
    errors.extend(error for error in found if error.field != where)
    policy = template["spec"].get("restartPolicy", "")
    if policy in ("Always", ""):
        errors.append(FieldError.required(where, _RESTART_POLICIES[0]))
    elif policy not in _RESTART_POLICIES[1]:
        errors.append(FieldError.not_supported(where, policy, _RESTART_POLICIES[1]))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        why = 'only "Never" is supported when podFailurePolicy is specified'
        errors.append(FieldError.invalid(where, policy, why))
    return errors


def _validate_template_change(new: JSON, old: JSON) -> Errors:
    """The template changes only while the job is suspended and has not started, and then only in where and on what
    its pods run.
    """
    template, before = new["spec"]["template"], old["spec"]["template"]
    if template == before:
        return []
    if old["spec"].get("suspend") and not (old.get("status") or {}).get("active"):
        template, before = _without_scheduling(template), _without_scheduling(before)
    return immutable("spec.template", template, before)


def _without_scheduling(template: JSON) -> JSON:
    spec = {key: value for key, value in template["spec"].items() if key not in _SCHEDULING}
    affinity = {key: value for key, value in (spec.pop("affinity", None) or {}).items() if key != "nodeAffinity"}
    if affinity:
        spec["affinity"] = affinity
    for name in ("containers", "initContainers"):
        if spec.get(name):
            spec[name] = [{key: value for key, value in each.items() if key != "resources"} for each in spec[name]]
    metadata = {
        key: value for key, value in (template.get("metadata") or {}).items() if key not in ("labels", "annotations")
    }
    return {**template, "metadata": metadata, "spec": spec}


class CronJobs(Strategy):
    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_cron_job(obj)
        super().prepare_create(obj, ctx)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_cron_job(new)
        super().prepare_update(new, old, ctx)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_create(obj, ctx), *_validate_cron_job(obj["spec"], may_compare(ctx))]
        name = obj["metadata"]["name"]
        if len(name) > _MAX_NAME:
            errors.append(FieldError.invalid("metadata.name", name, f"must be no more than {_MAX_NAME} characters"))
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if ctx.subresource is None and new["spec"] != old["spec"]:
            before = old["spec"]["jobTemplate"]["spec"]["template"]["spec"]
            errors.extend(_validate_cron_job(new["spec"], may_compare(ctx, before)))
        return errors


def _default_cron_job(obj: JSON) -> None:
    spec = obj.setdefault("spec", {})
    spec["concurrencyPolicy"] = spec.get("concurrencyPolicy") or "Allow"
    for name, value in (("suspend", False), ("successfulJobsHistoryLimit", 3), ("failedJobsHistoryLimit", 1)):
        if spec.get(name) is None:
            spec[name] = value
    _default_template(spec.setdefault("jobTemplate", {}).setdefault("spec", {}))


def _validate_cron_job(spec: JSON, comparing: bool) -> Errors:
    errors: Errors = []
    schedule, zone, policy = spec.get("schedule", ""), spec.get("timeZone"), spec["concurrencyPolicy"]
    if not schedule:
        errors.append(FieldError.required("spec.schedule"))
    else:
        errors.extend(problems("spec.schedule", schedule, _schedule_problems(schedule)))
    errors.extend(validate_negatives(spec, ("startingDeadlineSeconds",)))
    if zone is not None:
        errors.extend(problems("spec.timeZone", zone, _zone_problems(zone)))
    if policy not in ("Allow", "Forbid", "Replace"):
        errors.append(FieldError.not_supported("spec.concurrencyPolicy", policy, ("Allow", "Forbid", "Replace")))
    if spec["jobTemplate"]["spec"].get("manualSelector"):
        where = "spec.jobTemplate.spec.manualSelector"
        errors.append(FieldError.not_supported(where, True, ("nil", "false")))
    errors.extend(validate_job_spec(spec["jobTemplate"]["spec"], "spec.jobTemplate.spec", comparing))
    errors.extend(validate_negatives(spec, ("successfulJobsHistoryLimit", "failedJobsHistoryLimit")))
    return errors


def _schedule_problems(schedule: str) -> tuple[str, ...]:
    """What is wrong with the schedule; its fields are counted and their signs looked at, no more."""
    if schedule.startswith("@"):
        if schedule in _DESCRIPTORS or schedule.startswith("@every "):
            return ()
        return (f"unrecognized descriptor: {schedule}",)
    fields = schedule.split()
    if fields and fields[0].startswith(("TZ=", "CRON_TZ=")):
        return ("cannot use TZ or CRON_TZ in schedule, use timeZone field instead",)
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
    if zone.lower() == "local":
        return ("timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones",)
    try:
        zoneinfo.ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        return (f"unknown time zone {zone}",)
    return ()
