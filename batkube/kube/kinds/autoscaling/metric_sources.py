"""The metrics that an autoscaler follows, and the rules of its behavior (`pkg/apis/autoscaling/validation`)."""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors, kind_and_name
from ...apimachinery.names import dns_label, path_segment
from ...apimachinery.quantity import Quantity
from ...apimachinery.status import FieldError
from ..published import validate_field
from ..resource_validation import container_resource_name

JSON = dict[str, Any]

_SOURCES = ("ContainerResource", "External", "Object", "Pods", "Resource")
_FIELDS = ("object", "external", "pods", "resource", "containerResource")  # in the order in which they are looked at
_TARGETS = ("Utilization", "Value", "AverageValue")
_SELECTIONS = ("Disabled", "Max", "Min")
_POLICIES = ("Percent", "Pods")
_MAX_PERIOD, _MAX_WINDOW = 1_800, 3_600  # seconds
_ZERO = Quantity(0)
_BOTH = "may not set both a target raw value and a target utilization"


def validate_reference(reference: JSON, path: str, *, any_version: bool = False, core: bool = False) -> Errors:
    """Check a reference to an object.

    `any_version`: its apiVersion was stored before. `core`: it may be without a group.
    """
    errors = kind_and_name(reference, path)
    version = reference.get("apiVersion", "")
    if not any_version:
        if version.count("/") > 1:
            why = f"unexpected GroupVersion string: {version}"
            errors.append(FieldError.invalid(f"{path}.apiVersion", version, why))
        elif not core and not version.partition("/")[0] * version.count("/"):
            errors.append(FieldError.invalid(f"{path}.apiVersion", version, "apiVersion must specify API group"))
    return errors


def validate_metrics(metrics: list[JSON], least: int, path: str) -> Errors:
    """Check the metrics. `least` is the smallest number of replicas."""
    errors: Errors = []
    for index, metric in enumerate(metrics):
        errors.extend(_validate_metric(metric, f"{path}[{index}]"))
    if least == 0 and not any(metric.get("type") in ("Object", "External") for metric in metrics):
        why = "must specify at least one Object or External metric to support scaling to zero replicas"
        errors.append(FieldError.forbidden(path, why))
    return errors


def _validate_metric(metric: JSON, path: str) -> Errors:
    errors: Errors = []
    kind = metric.get("type", "")
    if not kind:
        errors.append(FieldError.required(f"{path}.type", "must specify a metric source type"))
    unknown = [] if kind in _SOURCES else [FieldError.not_supported(f"{path}.type", kind, _SOURCES)]
    errors.extend(unknown)
    present = [name for name in _FIELDS if metric.get(name) is not None]
    if present:
        errors.extend(_validate_source(present[0], metric[present[0]], f"{path}.{present[0]}"))
    expected = kind[:1].lower() + kind[1:]
    if not unknown and expected not in present:
        why = "must populate information for the given metric source"
        errors.append(FieldError.required(f"{path}.{expected}", why))
    errors.extend(unknown)
    if len(present) != 1:
        why = "must populate the given metric source only"
        errors.extend(FieldError.forbidden(f"{path}.{name}", why) for name in present if name != expected)
    return errors


def _validate_source(name: str, source: JSON, path: str) -> Errors:
    errors: Errors = []
    target = source.get("target") or {}
    if name == "object":
        described = source.get("describedObject") or {}
        errors.extend(validate_reference(described, f"{path}.describedObject", core=True))
    if name in ("object", "external", "pods"):
        metric, missing = source.get("metric") or {}, "must specify a metric name"
        of = "autoscaling/v2.MetricIdentifier"
        errors.extend(validate_field(of, metric, "name", f"{path}.metric", path_segment, missing))
    else:
        errors.extend(_validate_resource(name, source, path))
    errors.extend(_validate_target(target, f"{path}.target"))
    return [*errors, *_validate_values(name, target, f"{path}.target")]


def _validate_resource(name: str, source: JSON, path: str) -> Errors:
    """Check which resource a metric is about, and of which container."""
    of, missing = "autoscaling/v2.ResourceMetricSource", "must specify a resource name"
    if name != "containerResource":
        return validate_field(of, source, "name", path, missing=missing)
    of = "autoscaling/v2.ContainerResourceMetricSource"
    errors = validate_field(of, source, "name", path, container_resource_name, missing)
    return errors + validate_field(of, source, "container", path, dns_label, "must specify a container")


def _validate_target(target: JSON, path: str) -> Errors:
    errors: Errors = []
    kind, share = target.get("type", ""), target.get("averageUtilization")
    if not kind:
        errors.append(FieldError.required(f"{path}.type", "must specify a metric target type"))
    if kind not in _TARGETS:
        errors.append(FieldError.invalid(f"{path}.type", kind, "must be either Utilization, Value, or AverageValue"))
    for name in ("value", "averageValue"):
        value = target.get(name)
        if value is not None and Quantity.parse(value) <= _ZERO:
            errors.append(FieldError.invalid(f"{path}.{name}", value, "must be positive"))
    if share is not None and share < 1:
        errors.append(FieldError.invalid(f"{path}.averageUtilization", share, "must be greater than 0"))
    return errors


def _validate_values(name: str, target: JSON, path: str) -> Errors:
    """Check that a target has the values that its kind of metric needs."""
    value, average, share = (target.get(key) is not None for key in ("value", "averageValue", "averageUtilization"))
    if name == "pods":
        why = "must specify a positive target averageValue"
        return [] if average else [FieldError.required(f"{path}.averageValue", why)]
    if name in ("resource", "containerResource"):
        if average and share:
            return [FieldError.forbidden(f"{path}.averageValue", _BOTH)]
        why = "must set either a target raw value or a target utilization"
        return [] if average or share else [FieldError.required(f"{path}.averageUtilization", why)]
    if not value and not average:
        what = "a target value or averageValue" if name == "object" else "a target value for metric or a per-pod target"
        return [FieldError.required(f"{path}.averageValue", f"must set either {what}")]
    if name == "external" and value and average:
        why = "may not set both a target value for metric and a per-pod target"
        return [FieldError.forbidden(f"{path}.value", why)]
    return []


def default_behavior(behavior: JSON) -> None:
    """Fill in both sets of rules: up at once, by four pods or by doubling; down to the smallest number."""
    by_pods, by_percent = ({"type": kind, "value": value, "periodSeconds": 15} for kind, value in _STEPS)
    up = {"stabilizationWindowSeconds": 0, "selectPolicy": "Max", "policies": [by_pods, by_percent]}
    down = {"selectPolicy": "Max", "policies": [dict(by_percent)]}
    for name, defaults in (("scaleUp", up), ("scaleDown", down)):
        behavior[name] = {**defaults, **(behavior.get(name) or {})}


_STEPS = (("Pods", 4), ("Percent", 100))


def validate_behavior(behavior: JSON, path: str) -> Errors:
    """Check the rules of the behavior, after their defaults are set."""
    errors: Errors = []
    for name in ("scaleUp", "scaleDown"):
        errors.extend(_validate_rules(behavior[name], f"{path}.{name}"))
    return errors


def _validate_rules(rules: JSON, path: str) -> Errors:
    errors: Errors = []
    window, chosen = rules.get("stabilizationWindowSeconds"), rules["selectPolicy"]
    where = f"{path}.stabilizationWindowSeconds"
    if window is not None and window < 0:
        errors.append(FieldError.invalid(where, window, "must be greater than or equal to zero"))
    if window is not None and window > _MAX_WINDOW:
        errors.append(FieldError.invalid(where, window, f"must be less than or equal to {_MAX_WINDOW}"))
    if chosen not in _SELECTIONS:
        errors.append(FieldError.not_supported(f"{path}.selectPolicy", chosen, _SELECTIONS))
    if not rules.get("policies"):
        errors.append(FieldError.required(f"{path}.policies", "must specify at least one Policy"))
    for index, policy in enumerate(rules.get("policies") or ()):
        errors.extend(_validate_policy(policy, f"{path}.policies[{index}]"))
    tolerance = rules.get("tolerance")
    if tolerance is not None and Quantity.parse(tolerance) < _ZERO:
        errors.append(FieldError.invalid(f"{path}.tolerance", tolerance, "must be greater than or equal to 0"))
    return errors


def _validate_policy(policy: JSON, path: str) -> Errors:
    errors: Errors = []
    kind, period = policy.get("type", ""), policy.get("periodSeconds", 0)
    if kind not in _POLICIES:
        errors.append(FieldError.not_supported(f"{path}.type", kind, _POLICIES))
    for key in ("value", "periodSeconds"):
        if policy.get(key, 0) <= 0:
            errors.append(FieldError.invalid(f"{path}.{key}", policy.get(key, 0), "must be greater than zero"))
    if period > _MAX_PERIOD:
        errors.append(
            FieldError.invalid(f"{path}.periodSeconds", period, f"must be less than or equal to {_MAX_PERIOD}")
        )
    return errors
