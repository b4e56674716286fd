"""Daemon sets (`pkg/apis/apps`, `pkg/registry/apps/daemonset`)."""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors
from ...apimachinery.status import FieldError
from ...codec.conversion import TEMPLATE_GENERATION
from ...schema.internal_json import internal
from ..pods.templates import validate_lasting_template, validate_selected, warn_of_template
from ..strategy import Context
from .workloads import Workload, default_absent, share, validate_negatives, validate_no_more_than_all, validate_share

JSON = dict[str, Any]

_STRATEGIES = ("RollingUpdate", "OnDelete")


class DaemonSets(Workload):
    word = "daemonset"
    kind = "DaemonSet"
    has_replicas = False
    defaulted_metadata = ("annotations",)

    def default(self, obj: JSON) -> None:
        super().default(obj)
        spec = obj["spec"]
        strategy = spec.setdefault("updateStrategy", {})
        strategy["type"] = strategy.get("type") or "RollingUpdate"
        if strategy["type"] == "RollingUpdate":
            rolling = strategy.get("rollingUpdate") or {}
            default_absent(rolling, maxUnavailable=1, maxSurge=0)
            strategy["rollingUpdate"] = rolling
        elif strategy.get("rollingUpdate") is not None:
            default_absent(strategy["rollingUpdate"], maxUnavailable=0, maxSurge=0)
        default_absent(spec, revisionHistoryLimit=10)

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        given = _generation(obj, "")
        _annotate(obj, given if given.isdigit() and int(given) else "1")

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        generation = _generation(old)
        if new["spec"].get("template") != old["spec"].get("template"):
            generation = str(int(generation) + 1) if generation.isdigit() else "1"
        _annotate(new, generation)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_status(new, old, ctx)
        _annotate(new, _generation(old))

    def validate_spec(self, spec: JSON, comparing: bool) -> Errors:
        errors = self.validate_selector(spec) if spec.get("selector") is not None else []
        if not any(error.field.startswith("spec.selector.") for error in errors):
            errors.extend(validate_selected(spec.get("selector"), spec["template"]))
        errors.extend(validate_lasting_template(spec["template"], "spec.template", self.kind, comparing=comparing))
        errors.extend(validate_negatives(spec, ("minReadySeconds",)))
        strategy, path = spec["updateStrategy"], "spec.updateStrategy"
        if strategy["type"] not in _STRATEGIES:
            shown = internal("apps/v1.DaemonSetUpdateStrategy", strategy)
            errors.append(FieldError.not_supported(path, shown, _STRATEGIES))
        elif strategy["type"] == "RollingUpdate":
            errors.extend(_validate_rolling(strategy["rollingUpdate"], f"{path}.rollingUpdate"))
        return [*errors, *validate_negatives(spec, ("revisionHistoryLimit",))]

    def warn(self, new: JSON, old: JSON | None, ctx: Context) -> None:
        if old is None or new["spec"]["template"] != old["spec"]["template"]:
            warn_of_template(new["spec"]["template"], "spec.template", ctx)


def _generation(obj: JSON, absent: str = "0") -> str:
    """Return the number of times that the template has changed, as the annotation has it."""
    generation: str = (obj["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION, absent)
    return generation


def _annotate(obj: JSON, generation: str) -> None:
    annotations = obj["metadata"].get("annotations") or {}
    obj["metadata"]["annotations"] = {**annotations, TEMPLATE_GENERATION: generation}


def _validate_rolling(rolling: JSON, path: str) -> Errors:
    errors: Errors = []
    surge, unavailable = rolling["maxSurge"], rolling["maxUnavailable"]
    for name in ("maxUnavailable", "maxSurge"):
        errors.extend(validate_share(rolling[name], f"{path}.{name}"))
    if share(unavailable) != 0 and share(surge) != 0:
        errors.append(FieldError.invalid(f"{path}.maxSurge", surge, "may not be set when maxUnavailable is non-zero"))
    if share(unavailable) == 0 and share(surge) == 0:
        errors.append(FieldError.required(f"{path}.maxUnavailable", "cannot be 0 when maxSurge is 0"))
    for name in ("maxUnavailable", "maxSurge"):
        errors.extend(validate_no_more_than_all(rolling[name], f"{path}.{name}"))
    return errors
