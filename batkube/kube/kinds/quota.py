"""Resource quotas and limit ranges: what they may say (`pkg/apis/core/validation` of Kubernetes).

What they do to other objects is in `quota_admission.py` and `limit_admission.py`.
"""

from __future__ import annotations

from typing import Any

from ..metadata import Errors, immutable, problems
from ..names import qualified_name
from ..quantity import Quantity
from ..status import FieldError
from ..strategy import Context, Strategy
from .resource_lists import is_native, round_up, validate_value

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
_LIMIT_TYPES = ("Pod", "Container", "PersistentVolumeClaim")
_BOUNDS = ("max", "min", "default", "defaultRequest", "maxLimitRequestRatio")
_ONE = Quantity(1)


class ResourceQuotas(Strategy):
    """How much a namespace may have. The scopes are immutable."""

    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        round_up(obj.setdefault("spec", {}).get("hard"))

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate_spec(obj["spec"])

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        round_up(new.setdefault("spec", {}).get("hard"))
        for field in ("hard", "used"):
            round_up((new.get("status") or {}).get(field))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if ctx.subresource == "status":
            for field in ("hard", "used"):
                errors += _validate_amounts((new.get("status") or {}).get(field) or {}, f"status.{field}")
            return errors
        scopes = [sorted((each.get("spec") or {}).get("scopes") or ()) for each in (new, old)]
        return errors + _validate_spec(new["spec"]) + immutable("spec.scopes", scopes[0], scopes[1])


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
        limits = _LIMITED_BY.get(scope)
        for name in spec.get("hard") or () if limits else ():
            if name in _STANDARD and limits is not None and name not in limits:
                errors.append(FieldError.invalid("spec.scopes", scopes, "unsupported scope applied to resource"))
    for one, other in (("BestEffort", "NotBestEffort"), ("Terminating", "NotTerminating")):
        if one in scopes and other in scopes:
            errors.append(FieldError.invalid("spec.scopes", scopes, "conflicting scopes"))
    for requirement in (spec.get("scopeSelector") or {}).get("matchExpressions") or ():
        errors += _validate_requirement(requirement, "spec.scopeSelector.matchExpressions")
    return errors


def _validate_requirement(requirement: JSON, path: str) -> Errors:
    errors: Errors = []
    scope, operator = requirement.get("scopeName") or "", requirement.get("operator") or ""
    values = requirement.get("values") or []
    if scope not in _SCOPES:
        errors.append(FieldError.invalid(f"{path}.scopeName", scope, "unsupported scope"))
    elif scope not in ("PriorityClass", "VolumeAttributesClass") and operator != "Exists":
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
        why = "must be no value when `operator` is 'Exists' or 'DoesNotExist' for scope selector"
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
    if "/" in name or name.startswith(("requests.hugepages-", "hugepages-")):
        return []
    errors: Errors = []
    if name not in _STANDARD and name != "storage":
        errors.append(FieldError.invalid(path, name, "must be a standard resource type or fully qualified"))
    if name not in _STANDARD:
        errors.append(FieldError.invalid(path, name, "must be a standard resource for quota"))
    return errors


class LimitRanges(Strategy):
    """Bounds of what the pods of a namespace ask for, and what they get that do not ask."""

    revalidates_metadata = True
    create_on_update = True
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_limits(obj)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate_limits(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_limits(new)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return super().validate_update(new, old, ctx) + _validate_limits(new)


def _default_limits(obj: JSON) -> None:
    spec = obj.setdefault("spec", {})
    spec.setdefault("limits", None)  # no pointer and not left out: null in JSON
    for item in spec["limits"] or ():
        for field in _BOUNDS:
            round_up(item.get(field))
        if item.get("type") == "Container":
            limits = item["default"] = {**(item.get("max") or {}), **(item.get("default") or {})}
            requests = {**(item.get("min") or {}), **limits, **(item.get("defaultRequest") or {})}
            item["defaultRequest"] = requests
            for field in ("default", "defaultRequest"):
                if not item[field]:
                    del item[field]


def _validate_limits(obj: JSON) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for index, item in enumerate((obj.get("spec") or {}).get("limits") or ()):
        at, kind = f"spec.limits[{index}]", item.get("type") or ""
        if "/" in kind or not kind:
            errors += problems(f"{at}.type", kind, qualified_name(kind))
        elif kind not in _LIMIT_TYPES:
            errors.append(FieldError.invalid(f"{at}.type", kind, "must be a standard limit type or fully qualified"))
        if kind in seen:
            errors.append(FieldError.duplicate(f"{at}.type", kind))
        seen.add(kind)
        if kind == "Pod":
            for field in ("default", "defaultRequest"):
                if item.get(field):
                    errors.append(FieldError.forbidden(f"{at}.{field}", "may not be specified when `type` is 'Pod'"))
        storage = [(item.get(field) or {}).get("storage") for field in ("min", "max")]
        if kind == "PersistentVolumeClaim" and storage == [None, None]:
            why = "either minimum or maximum storage value is required, but neither was provided"
            errors.append(FieldError.required(f"{at}.limits", why))
        errors += _validate_bounds(item, at)
    return errors


def _validate_bounds(item: JSON, at: str) -> Errors:
    errors: Errors = []
    given = {field: _amounts(item.get(field)) for field in _BOUNDS}
    for field, listed in given.items():
        for name in listed:
            errors += problems(f"{at}.{field}[{name}]", name, qualified_name(name))
    for name in sorted({name for listed in given.values() for name in listed}):
        low, high = given["min"].get(name), given["max"].get(name)
        default, request = given["default"].get(name), given["defaultRequest"].get(name)
        for one, other, field, shown, why in (
            (low, high, "min", low, f"min value {low} is greater than max value {high}"),
            (
                low,
                request,
                "defaultRequest",
                request,
                f"min value {low} is greater than default request value {request}",
            ),
            (
                request,
                high,
                "defaultRequest",
                request,
                f"default request value {request} is greater than max value {high}",
            ),
            (
                request,
                default,
                "defaultRequest",
                request,
                f"default request value {request} is greater than default limit value {default}",
            ),
            (low, default, "default", low, f"min value {low} is greater than default value {default}"),
            (default, high, "default", high, f"default value {default} is greater than max value {high}"),
        ):
            if one is not None and other is not None and one > other:
                errors.append(FieldError.invalid(f"{at}.{field}[{name}]", str(shown), why))
        ratio = given["maxLimitRequestRatio"].get(name)
        if ratio is not None and ratio < _ONE:
            why = f"ratio {ratio} is less than 1"
            errors.append(FieldError.invalid(f"{at}.maxLimitRequestRatio[{name}]", str(ratio), why))
        if ratio is not None and low is not None and high is not None and low.value:
            most = high.value / low.value
            if ratio.value > most:
                why = f"ratio {ratio} is greater than max/min = {float(most):f}"
                errors.append(FieldError.invalid(f"{at}.maxLimitRequestRatio[{name}]", str(ratio), why))
        overcommitted = is_native(name) and not name.startswith("hugepages-")
        if not overcommitted and default is not None and request is not None and default != request:
            why = f"default value {default} must equal to defaultRequest value {request} in {name}"
            errors.append(FieldError.invalid(f"{at}.defaultRequest[{name}]", str(request), why))
    return errors


def _amounts(resources: JSON | None) -> dict[str, Quantity]:
    return {name: Quantity.parse(quantity) for name, quantity in (resources or {}).items()}
