"""Workloads and pod groups of scheduling.k8s.io/v1alpha2 (`pkg/apis/scheduling`, `pkg/registry/scheduling`, and the
admission plugins Priority, PodGroupProtection and PodGroupWorkloadExists).

The real server has them where alpha feature gates are on, so they are as these gates make them. In the versions of
other releases the fields differ: those are taken as they come.
"""

from __future__ import annotations

from typing import Any

from ..gates import GENERIC_WORKLOAD
from ..metadata import Errors, problems
from ..names import NameRule, dns_label, dns_subdomain, path_segment, qualified_name
from ..status import ApiError, FieldError
from ..strategy import USERS_METADATA, Context, Strategy
from .conditions import validate_conditions
from .pod_admission import PRIORITY, class_of

JSON = dict[str, Any]

WORKLOADS = "workloads.scheduling.k8s.io"
POD_GROUPS = "podgroups.scheduling.k8s.io"
PROTECTION, WORKLOAD_EXISTS = "PodGroupProtection", "PodGroupWorkloadExists"

_VERSION = "scheduling.k8s.io/v1alpha2"
_PROTECTED = "scheduling.k8s.io/podgroup-protection"
_MODES = ("Pod", "PodGroup")
_MAX_TEMPLATES, _MAX_TOPOLOGY = 8, 1
_HIGHEST_PRIORITY = 1_000_000_000
_ONCE = "field is immutable"


class Workloads(Strategy):
    """Rules of workloads: templates of pod groups."""

    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_templates(obj, ctx)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx)
        return errors + _validate_workload(obj["spec"]) if ctx.requested == _VERSION else errors

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_templates(new, ctx)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        return errors + _unchanged(new["spec"], old["spec"], ("controllerRef", "podGroupTemplates"))


class PodGroups(Strategy):
    """Rules of pod groups."""

    counts_generation = False
    kept_by_status = USERS_METADATA
    status_tables = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj.pop("status", None)
        if ctx.requested != _VERSION:
            return
        _default_group(obj["spec"])
        if ctx.admits(PRIORITY):
            _give_priority(obj, ctx)
        if GENERIC_WORKLOAD in ctx.gates and ctx.admits(PROTECTION):
            finalizers = obj["metadata"].get("finalizers") or []
            if _PROTECTED not in finalizers:
                obj["metadata"]["finalizers"] = [*finalizers, _PROTECTED]

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        if ctx.requested == _VERSION:
            _default_group(new["spec"])

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx)
        if ctx.requested == _VERSION:
            errors += _validate_group(obj["spec"])
            if not errors and ctx.admits(WORKLOAD_EXISTS):
                _find_template(obj, ctx)
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if ctx.subresource == "status":
            return errors + validate_conditions(new.get("status", {}).get("conditions") or [], "status.conditions")
        return errors + _unchanged(new["spec"], old["spec"], tuple(dict.fromkeys((*new["spec"], *old["spec"]))))


def _default_group(spec: JSON) -> None:
    spec.setdefault("podGroupTemplateRef", None)
    if spec.get("disruptionMode") is None:
        spec["disruptionMode"] = _MODES[0]


def _default_templates(obj: JSON, ctx: Context) -> None:
    if ctx.requested == _VERSION:
        for template in obj["spec"].get("podGroupTemplates") or ():
            template.setdefault("schedulingConstraints", None)


def _give_priority(group: JSON, ctx: Context) -> None:
    spec = group["spec"]
    found = class_of(POD_GROUPS, group, ctx)
    priority = found.get("value", 0) if found else 0
    given = spec.get("priority")
    if given is not None and given != priority:
        why = (
            f"priority set in the pod group ({given}) must match the priority computed ({priority}) based on the "
            "priority class set in the spec"
        )
        raise ApiError.forbidden(POD_GROUPS, group["metadata"]["name"], why)
    spec["priority"] = priority
    if found:
        spec["priorityClassName"] = found["metadata"]["name"]


def _find_template(group: JSON, ctx: Context) -> None:
    """The workload that a pod group says it comes from is there, and has such a template."""
    reference = (group["spec"].get("podGroupTemplateRef") or {}).get("workload")
    if reference is None:
        return
    name, template = reference["workloadName"], reference["podGroupTemplateName"]
    workload = ctx.store.get(WORKLOADS, ctx.namespace, name)
    if workload is None:
        why = f'Workload "{name}" not found'
    elif workload["metadata"].get("deletionTimestamp"):
        why = f'Workload "{name}" is being deleted'
    elif all(each.get("name") != template for each in workload["spec"].get("podGroupTemplates") or ()):
        why = f'PodGroupTemplate "{template}" not found in Workload "{name}"'
    else:
        return
    raise ApiError.forbidden(POD_GROUPS, group["metadata"]["name"], f"PodGroup rejected: {why}")


def _unchanged(new: JSON, old: JSON, fields: tuple[str, ...]) -> Errors:
    return [
        FieldError.invalid(f"spec.{field}", None, _ONCE)
        for field in fields
        if (new.get(field) or None) != (old.get(field) or None)
    ]


def _validate_workload(spec: JSON) -> Errors:
    errors: Errors = []
    if (owner := spec.get("controllerRef")) is not None:
        where = "spec.controllerRef"
        if group := owner.get("apiGroup"):
            errors.extend(problems(f"{where}.apiGroup", group, dns_subdomain(group)))
        errors.extend(_named(owner, "kind", where, path_segment))
        errors.extend(_named(owner, "name", where, path_segment))
    templates = spec.get("podGroupTemplates") or []
    path = "spec.podGroupTemplates"
    if not templates:
        return [*errors, FieldError.required(path)]
    if len(templates) > _MAX_TEMPLATES:
        return [*errors, FieldError.too_many(path, len(templates), _MAX_TEMPLATES)]
    seen: set[str] = set()
    for index, template in enumerate(templates):
        if template.get("name") in seen:
            errors.append(FieldError.duplicate(f"{path}[{index}]", template))
        seen.add(template.get("name", ""))
    for index, template in enumerate(templates):
        where = f"{path}[{index}]"
        errors += _named(template, "name", where, dns_label) + _validate_scheduling(template, where)
    return errors


def _validate_group(spec: JSON) -> Errors:
    errors: Errors = []
    if (reference := spec.get("podGroupTemplateRef")) is not None:
        where = "spec.podGroupTemplateRef"
        workload = reference.get("workload")
        if workload is None:
            errors.append(FieldError.invalid(where, "", "must specify one of: `workload`"))
        else:
            errors.extend(_named(workload, "workloadName", f"{where}.workload", dns_subdomain))
            errors.extend(_named(workload, "podGroupTemplateName", f"{where}.workload", dns_label))
    return errors + _validate_scheduling(spec, "spec")


def _validate_scheduling(spec: JSON, path: str) -> Errors:
    """What a pod group and its template have in common."""
    errors = _validate_policy(spec.get("schedulingPolicy") or {}, f"{path}.schedulingPolicy")
    topology = (spec.get("schedulingConstraints") or {}).get("topology") or []
    where = f"{path}.schedulingConstraints.topology"
    if len(topology) > _MAX_TOPOLOGY:
        errors.append(FieldError.too_many(where, len(topology), _MAX_TOPOLOGY))
    else:
        for index, constraint in enumerate(topology):
            errors.extend(_named(constraint, "key", f"{where}[{index}]", qualified_name))
    mode = spec.get("disruptionMode")
    if mode is not None and mode not in _MODES:
        errors.append(FieldError.not_supported(f"{path}.disruptionMode", mode, _MODES))
    if name := spec.get("priorityClassName"):
        errors.extend(problems(f"{path}.priorityClassName", name, dns_subdomain(name)))
    priority = spec.get("priority")
    if priority is not None and priority > _HIGHEST_PRIORITY:
        why = f"must be less than or equal to {_HIGHEST_PRIORITY}"
        errors.append(FieldError.invalid(f"{path}.priority", priority, why))
    return errors


def _validate_policy(policy: JSON, path: str) -> Errors:
    """One of two."""
    given = [name for name in ("basic", "gang") if policy.get(name) is not None]
    if not given:
        return [FieldError.invalid(path, "", "must specify one of: `basic`, `gang`")]
    if len(given) > 1:
        return [FieldError.invalid(path, "{basic, gang}", "must specify exactly one of: `basic`, `gang`")]
    if "basic" in given:
        return []
    least = policy["gang"].get("minCount", 0)
    if not least:
        return [FieldError.required(f"{path}.gang.minCount")]
    return (
        [] if least >= 1 else [FieldError.invalid(f"{path}.gang.minCount", least, "must be greater than or equal to 1")]
    )


def _named(obj: JSON, field: str, path: str, rule: NameRule) -> Errors:
    value = obj.get(field, "")
    return problems(f"{path}.{field}", value, rule(value)) if value else [FieldError.required(f"{path}.{field}")]
