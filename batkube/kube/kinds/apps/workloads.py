"""The common rules of kinds that make pods from a template, and those of deployments and replica sets (`pkg/apis/apps`,
`pkg/registry/apps`).

The other kinds have modules of their own.
"""

from __future__ import annotations

import re
from typing import Any

from ...apimachinery.label_selectors import validate_label_selector
from ...apimachinery.metadata import Errors, immutable
from ...apimachinery.status import FieldError
from ...schema.internal_json import internal
from ..pods.defaults import default_pod_template
from ..pods.scheduling_validation import may_compare
from ..pods.templates import validate_lasting_template, validate_selected, warn_of_name, warn_of_template
from ..strategy import Context, Strategy

JSON = dict[str, Any]

NOT_NEGATIVE = "must be greater than or equal to 0"
_PERCENT = re.compile(r"[0-9]+%", re.ASCII)


class Workload(Strategy):
    """The common part of these kinds: a template, a selector, a number of replicas."""

    has_replicas = True
    selector_immutable = True
    word = ""  # what errors call the kind
    kind = "ReplicaSet"  # what makes the pods
    ready = "readyReplicas"  # what errors call the ready ones
    counted: tuple[tuple[str, str], ...] = ()  # of a status: pairs of which the first is no more than the second

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        self.default(obj)
        super().prepare_create(obj, ctx)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        self.default(new)
        super().prepare_update(new, old, ctx)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        self.default(new)
        super().prepare_status(new, old, ctx)

    def default(self, obj: JSON) -> None:
        """Fill in the kind's defaults."""
        spec = obj.setdefault("spec", {})
        default_pod_template(spec.setdefault("template", {}))
        if self.has_replicas and spec.get("replicas") is None:
            spec["replicas"] = 1

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_create(obj, ctx), *self.validate_spec(obj["spec"], may_compare(ctx))]
        if not errors:
            self.warn(obj, None, ctx)
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        spec, before = new["spec"], old["spec"]
        if spec != before:
            errors.extend(self.validate_spec(spec, may_compare(ctx, (before.get("template") or {}).get("spec"))))
        if self.selector_immutable:
            errors.extend(immutable("spec.selector", spec.get("selector"), before.get("selector")))
        if not errors:
            self.warn(new, old, ctx)
        return errors

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        status, before = new.get("status") or {}, old.get("status") or {}
        return [
            *super().validate_status(new, old, ctx),
            *validate_counts(status, "status", self.counted, self.ready),
            *_validate_collisions(status, before),
        ]

    def validate_spec(self, spec: JSON, comparing: bool) -> Errors:
        errors = validate_negatives(spec, ("replicas", "minReadySeconds", "revisionHistoryLimit"))
        wrong = self.validate_selector(spec)
        errors.extend(wrong)
        if any(error.field.startswith("spec.selector.") for error in wrong):
            # What it selects is not known: the template is not looked at.
            return [*errors, FieldError.invalid("spec.selector", spec["selector"], "invalid label selector")]
        errors.extend(validate_selected(spec.get("selector"), spec["template"]))
        return [
            *errors,
            *validate_lasting_template(spec["template"], "spec.template", self.kind, comparing=comparing),
        ]

    def validate_selector(self, spec: JSON) -> Errors:
        selector = spec.get("selector")
        if selector is None:
            return [FieldError.required("spec.selector")]
        errors = validate_label_selector(selector, "spec.selector")
        if not selector.get("matchLabels") and not selector.get("matchExpressions"):
            errors.append(FieldError.invalid("spec.selector", selector, f"empty selector is invalid for {self.word}"))
        return errors

    def warn(self, new: JSON, old: JSON | None, ctx: Context) -> None:
        """Warn the author of a valid object; `old` is the stored object, None if there was none."""
        if old is None:
            warn_of_name(new["metadata"]["name"], ctx)
        elif new["metadata"].get("generation") == old["metadata"].get("generation"):
            return
        warn_of_template(new["spec"]["template"], "spec.template", ctx)


def validate_negatives(spec: JSON, names: tuple[str, ...], path: str = "spec") -> Errors:
    """Check that none of the named numbers is below zero."""
    return [
        FieldError.invalid(f"{path}.{name}", spec[name], NOT_NEGATIVE) for name in names if (spec.get(name) or 0) < 0
    ]


def validate_counts(
    status: JSON, path: str, counted: tuple[tuple[str, str], ...] = (), ready: str = "readyReplicas"
) -> Errors:
    """Check the counts of a status, some of which are a part of others. `ready` is the name of
    readyReplicas in errors.
    """
    errors = [
        FieldError.invalid(f"{path}.{name}", value, NOT_NEGATIVE)
        for name, value in status.items()
        if isinstance(value, int) and value < 0
    ]
    for part, whole in counted:
        count = status.get(part, 0)
        if count > status.get(whole, 0):
            shown = ready if whole == "readyReplicas" else f"status.{whole}"
            errors.append(FieldError.invalid(f"{path}.{part}", count, f"cannot be greater than {shown}"))
    return errors


def _validate_collisions(status: JSON, before: JSON) -> Errors:
    """Check that the count of collisions (of the names of revisions) does not go down."""
    count, counted = status.get("collisionCount"), before.get("collisionCount")
    if counted is None or (count is not None and count >= counted):
        return []
    return [FieldError.invalid("status.collisionCount", count or 0, "cannot be decremented")]


REPLICAS = (
    ("readyReplicas", "replicas"),
    ("availableReplicas", "replicas"),
    ("availableReplicas", "readyReplicas"),
)


class Deployments(Workload):
    word = "deployment"
    kept_by_status = ("labels",)
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
        if new["metadata"].get("annotations") != old["metadata"].get("annotations"):
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
    if share(unavailable) == 0 and share(rolling["maxSurge"]) == 0:
        why = "may not be 0 when `maxSurge` is 0"
        errors.append(FieldError.invalid(f"{path}.maxUnavailable", unavailable, why))
    return [*errors, *validate_no_more_than_all(unavailable, f"{path}.maxUnavailable")]


def validate_share(value: int | str, path: str) -> Errors:
    """Check that a value is a number or a percentage."""
    if isinstance(value, str):
        if not _PERCENT.fullmatch(value):
            why = "a valid percent string must be a numeric string followed by an ending '%' "
            example = "(e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')"
            return [FieldError.invalid(path, value, why + example)]
        return []
    return [FieldError.invalid(path, value, NOT_NEGATIVE)] if value < 0 else []


def validate_no_more_than_all(value: int | str, path: str) -> Errors:
    """Check that a percentage is not above a hundred."""
    if isinstance(value, str) and share(value) > 100:
        return [FieldError.invalid(path, value, "must not be greater than 100%")]
    return []


def share(value: int | str) -> int:
    """Return the number that a number or a percentage stands for; 0 if the value is neither."""
    if isinstance(value, str):
        return int(value[:-1]) if _PERCENT.fullmatch(value) else 0
    return value


class ReplicaSets(Workload):
    word = "deployment"  # the real server's mistake
    counted = (("fullyLabeledReplicas", "replicas"), *REPLICAS)
