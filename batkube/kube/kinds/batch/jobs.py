"""Jobs (`pkg/apis/batch`, `pkg/registry/batch`). Cron jobs are in `cron_jobs.py`."""

from __future__ import annotations

from typing import Any

from ...apimachinery.label_selectors import matches, validate_label_selector
from ...apimachinery.metadata import Errors, immutable, validate_domain_prefixed_path
from ...apimachinery.names import dns_label
from ...apimachinery.status import FieldError, quote
from ...schema.internal_json import internal
from ..apps.workloads import validate_negatives
from ..pods.defaults import default_pod_template
from ..pods.scheduling_validation import may_compare
from ..pods.templates import MISMATCH, validate_selected, validate_template, warn_of_name, warn_of_template
from ..published import validate_field
from ..strategy import Context, Strategy
from .job_policies import validate_failure_policy, validate_success_policy
from .job_status import validate_job_status

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
_SOFT_COMPLETIONS, _SOFT_PARALLELISM = 100_000, 10_000  # beyond both, indexes are more than can be kept
_MAX_MANAGER = 63
_NOT_INDEXED = "requires indexed completion mode"
_MODES = ("NonIndexed", "Indexed")
_RESTART_POLICIES = ('valid values: "OnFailure", "Never"', ("OnFailure", "Never"))
_GENERATED = (*_NAME_LABELS, *_UID_LABELS)
# What stays, with the types of those that are shown as the real server has them.
_FIXED = {
    "completionMode": None,
    "podFailurePolicy": "batch/v1.PodFailurePolicy",
    "backoffLimitPerIndex": None,
    "managedBy": None,
    "successPolicy": "batch/v1.SuccessPolicy",
}
# What may change in the template of a suspended job, where its pods go among others.
_SCHEDULING = ("nodeSelector", "tolerations", "schedulingGates")


class Jobs(Strategy):
    revalidates_metadata = True
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
        sent = (spec["template"].get("metadata") or {}).get("labels")
        if not spec["manualSelector"]:
            _generate_selector(obj)
        labels = (spec["template"].get("metadata") or {}).get("labels")
        if ctx.dry_run and (not sent or obj["metadata"].get("generateName")):
            labels = sent  # the others are only seen in what was stored and is read again
        if labels and not obj["metadata"].get("labels"):
            obj["metadata"]["labels"] = dict(labels)
        super().prepare_create(obj, ctx)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_job(new.setdefault("spec", {}))
        _default_labels(new)
        super().prepare_update(new, old, ctx)
        _default_labels(new)  # what is stored is read again

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_job(new.setdefault("spec", {}))
        _default_labels(new)
        super().prepare_status(new, old, ctx)
        _default_labels(new)  # what is stored is read again, and a status may be without a spec

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx)
        labels = (obj["spec"]["template"].get("metadata") or {}).get("labels")
        if obj["metadata"].get("labels") == labels and all(key in _GENERATED for key in labels or ()):
            # They are the template's, and the error is about those.
            errors = [error for error in errors if error.field != "metadata.labels"]
        errors += _validate_job(obj, may_compare(ctx))
        if not errors:
            _warn(obj, None, ctx)
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        spec, before = new["spec"], old["spec"]
        comparing = may_compare(ctx, before["template"]["spec"])
        if new["metadata"] != old["metadata"] or spec != before:
            errors += _validate_job(new, comparing)
        if spec == before:
            return errors
        errors += _validate_spec(spec, comparing)  # a second time, as the real server does
        completions = spec.get("completions")
        if spec["completionMode"] != "Indexed":
            errors += immutable("spec.completions", completions, before.get("completions"))
        elif completions not in (None, before.get("completions"), spec.get("parallelism")):
            why = "can only be modified in tandem with spec.parallelism"
            errors.append(FieldError.invalid("spec.completions", completions, why))
        errors += immutable("spec.selector", spec.get("selector"), before.get("selector"))
        errors += _validate_template_change(new, old)
        for name, kind in _FIXED.items():
            errors += immutable(f"spec.{name}", spec.get(name), before.get(name), of=kind)
        if not errors:
            _warn(new, before, ctx)
        return errors

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return [*super().validate_status(new, old, ctx), *validate_job_status(new.get("status") or {}, old)]

    def unselectable(self, name: str) -> str:
        return f"field label {quote(name)} not supported for Job"

    def field_labels(self, obj: JSON) -> dict[str, str]:
        return {"status.successful": str((obj.get("status") or {}).get("succeeded", 0))}


def _default_labels(job: JSON) -> None:
    labels = (job["spec"]["template"].get("metadata") or {}).get("labels")
    if labels and not job["metadata"].get("labels"):
        job["metadata"]["labels"] = dict(labels)


def default_template(spec: JSON) -> None:
    """Set the defaults of a job, or of the template of a cron job, which has no others."""
    default_pod_template(spec.setdefault("template", {}))
    for pattern in ((spec.get("podFailurePolicy") or {}).get("rules")) or ():
        for condition in pattern.get("onPodConditions") or ():
            condition["status"] = condition.get("status") or "True"


def _default_job(spec: JSON) -> None:
    default_template(spec)
    if spec.get("manualSelector") is None:
        spec["manualSelector"] = False
    if spec.get("completions") is None and spec.get("parallelism") is None:
        spec["completions"] = 1
    if spec.get("parallelism") is None:
        spec["parallelism"] = 1
    if spec.get("backoffLimit") is None:
        spec["backoffLimit"] = 6 if spec.get("backoffLimitPerIndex") is None else (1 << 31) - 1
    if spec.get("completionMode") is None:
        spec["completionMode"] = "NonIndexed"
    if spec.get("suspend") is None:
        spec["suspend"] = False
    if spec.get("podReplacementPolicy") is None:
        by_policy = spec.get("podFailurePolicy") is not None
        spec["podReplacementPolicy"] = "Failed" if by_policy else "TerminatingOrFailed"


def _generate_selector(job: JSON) -> None:
    """Set the labels that make the job's pods its own, and the selector for these labels."""
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


def _validate_job(job: JSON, comparing: bool) -> Errors:
    """Check a whole job except its metadata (`ValidateJob`)."""
    spec, name = job["spec"], job["metadata"]["name"]
    errors = [] if spec["manualSelector"] else _validate_generated(job)
    errors += _validate_spec(spec, comparing)
    if spec["completionMode"] == "Indexed" and (spec.get("completions") or 0) > 0:
        hostname = f"{name}-{spec['completions'] - 1}"
        if dns_label(hostname):
            why = f"will not able to create pod with invalid DNS label: {hostname}"
            errors.append(FieldError.invalid("metadata.name", name, why))
    return errors


def _validate_generated(job: JSON) -> Errors:
    """Check that the labels of the template are those of the job, and that the selector is the generated one."""
    metadata, selector = job["metadata"], job["spec"].get("selector")
    if selector is None:
        return []
    uid, name = metadata["uid"], metadata["name"]
    labels = (job["spec"]["template"].get("metadata") or {}).get("labels") or {}
    wanted = dict(zip(("controller-uid", "job-name"), (uid, name), strict=True))
    wanted |= {f"batch.kubernetes.io/{key}": value for key, value in wanted.items()}
    errors: Errors = []
    for key, value in wanted.items():
        path, why = f"spec.template.metadata.labels[{key}]", f"must be '{value}'"
        if key not in labels:
            errors.append(FieldError.required(path, why))
        elif labels[key] != value:
            errors.append(FieldError.invalid(path, {key: labels[key] for key in sorted(labels)}, why))
    if not validate_label_selector(selector, "") and not matches(selector, wanted):
        errors.append(FieldError.invalid("spec.selector", selector, "`selector` not auto-generated"))
    return errors


def _validate_spec(spec: JSON, comparing: bool) -> Errors:
    """Check the spec of a job that has a selector (`ValidateJobSpec`)."""
    errors = validate_job_spec(spec, "spec", comparing)
    selector = spec.get("selector")
    if selector is None:
        labels = (spec["template"].get("metadata") or {}).get("labels")
        missing = FieldError.required("spec.selector")
        return [*errors, missing, FieldError.invalid("spec.template.metadata.labels", labels, MISMATCH)]
    wrong = validate_label_selector(selector, "spec.selector")
    return [*errors, *(wrong or validate_selected(selector, spec["template"]))]


def _warn(job: JSON, before: JSON | None, ctx: Context) -> None:
    """Warn the author of a valid job; `before` is the spec that it had."""
    spec = job["spec"]
    if before is None:
        warn_of_name(job["metadata"]["name"], ctx)
    completions, parallelism = spec.get("completions") or 0, spec.get("parallelism") or 0
    if spec["completionMode"] == "Indexed" and completions > _SOFT_COMPLETIONS and parallelism > _SOFT_PARALLELISM:
        ctx.warnings.append(
            "spec: In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than 10^4, "
            "Kubernetes might not be able to track completedIndexes when a big number of indexes fail"
        )
    warn_of_template(spec["template"], "spec.template", ctx)


def validate_job_spec(spec: JSON, path: str, comparing: bool) -> Errors:
    """Check the spec of a job, or of a cron job's template, without its selector."""
    errors = validate_negatives(spec, _COUNTS, path)
    if (manager := spec.get("managedBy")) is not None:
        errors.extend(validate_domain_prefixed_path(manager, f"{path}.managedBy"))
        if len(manager) > _MAX_MANAGER:
            errors.append(FieldError.too_long(f"{path}.managedBy", _MAX_MANAGER))
    if spec.get("maxFailedIndexes") is not None and spec.get("backoffLimitPerIndex") is None:
        errors.append(FieldError.required(f"{path}.backoffLimitPerIndex", "when maxFailedIndexes is specified"))
    errors.extend(_validate_mode(spec, path))
    failures, replacement = spec.get("podFailurePolicy"), spec.get("podReplacementPolicy")
    if failures is not None:
        errors.extend(validate_failure_policy(spec, f"{path}.podFailurePolicy"))
    if spec.get("successPolicy") is not None:
        if spec.get("completionMode") == "Indexed":
            errors.extend(validate_success_policy(spec, f"{path}.successPolicy"))
        else:
            shown = internal("batch/v1.SuccessPolicy", spec["successPolicy"])
            errors.append(FieldError.invalid(f"{path}.successPolicy", shown, _NOT_INDEXED))
    if failures is not None and replacement not in (None, "Failed"):
        errors.append(FieldError.not_supported(f"{path}.podReplacementPolicy", replacement, ("Failed",)))
    elif failures is None:
        errors.extend(validate_field("batch/v1.JobSpec", spec, "podReplacementPolicy", path))
    return [*errors, *_validate_job_template(spec, f"{path}.template", comparing)]


def _validate_mode(spec: JSON, path: str) -> Errors:
    """Check the fields that depend on the completion mode: indexes, and limits of failures."""
    mode = spec.get("completionMode")
    completions, parallelism = spec.get("completions"), spec.get("parallelism") or 0
    limit, most = spec.get("backoffLimitPerIndex"), spec.get("maxFailedIndexes")
    errors: Errors = []
    if mode in (None, "NonIndexed"):
        for name, value in (("backoffLimitPerIndex", limit), ("maxFailedIndexes", most)):
            if value is not None:
                errors.append(FieldError.invalid(f"{path}.{name}", value, _NOT_INDEXED))
        return errors
    if mode != "Indexed":
        return [FieldError.not_supported(f"{path}.completionMode", mode, _MODES)]
    if completions is None:
        errors.append(FieldError.required(f"{path}.completions", "when completion mode is Indexed"))
    if parallelism > _MAX_PARALLELISM:
        why = f"must be less than or equal to {_MAX_PARALLELISM} when completion mode is Indexed"
        errors.append(FieldError.invalid(f"{path}.parallelism", parallelism, why))
    if most is not None and completions is not None and most > completions:
        errors.append(FieldError.invalid(f"{path}.maxFailedIndexes", most, "must be less than or equal to completions"))
    if most is not None and most > _SOFT_COMPLETIONS:
        why = f"must be less than or equal to {_SOFT_COMPLETIONS}"
        errors.append(FieldError.invalid(f"{path}.maxFailedIndexes", most, why))
    if limit is None or (completions or 0) <= _SOFT_COMPLETIONS:
        return errors
    if most is None:
        why = f"must be specified when completions is above {_SOFT_COMPLETIONS}"
        errors.append(FieldError.required(f"{path}.maxFailedIndexes", why))
    for name, value in (("parallelism", parallelism), ("maxFailedIndexes", most or 0)):
        if value > _SOFT_PARALLELISM:
            above = f"when completions are above {_SOFT_COMPLETIONS} and used with backoff limit per index"
            why = f"must be less than or equal to {_SOFT_PARALLELISM} {above}"
            errors.append(FieldError.invalid(f"{path}.{name}", value, why))
    return errors


def _validate_job_template(spec: JSON, path: str, comparing: bool) -> Errors:
    """Check a template of pods that do not always restart."""
    errors = validate_template(spec["template"], path, comparing=comparing)
    where, policy = f"{path}.spec.restartPolicy", spec["template"]["spec"].get("restartPolicy", "")
    if policy in ("Always", ""):
        errors.append(FieldError.required(where, _RESTART_POLICIES[0]))
    elif policy not in _RESTART_POLICIES[1]:
        errors.append(FieldError.not_supported(where, policy, _RESTART_POLICIES[1]))
    elif spec.get("podFailurePolicy") is not None and policy != "Never":
        why = 'only "Never" is supported when podFailurePolicy is specified'
        errors.append(FieldError.invalid(where, policy, why))
    return errors


def _validate_template_change(new: JSON, old: JSON) -> Errors:
    """Check a change of the template.

    The template may change only while the job is suspended and has no active pods, and then only in the fields that say
    where and on what the pods run.
    """
    template, before = new["spec"]["template"], old["spec"]["template"]
    status = old.get("status") or {}
    suspended = any(each["type"] == "Suspended" and each["status"] == "True" for each in status.get("conditions") or ())
    free = old["spec"].get("suspend") and (status.get("startTime") is None or suspended) and not status.get("active")
    if not free:
        return immutable("spec.template", template, before, of="core/v1.PodTemplateSpec")
    spec, was = (_without_scheduling(each["spec"]) for each in (template, before))
    for name in ("containers", "initContainers"):
        pairs = list(zip(spec.get(name) or (), was.get(name) or (), strict=False))
        if len(pairs) == len(spec.get(name) or ()) == len(was.get(name) or ()) and pairs:
            was[name] = [
                {**were, "resources": now.get("resources", {})} if were.get("name") == now.get("name") else were
                for now, were in pairs
            ]
    if spec == was:
        return []
    shown = internal("core/v1.PodSpec", template["spec"])
    return [FieldError.invalid("spec.template.spec", shown, "field is immutable")]


def _without_scheduling(pod: JSON) -> JSON:
    spec = {key: value for key, value in pod.items() if key not in _SCHEDULING}
    affinity = {key: value for key, value in (spec.pop("affinity", None) or {}).items() if key != "nodeAffinity"}
    if affinity:
        spec["affinity"] = affinity
    return spec
