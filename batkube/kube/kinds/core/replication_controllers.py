"""Replication controllers (`pkg/registry/core/replicationcontroller`)."""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors
from ...apimachinery.status import FieldError
from ..apps.workloads import REPLICAS, Workload, validate_negatives
from ..pods.defaults import default_pod_template
from ..pods.templates import validate_lasting_template, validate_selected
from ..strategy import Context

JSON = dict[str, Any]


class ReplicationControllers(Workload):
    validates_prefix = False
    word = "replicationcontroller"
    kind = "ReplicationController"
    counted = (("fullyLabeledReplicas", "replicas"), *REPLICAS)
    selector_immutable = False
    orphans_by_default = True
    defaulted_metadata = ("labels",)
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

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        self.default(new)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_status(new, old, ctx)
        self.default(new)  # what is stored is read again

    def validate_spec(self, spec: JSON, comparing: bool) -> Errors:
        errors = validate_negatives(spec, ("minReadySeconds",))
        selector, template = spec.get("selector"), spec.get("template")
        if not selector:
            errors.append(FieldError.required("spec.selector"))
        errors.extend(validate_negatives(spec, ("replicas",)))
        if template is None:
            return [*errors, FieldError.required("spec.template")]
        if selector:
            errors.extend(validate_selected({"matchLabels": selector}, template))
        return [*errors, *validate_lasting_template(template, "spec.template", self.kind, comparing=comparing)]

    def warn(self, new: JSON, old: JSON | None, ctx: Context) -> None:
        # On an update the real server looks at the template that was there before.
        super().warn(new, old, ctx) if old is None else super().warn({**new, "spec": old["spec"]}, old, ctx)

    def field_labels(self, obj: JSON) -> dict[str, str]:
        return {"status.replicas": str((obj.get("status") or {}).get("replicas", 0))}
