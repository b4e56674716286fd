"""Priority classes and disruption budgets (`pkg/apis/scheduling`, `pkg/apis/policy`)."""

from __future__ import annotations

from typing import Any

from ..apimachinery.label_selectors import validate_label_selector
from ..apimachinery.metadata import Errors, immutable
from ..apimachinery.status import ApiError, FieldError
from .apps.workloads import validate_counts, validate_no_more_than_all, validate_share
from .conditions import validate_conditions
from .published import validate_field
from .strategy import Context, Strategy

JSON = dict[str, Any]

PRIORITY_CLASSES = "priorityclasses.scheduling.k8s.io"
_HIGHEST = 1_000_000_000  # of a class that users make
_SYSTEM = {"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000}
_POLICIES = ("PreemptLowerPriority", "Never")


class PriorityClasses(Strategy):
    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj.setdefault("preemptionPolicy", "PreemptLowerPriority")
        obj["metadata"]["generation"] = 1

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        new.setdefault("preemptionPolicy", "PreemptLowerPriority")

    def check_delete(self, obj: JSON, ctx: Context) -> None:
        name = obj["metadata"]["name"]
        if name in _SYSTEM:
            why = "this is a system priority class and cannot be deleted"
            raise ApiError.forbidden("priorityclasses.scheduling.k8s.io", name, why)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx)
        name, value, policy = obj["metadata"]["name"], obj.get("value", 0), obj["preemptionPolicy"]
        if name.startswith("system-"):
            if wrong := _unlike_system(obj):
                why = "priority class names with 'system-' prefix are reserved for system use only"
                errors.append(FieldError.forbidden("metadata.name", f"{why}. error: {wrong}"))
        elif value > _HIGHEST:
            why = f"maximum allowed value of a user defined priority is {_HIGHEST}"
            errors.append(FieldError.forbidden("value", why))
        if not policy:
            errors.append(FieldError.required("preemptionPolicy"))
        elif policy not in _POLICIES:
            errors.append(FieldError.not_supported("preemptionPolicy", policy, _POLICIES))
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if new.get("value", 0) != old.get("value", 0):
            errors.append(FieldError.forbidden("value", "may not be changed in an update."))
        errors.extend(immutable("preemptionPolicy", new["preemptionPolicy"], old.get("preemptionPolicy")))
        return errors


def _unlike_system(obj: JSON) -> str:
    """Return how a class differs from the server's own class of that name; "" if it does not."""
    name = obj["metadata"]["name"]
    if name not in _SYSTEM:
        return f"{name} is not a known system priority class"
    if obj.get("value", 0) != _SYSTEM[name]:
        return f"value of {name} PriorityClass must be {_SYSTEM[name]}"
    return f"globalDefault of {name} PriorityClass must be false" if obj.get("globalDefault") else ""


class DisruptionBudgets(Strategy):
    """Rules of disruption budgets. Their metadata follow the rules for all objects, and no others."""

    unconditional_update = False

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return _validate_budget(obj["spec"])

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return _validate_budget(new["spec"])

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        status = new.get("status") or {}
        errors = validate_conditions(status.get("conditions") or [], "status.conditions")
        counted = {name: count for name, count in status.items() if name != "observedGeneration"}
        return [*errors, *validate_counts(counted, "status")]


def _validate_budget(spec: JSON) -> Errors:
    errors: Errors = []
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    if least is not None and most is not None:
        shown = {"MinAvailable": least, "Selector": spec.get("selector"), "MaxUnavailable": most}
        shown["UnhealthyPodEvictionPolicy"] = spec.get("unhealthyPodEvictionPolicy")
        errors.append(FieldError.invalid("spec", shown, "minAvailable and maxUnavailable cannot be both set"))
    for name, value in (("minAvailable", least), ("maxUnavailable", most)):
        if value is None:
            continue
        where = f"spec.{name}"
        errors.extend((*validate_share(value, where), *validate_no_more_than_all(value, where)))
    errors.extend(validate_label_selector(spec.get("selector"), "spec.selector"))
    return errors + validate_field("policy/v1.PodDisruptionBudgetSpec", spec, "unhealthyPodEvictionPolicy", "spec")
