"""Workloads and pod groups of scheduling.k8s.io/v1alpha2 (`pkg/apis/scheduling`, `pkg/registry/scheduling`).

The real server has them only with alpha feature gates, so they follow the rules of these gates. In the versions of
other releases the fields differ: objects of these versions are not checked.
"""

from __future__ import annotations

from typing import Any

from ..apimachinery.metadata import Errors, problems
from ..apimachinery.names import dns_label, dns_subdomain, path_segment, qualified_name
from ..apimachinery.status import FieldError
from .conditions import validate_conditions
from .published import validate_field
from .strategy import USERS_METADATA, Context, Strategy

JSON = dict[str, Any]

WORKLOADS = "workloads.scheduling.k8s.io"
POD_GROUPS = "podgroups.scheduling.k8s.io"
POD_GROUPS_VERSION = "scheduling.k8s.io/v1alpha2"
_TYPES = "scheduling/v1alpha2"
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
        return errors + _validate_workload(obj["spec"]) if ctx.requested == POD_GROUPS_VERSION else errors

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
        if ctx.requested == POD_GROUPS_VERSION:
            _default_group(obj["spec"])

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        if ctx.requested == POD_GROUPS_VERSION:
            _default_group(new["spec"])

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_status(new, old, ctx)
        if ctx.requested == POD_GROUPS_VERSION:
            _default_group(new["spec"])

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx)
        if ctx.requested == POD_GROUPS_VERSION:
            errors += _validate_group(obj["spec"])
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        return errors + _unchanged(new["spec"], old["spec"], tuple(dict.fromkeys((*new["spec"], *old["spec"]))))

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_status(new, old, ctx)
        return errors + validate_conditions(new.get("status", {}).get("conditions") or [], "status.conditions")


def _default_group(spec: JSON) -> None:
    spec.setdefault("podGroupTemplateRef", None)
    if spec.get("disruptionMode") is None:
        spec["disruptionMode"] = "Pod"


def _default_templates(obj: JSON, ctx: Context) -> None:
    if ctx.requested == POD_GROUPS_VERSION:
        for template in obj["spec"].get("podGroupTemplates") or ():
            template.setdefault("schedulingConstraints", None)


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
        for field in ("kind", "name"):
            errors += validate_field(f"{_TYPES}.TypedLocalObjectReference", owner, field, where, path_segment)
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
        errors += validate_field(f"{_TYPES}.PodGroupTemplate", template, "name", where, dns_label)
        errors += _validate_scheduling(template, where)
    return errors


def _validate_group(spec: JSON) -> Errors:
    errors: Errors = []
    if (reference := spec.get("podGroupTemplateRef")) is not None:
        where = "spec.podGroupTemplateRef"
        workload = reference.get("workload")
        if workload is None:
            errors.append(FieldError.invalid(where, "", "must specify one of: `workload`"))
        else:
            of, where = f"{_TYPES}.WorkloadPodGroupTemplateReference", f"{where}.workload"
            errors += validate_field(of, workload, "workloadName", where, dns_subdomain)
            errors += validate_field(of, workload, "podGroupTemplateName", where, dns_label)
    return errors + _validate_scheduling(spec, "spec")


def _validate_scheduling(spec: JSON, path: str) -> Errors:
    """Check the common part of a pod group and its template."""
    errors = _validate_policy(spec.get("schedulingPolicy") or {}, f"{path}.schedulingPolicy")
    topology = (spec.get("schedulingConstraints") or {}).get("topology") or []
    where = f"{path}.schedulingConstraints.topology"
    if len(topology) > _MAX_TOPOLOGY:
        errors.append(FieldError.too_many(where, len(topology), _MAX_TOPOLOGY))
    else:
        for index, constraint in enumerate(topology):
            at = f"{where}[{index}]"
            errors += validate_field(f"{_TYPES}.TopologyConstraint", constraint, "key", at, qualified_name)
    errors += validate_field(f"{_TYPES}.PodGroupSpec", spec, "disruptionMode", path)
    if name := spec.get("priorityClassName"):
        errors.extend(problems(f"{path}.priorityClassName", name, dns_subdomain(name)))
    priority = spec.get("priority")
    if priority is not None and priority > _HIGHEST_PRIORITY:
        why = f"must be less than or equal to {_HIGHEST_PRIORITY}"
        errors.append(FieldError.invalid(f"{path}.priority", priority, why))
    return errors


def _validate_policy(policy: JSON, path: str) -> Errors:
    """Check that there is exactly one of the two policies, and that it is valid."""
    given = [name for name in ("basic", "gang") if policy.get(name) is not None]
    if not given:
        return [FieldError.invalid(path, "", "must specify one of: `basic`, `gang`")]
    if len(given) > 1:
        return [FieldError.invalid(path, "{basic, gang}", "must specify exactly one of: `basic`, `gang`")]
    if "basic" in given:
        return []
    return validate_field(f"{_TYPES}.GangSchedulingPolicy", policy["gang"], "minCount", f"{path}.gang", _at_least_one)


def _at_least_one(number: int) -> tuple[str, ...]:
    return () if number >= 1 else ("must be greater than or equal to 1",)
