"""Horizontal pod autoscalers, in two versions with different fields (`pkg/apis/autoscaling`).

They are stored as autoscaling/v2. Of the metrics autoscaling/v1 shows only the target for cpu.
"""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors
from ...apimachinery.status import FieldError
from ...codec.conversion import FROM_STORED, TO_STORED
from ..apps.workloads import validate_negatives
from ..strategy import Context, Strategy
from .metric_sources import default_behavior, validate_behavior, validate_metrics, validate_reference

JSON = dict[str, Any]

STORAGE = "horizontalpodautoscalers.autoscaling"
OLD = "autoscaling/v1"
_DEFAULT_TARGET = 80  # percent of the requested cpu
_MOVED = ("metrics", "behavior")


def _cpu_metric(percent: int) -> JSON:
    target = {"type": "Utilization", "averageUtilization": percent}
    return {"type": "Resource", "resource": {"name": "cpu", "target": target}}


def _cpu_of(metrics: list[JSON], field: str) -> int | None:
    for metric in metrics:
        resource = metric.get("resource") or {}
        if metric.get("type") == "Resource" and resource.get("name") == "cpu":
            found: int | None = (resource.get(field) or {}).get("averageUtilization")
            if found is not None:
                return found
    return None


def to_old(obj: JSON) -> JSON:
    """Return a stored autoscaler as autoscaling/v1 shows it."""
    spec = {key: value for key, value in (obj.get("spec") or {}).items() if key not in _MOVED}
    target = _cpu_of((obj.get("spec") or {}).get("metrics") or [], "target")
    if target is not None:
        spec["targetCPUUtilizationPercentage"] = target
    before = obj.get("status") or {}
    status = {key: before[key] for key in ("observedGeneration", "lastScaleTime") if key in before}
    status["currentReplicas"] = before.get("currentReplicas", 0)
    status["desiredReplicas"] = before.get("desiredReplicas", 0)
    current = _cpu_of(before.get("currentMetrics") or [], "current")
    if current is not None:
        status["currentCPUUtilizationPercentage"] = current
    return {**obj, "spec": spec, "status": status}


def to_new(obj: JSON) -> JSON:
    """Return an autoscaler that was sent as autoscaling/v1 in the form of autoscaling/v2."""
    spec = dict(obj.get("spec") or {})
    target = spec.pop("targetCPUUtilizationPercentage", None)
    if target is not None:
        spec["metrics"] = [_cpu_metric(target)]
    status = dict(obj.get("status") or {})
    current = status.pop("currentCPUUtilizationPercentage", None)
    if current is not None:
        cpu = {"name": "cpu", "current": {"averageUtilization": current}}
        status["currentMetrics"] = [{"type": "Resource", "resource": cpu}]
    if not status.get("currentReplicas"):
        status.pop("currentReplicas", None)  # left out here if there are none
    if status:
        status.setdefault("currentMetrics", None)
    return {**obj, "spec": spec, "status": status}


class HorizontalPodAutoscalers(Strategy):
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        _default(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        _default(new)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_status(new, old, ctx)
        _default(new)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate(obj["spec"], {})]

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return [*super().validate_update(new, old, ctx), *_validate(new["spec"], old["spec"])]

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_status(new, old, ctx)
        status = new.get("status") or {}
        return [*errors, *validate_negatives(status, ("currentReplicas", "desiredReplicas"), "status")]


def _default(obj: JSON) -> None:
    spec = obj.setdefault("spec", {})
    if spec.get("minReplicas") is None:
        spec["minReplicas"] = 1
    if not spec.get("metrics"):
        spec["metrics"] = [_cpu_metric(_DEFAULT_TARGET)]
    if spec.get("behavior") is not None:
        default_behavior(spec["behavior"])


def _validate(spec: JSON, before: JSON) -> Errors:
    """Check the spec. `before` is the spec that the autoscaler had: a fault that it had already may stay."""
    errors: Errors = []
    least, most = spec["minReplicas"], spec.get("maxReplicas", 0)
    lowest = 0 if before.get("minReplicas") == 0 else 1
    if least < lowest:
        why = f"must be greater than or equal to {lowest}"
        errors.append(FieldError.invalid("spec.minReplicas", least, why))
    if most == 0:
        errors.append(FieldError.required("spec.maxReplicas", "must be set and greater than 0"))
    elif most < 0:
        errors.append(FieldError.invalid("spec.maxReplicas", most, "must be greater than or equal to 1"))
    if most < least:
        why = "must be greater than or equal to `minReplicas`"
        errors.append(FieldError.invalid("spec.maxReplicas", most, why))
    target, was = spec.get("scaleTargetRef") or {}, before.get("scaleTargetRef")
    same = was is not None and all(target.get(key, "") == was.get(key, "") for key in ("apiVersion", "kind"))
    core = target.get("kind") == "ReplicationController"
    errors.extend(validate_reference(target, "spec.scaleTargetRef", any_version=same, core=core))
    errors.extend(validate_metrics(spec["metrics"], least, "spec.metrics"))
    if spec.get("behavior") is not None:
        errors.extend(validate_behavior(spec["behavior"], "spec.behavior"))
    return errors


FROM_STORED[STORAGE, OLD] = to_old
TO_STORED[STORAGE, OLD] = to_new
