"""Resource quotas and their content (`pkg/apis/core/validation` of Kubernetes).

Their effect on other objects is in `admission/resource_quota.py`.
"""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors, immutable, problems
from ...apimachinery.names import qualified_name
from ...apimachinery.quantity import Quantity
from ...apimachinery.status import FieldError
from ...schema.internal_json import internal
from ..resource_lists import round_up, validate_value
from ..strategy import Context, Strategy

JSON = dict[str, Any]

_COUNTED = (
    "pods",
    "resourcequotas",
    "services",
    "replicationcontrollers",
    "secrets",
    "persistentvolumeclaims",
    "configmaps",
)
_COMPUTE = ("cpu", "memory", "ephemeral-storage")
_STANDARD = frozenset(
    (
        *_COUNTED,
        *_COMPUTE,
        *(f"requests.{name}" for name in (*_COMPUTE, "storage")),
        *(f"limits.{name}" for name in _COMPUTE),
        "services.nodeports",
        "services.loadbalancers",
    )
)
_SCOPES = (
    "Terminating",
    "NotTerminating",
    "BestEffort",
    "NotBestEffort",
    "PriorityClass",
    "CrossNamespacePodAffinity",
    "VolumeAttributesClass",
)
_OPERATORS = ("In", "NotIn", "Exists", "DoesNotExist")


class ResourceQuotas(Strategy):
    """The limits of all that a namespace may have. The scopes are immutable."""

    answers_deleted_object = True
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        round_up(obj.setdefault("spec", {}).get("hard"))

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx) + _validate_spec(obj["spec"])
        ctx.warnings.extend(() if errors else _warnings(obj["spec"].get("hard") or {}))
        return errors

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        _round_up(new)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_status(new, old, ctx)
        _round_up(new)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        errors += _validate_spec(new["spec"])
        scopes, before = (each["spec"].get("scopes") or [] for each in (new, old))
        if set(scopes) == set(before):
            return errors
        return errors + immutable("spec.scopes", scopes or None, before or None)

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_status(new, old, ctx)
        for field in ("hard", "used"):
            errors += _validate_amounts((new.get("status") or {}).get(field) or {}, f"status.{field}")
        return errors


def _warnings(hard: JSON) -> list[str]:
    """Warn of a quota that lets pods request more than they may use."""
    warnings = []
    for name in ("cpu", "memory", "storage", "ephemeral-storage"):
        asked, most = f"requests.{name}", f"limits.{name}"
        if asked not in hard and name in ("cpu", "memory"):
            asked = name
        if asked in hard and most in hard and Quantity.parse(hard[asked]) > Quantity.parse(hard[most]):
            what = f"ResourceQuota {asked} ({hard[asked]}) should be less than {most} ({hard[most]})"
            warnings.append(what)
    return warnings


_OF_PODS = frozenset(("pods", *(f"{of}{name}" for of in ("", "limits.", "requests.") for name in ("cpu", "memory"))))
# What a quota of a scope may limit, among the standard resources (`IsResourceQuotaScopeValidForResource`).
_LIMITED_BY = {
    "BestEffort": frozenset(("pods",)),
    "VolumeAttributesClass": frozenset(("persistentvolumeclaims", "requests.storage")),
    "Terminating": _OF_PODS,
    "NotTerminating": _OF_PODS,
    "NotBestEffort": _OF_PODS,
    "PriorityClass": _OF_PODS,
    "CrossNamespacePodAffinity": _OF_PODS,
}


def _validate_spec(spec: JSON) -> Errors:
    errors = _validate_amounts(spec.get("hard") or {}, "spec.hard")
    scopes = spec.get("scopes") or []
    for scope in scopes:
        if scope not in _SCOPES:
            errors.append(FieldError.invalid("spec.scopes", scopes, "unsupported scope"))
        for _ in _beyond(scope, spec):
            errors.append(FieldError.invalid("spec.scopes", scopes, "unsupported scope applied to resource"))
    errors += _validate_pairs(scopes, spec)
    requirements = (spec.get("scopeSelector") or {}).get("matchExpressions") or []
    for requirement in requirements:
        errors += _validate_requirement(requirement, spec, "spec.scopeSelector.matchExpressions")
    return errors + _validate_pairs([each.get("scopeName") for each in requirements], spec)


def _beyond(scope: str, spec: JSON) -> list[str]:
    """Return the resources that a quota of that scope does not limit."""
    limited = _LIMITED_BY.get(scope)
    if limited is None:
        return []
    return [name for name in spec.get("hard") or () if _is_standard(name) and name not in limited]


def _is_standard(name: str) -> bool:
    return name in _STANDARD or name.startswith(("hugepages-", "requests.hugepages-"))


def _validate_pairs(scopes: list[str], spec: JSON) -> Errors:
    """Check that no quota has two scopes that exclude each other. The real server shows `spec.scopes` in any case."""
    return [
        FieldError.invalid("spec.scopes", spec.get("scopes"), "conflicting scopes")
        for one, other in (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating"))
        if one in scopes and other in scopes
    ]


def _validate_requirement(requirement: JSON, spec: JSON, path: str) -> Errors:
    errors: Errors = []
    scope, operator = requirement.get("scopeName") or "", requirement.get("operator") or ""
    values = requirement.get("values") or []
    if scope not in _SCOPES:
        errors.append(FieldError.invalid(f"{path}.scopeName", scope, "unsupported scope"))
    for _ in _beyond(scope, spec):
        shown = internal("core/v1.ScopeSelector", spec["scopeSelector"])
        errors.append(FieldError.invalid(path, shown, "unsupported scope applied to resource"))
    if scope in _SCOPES and scope not in ("PriorityClass", "VolumeAttributesClass") and operator != "Exists":
        why = (
            "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, ResourceQuotaScopeNotTerminating, "
            "ResourceQuotaScopeBestEffort, ResourceQuotaScopeNotBestEffort or "
            "ResourceQuotaScopeCrossNamespacePodAffinity"
        )
        errors.append(FieldError.invalid(f"{path}.operator", operator, why))
    if operator in ("In", "NotIn") and not values:
        why = "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
        errors.append(FieldError.required(f"{path}.values", why))
    elif operator in ("Exists", "DoesNotExist") and values:
        why = "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
        errors.append(FieldError.invalid(f"{path}.values", values, why))
    elif operator not in _OPERATORS:
        errors.append(FieldError.invalid(f"{path}.operator", operator, "not a valid selector operator"))
    return errors


def _validate_amounts(hard: JSON, path: str) -> Errors:
    errors: Errors = []
    for name, quantity in hard.items():
        at = f"{path}[{name}]"
        errors += _validate_name(name, at)
        errors += validate_value(name, quantity, at)
    return errors


def _validate_name(name: str, path: str) -> Errors:
    if wrong := qualified_name(name):
        not_standard = FieldError.invalid(path, name, "must be a standard resource for quota")
        return problems(path, name, wrong) + ([] if "/" in name else [not_standard])
    if "/" in name or _is_standard(name):
        return []
    errors: Errors = []
    if name != "storage":
        errors.append(FieldError.invalid(path, name, "must be a standard resource type or fully qualified"))
    return [*errors, FieldError.invalid(path, name, "must be a standard resource for quota")]


def _round_up(quota: JSON) -> None:
    round_up(quota.setdefault("spec", {}).get("hard"))
    for field in ("hard", "used"):
        round_up((quota.get("status") or {}).get(field))
