"""Deployments and their like: what makes pods from a template (`pkg/apis/apps`, `pkg/registry/apps`).

Deployments, replica sets, daemon sets, replication controllers, pod templates, controller revisions. Stateful sets are
in `stateful_sets.py`.
"""

from __future__ import annotations

import re
from typing import Any

from ..internal_json import internal
from ..label_selectors import matches, validate_label_selector
from ..metadata import Errors, immutable, validate_annotations, validate_labels
from ..status import FieldError
from ..strategy import Context, Strategy
from .pod_defaults import default_pod_template
from .pod_validation import validate_pod_spec
from .pod_warnings import warnings_of_spec
from .scheduling_validation import may_compare

JSON = dict[str, Any]

NOT_NEGATIVE = "must be greater than or equal to 0"
_MISMATCH = "`selector` does not match template `labels`"
_PERCENT = re.compile(r"[0-9]+%", re.ASCII)


class Workload(Strategy):
    """What they share: a template, a selector, a number of replicas."""

    has_replicas = True
    selector_immutable = True
    word = ""  # what errors call the kind
    kind = "ReplicaSet"  # what makes the pods
    counted: tuple[tuple[str, str], ...] = ()  # of a status: pairs of which the first is no more than the second

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        self.default(obj)
        super().prepare_create(obj, ctx)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        self.default(new)
        super().prepare_update(new, old, ctx)

    def default(self, obj: JSON) -> None:
        """Fill in the kind's defaults."""
        spec = obj.setdefault("spec", {})
        default_pod_template(spec.setdefault("template", {}))
        if self.has_replicas and spec.get("replicas") is None:
            spec["replicas"] = 1

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_create(obj, ctx), *self.validate_spec(obj["spec"], may_compare(ctx))]
        if not errors:
            _warn(obj["spec"], ctx)
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if ctx.subresource == "status":
            return [*errors, *validate_counts(new.get("status") or {}, "status", self.counted)]
        spec, before = new["spec"], old["spec"]
        if spec != before:
            comparing = may_compare(ctx, (before.get("template") or {}).get("spec"))
            errors.extend(self.validate_spec(spec, comparing))
            if not errors and spec.get("template") != before.get("template"):
                _warn(spec, ctx)
        if self.selector_immutable:
            errors.extend(immutable("spec.selector", spec.get("selector"), before.get("selector")))
        return errors

    def validate_spec(self, spec: JSON, comparing: bool) -> Errors:
        errors = validate_negatives(spec, ("replicas", "minReadySeconds", "revisionHistoryLimit"))
        errors.extend(self.validate_selector(spec))
        errors.extend(validate_template(spec, "spec", self.kind, comparing=comparing))
        return errors

    def validate_selector(self, spec: JSON) -> Errors:
        """The selector, and that it selects the template's pods."""
        selector = spec.get("selector")
        if selector is None:
            labels = (spec["template"].get("metadata") or {}).get("labels")
            return [
                FieldError.required("spec.selector"),
                FieldError.invalid("spec.template.metadata.labels", labels, _MISMATCH),
            ]
        errors = validate_label_selector(selector, "spec.selector")
        if errors and self.kind != "DaemonSet":
            errors.append(FieldError.invalid("spec.selector", selector, "invalid label selector"))
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            errors.append(FieldError.invalid("spec.selector", selector, f"empty selector is invalid for {self.word}"))
        elif not errors:
            errors.extend(validate_selected(selector, spec["template"]))
        return errors


def _warn(spec: JSON, ctx: Context) -> None:
    template = spec.get("template")
    if template is not None:
        ctx.warnings.extend(warnings_of_spec(template["spec"], template.get("metadata") or {}, "spec.template."))


def validate_selected(selector: JSON, template: JSON) -> Errors:
    """The template has the labels that the selector asks for."""
    labels = (template.get("metadata") or {}).get("labels")
    if matches(selector, labels or {}):
        return []
    shown = {key: labels[key] for key in sorted(labels)} if labels else labels
    return [FieldError.invalid("spec.template.metadata.labels", shown, _MISMATCH)]


def validate_template(spec: JSON, path: str, kind: str, *, comparing: bool) -> Errors:
    """The template of a kind whose pods always restart. `kind` is what an error calls it; `comparing` as for pods."""
    template = spec["template"]
    metadata = template.get("metadata") or {}
    errors = validate_labels(metadata.get("labels") or {}, f"{path}.template.labels")
    errors.extend(validate_annotations(metadata.get("annotations") or {}, f"{path}.template.annotations"))
    errors.extend(validate_pod_spec(template["spec"], f"{path}.template.spec", comparing=comparing))
    policy = template["spec"].get("restartPolicy", "")
    where = f"{path}.template.spec.restartPolicy"
    if policy != "Always" and not any(error.field == where for error in errors):
        errors.append(FieldError.not_supported(where, policy, ("Always",)))
    if template["spec"].get("activeDeadlineSeconds") is not None:
        where = f"{path}.template.spec.activeDeadlineSeconds"
        errors.append(FieldError.forbidden(where, f"activeDeadlineSeconds in {kind} is not Supported"))
    return errors


def validate_negatives(spec: JSON, names: tuple[str, ...], path: str = "spec") -> Errors:
    """Numbers that are none below zero."""
    return [
        FieldError.invalid(f"{path}.{name}", spec[name], NOT_NEGATIVE) for name in names if (spec.get(name) or 0) < 0
    ]


def validate_counts(status: JSON, path: str, counted: tuple[tuple[str, str], ...] = ()) -> Errors:
    """A status counts things, some of which are a part of others."""
    errors = [
        FieldError.invalid(f"{path}.{name}", value, NOT_NEGATIVE)
        for name, value in status.items()
        if isinstance(value, int) and value < 0
    ]
    for part, whole in counted:
        count = status.get(part, 0)
        if count > status.get(whole, 0):
            shown = whole if whole == "readyReplicas" else f"status.{whole}"
            errors.append(FieldError.invalid(f"{path}.{part}", count, f"cannot be greater than {shown}"))
    return errors


REPLICAS = (
    ("readyReplicas", "replicas"),
    ("availableReplicas", "replicas"),
    ("availableReplicas", "readyReplicas"),
)


class Deployments(Workload):
    word = "deployment"
    counted = (("updatedReplicas", "replicas"), *REPLICAS)

    def default(self, obj: JSON) -> None:
        super().default(obj)
        spec = obj["spec"]
        strategy = spec.setdefault("strategy", {})
        strategy["type"] = strategy.get("type") or "RollingUpdate"
        if strategy["type"] == "RollingUpdate":
            rolling = strategy.get("rollingUpdate") or {}
            for name in ("maxUnavailable", "maxSurge"):
                if rolling.get(name) is None:
                    rolling[name] = "25%"
            strategy["rollingUpdate"] = rolling
        default_absent(spec, revisionHistoryLimit=10, progressDeadlineSeconds=600)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        if ctx.subresource is None and new["metadata"].get("annotations") != old["metadata"].get("annotations"):
            # Annotations of a deployment are copied to its replica sets: they count as its spec.
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate_spec(self, spec: JSON, comparing: bool) -> Errors:
        errors = super().validate_spec(spec, comparing)
        strategy = spec["strategy"]
        if strategy["type"] == "Recreate":
            if strategy.get("rollingUpdate") is not None:
                why = "may not be specified when strategy `type` is 'Recreate'"
                errors.append(FieldError.forbidden("spec.strategy.rollingUpdate", why))
        elif strategy["type"] != "RollingUpdate":
            allowed = ("Recreate", "RollingUpdate")
            errors.append(
                FieldError.not_supported("spec.strategy", internal("apps/v1.DeploymentStrategy", strategy), allowed)
            )
        else:
            errors.extend(_validate_rolling(strategy["rollingUpdate"], "spec.strategy.rollingUpdate"))
        errors.extend(validate_negatives(spec, ("progressDeadlineSeconds",)))
        if spec["progressDeadlineSeconds"] <= (spec.get("minReadySeconds") or 0):
            why = "must be greater than minReadySeconds"
            errors.append(FieldError.invalid("spec.progressDeadlineSeconds", spec["progressDeadlineSeconds"], why))
        return errors


def default_absent(spec: JSON, **defaults: Any) -> None:
    """Fill in what is absent."""
    for name, value in defaults.items():
        if spec.get(name) is None:
            spec[name] = value


def _validate_rolling(rolling: JSON, path: str) -> Errors:
    errors: Errors = []
    for name in ("maxUnavailable", "maxSurge"):
        errors.extend(validate_share(rolling[name], f"{path}.{name}"))
    unavailable = rolling["maxUnavailable"]
    if isinstance(unavailable, str) and _PERCENT.fullmatch(unavailable) and _share(unavailable) > 100:
        errors.append(FieldError.invalid(f"{path}.maxUnavailable", unavailable, "must not be greater than 100%"))
    if not errors and _share(rolling["maxUnavailable"]) == 0 and _share(rolling["maxSurge"]) == 0:
        why = "may not be 0 when `maxSurge` is 0"
        errors.append(FieldError.invalid(f"{path}.maxUnavailable", rolling["maxUnavailable"], why))
    return errors


def validate_share(value: int | str, path: str) -> Errors:
    """A number or a percentage."""
    if isinstance(value, str):
        if not _PERCENT.fullmatch(value):
            why = "a valid percent string must be a numeric string followed by an ending '%' "
            example = "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
            return [FieldError.invalid(path, value, why + example)]
        return []
    return [FieldError.invalid(path, value, NOT_NEGATIVE)] if value < 0 else []


def _share(value: int | str) -> int:
    return int(value.rstrip("%")) if isinstance(value, str) else value


class ReplicaSets(Workload):
    word = "deployment"  # the real server's mistake
    counted = (("fullyLabeledReplicas", "replicas"), *REPLICAS)
    selectable_fields = frozenset(("status.replicas",))

    def field_labels(self, obj: JSON) -> dict[str, str]:
        return {"status.replicas": str((obj.get("status") or {}).get("replicas", 0))}


class DaemonSets(Workload):
    word = "daemonset"
    kind = "DaemonSet"
    has_replicas = False

    def default(self, obj: JSON) -> None:
        super().default(obj)
        spec = obj["spec"]
        strategy = spec.setdefault("updateStrategy", {})
        strategy["type"] = strategy.get("type") or "RollingUpdate"
        if strategy["type"] == "RollingUpdate":
            rolling = strategy.get("rollingUpdate") or {}
            default_absent(rolling, maxUnavailable=1, maxSurge=0)
            strategy["rollingUpdate"] = rolling
        default_absent(spec, revisionHistoryLimit=10)

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        annotations = obj["metadata"].get("annotations") or {}
        obj["metadata"]["annotations"] = {**annotations, _TEMPLATE_GENERATION: "1"}

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        if ctx.subresource is not None:
            return
        generation = (old["metadata"].get("annotations") or {}).get(_TEMPLATE_GENERATION, "0")
        if new["spec"].get("template") != old["spec"].get("template"):
            generation = str(int(generation) + 1) if generation.isdigit() else "1"
        annotations = new["metadata"].get("annotations") or {}
        new["metadata"]["annotations"] = {**annotations, _TEMPLATE_GENERATION: generation}

    def validate_spec(self, spec: JSON, comparing: bool) -> Errors:
        errors = super().validate_spec(spec, comparing)
        if spec.get("selector") is None:
            errors = [error for error in errors if error.field != "spec.selector"]
        strategy, path = spec["updateStrategy"], "spec.updateStrategy"
        if strategy["type"] not in ("RollingUpdate", "OnDelete"):
            return [
                *errors,
                FieldError.not_supported(
                    path, internal("apps/v1.DaemonSetUpdateStrategy", strategy), ("RollingUpdate", "OnDelete")
                ),
            ]
        if strategy["type"] == "OnDelete":
            return errors
        rolling, path = strategy["rollingUpdate"], f"{path}.rollingUpdate"
        surge, unavailable = rolling["maxSurge"], rolling["maxUnavailable"]
        for name in ("maxUnavailable", "maxSurge"):
            errors.extend(validate_share(rolling[name], f"{path}.{name}"))
            if isinstance(rolling[name], str) and _PERCENT.fullmatch(rolling[name]) and _share(rolling[name]) > 100:
                errors.append(FieldError.invalid(f"{path}.{name}", rolling[name], "must not be greater than 100%"))
        if any(
            error.field.startswith(path) and isinstance(rolling[error.field.rpartition(".")[2]], str)
            for error in errors
        ):
            return errors
        if _share(unavailable) != 0 and _share(surge) != 0:
            why = "may not be set when maxUnavailable is non-zero"
            errors.append(FieldError.invalid(f"{path}.maxSurge", surge, why))
        if _share(unavailable) == 0 and _share(surge) == 0:
            errors.append(FieldError.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0"))
        return errors


_TEMPLATE_GENERATION = "deprecated.daemonset.template.generation"


class ReplicationControllers(Workload):
    validates_prefix = False
    word = "replicationcontroller"
    kind = "ReplicationController"
    counted = (("fullyLabeledReplicas", "replicas"), *REPLICAS)
    selector_immutable = False
    orphans_by_default = True
    selectable_fields = frozenset(("status.replicas",))

    def default(self, obj: JSON) -> None:
        spec = obj.setdefault("spec", {})
        if spec.get("replicas") is None:
            spec["replicas"] = 1
        template = spec.get("template")
        if template is None:
            spec.pop("template", None)
            return
        default_pod_template(template)
        labels = (template.get("metadata") or {}).get("labels")
        if labels:
            spec["selector"] = spec.get("selector") or dict(labels)
            obj["metadata"]["labels"] = obj["metadata"].get("labels") or dict(labels)

    def validate_spec(self, spec: JSON, comparing: bool) -> Errors:
        errors = validate_negatives(spec, ("minReadySeconds",))
        selector = spec.get("selector") or {}
        if not selector:
            errors.append(FieldError.required("spec.selector"))
        errors.extend(validate_negatives(spec, ("replicas",)))
        if spec.get("template") is None:
            return [*errors, FieldError.required("spec.template")]
        if selector:
            errors.extend(validate_selected({"matchLabels": selector}, spec["template"]))
        return [*errors, *validate_template(spec, "spec", self.kind, comparing=comparing)]

    def field_labels(self, obj: JSON) -> dict[str, str]:
        return {"status.replicas": str((obj.get("status") or {}).get("replicas", 0))}


class PodTemplates(Strategy):
    """A template that lies around on its own."""

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        default_pod_template(obj.setdefault("template", {}))
        obj["metadata"]["generation"] = 1

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = validate_pod_spec(obj["template"]["spec"], "template.spec", comparing=may_compare(ctx))
        return [*super().validate_create(obj, ctx), *errors]

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        default_pod_template(new.setdefault("template", {}))
        if new["template"] != old.get("template"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        comparing = may_compare(ctx, (old.get("template") or {}).get("spec"))
        errors = validate_pod_spec(new["template"]["spec"], "template.spec", comparing=comparing)
        return [*super().validate_update(new, old, ctx), *errors]


class ControllerRevisions(Strategy):
    """Snapshots of templates, never changed."""

    revalidates_metadata = True
    counts_generation = False

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx)
        if obj.get("data") is None:
            errors.append(FieldError.required("data", "data is mandatory"))
        if obj.get("revision", 0) < 0:
            errors.append(FieldError.invalid("revision", obj["revision"], NOT_NEGATIVE))
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if new.get("data") != old.get("data") or new.get("revision") != old.get("revision"):
            errors.append(FieldError.invalid("data", new.get("data") or {}, "field is immutable"))
        return errors
