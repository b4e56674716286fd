"""Pods: their creation, changes and end (`pkg/registry/core/pod`).

The single rules are in modules of their own: defaults, validation, allowed updates.
"""

from __future__ import annotations

from typing import Any

from ...apimachinery import metadata
from ...apimachinery.metadata import Errors
from ..strategy import Context, Strategy, keep
from .annotations import take_app_armor, validate_changed_annotations, validate_pod_annotations
from .conditions import gated_condition
from .debugging import keep_for_debugging, validate_debugging
from .defaults import default_pod
from .quality import quality_of_service
from .resize import keep_for_resize, validate_resize
from .scheduling_keys import merge_label_keys
from .scheduling_validation import may_compare
from .status import (
    default_status,
    keep_observed_generations,
    keep_start_fraction,
    validate_status,
    warnings_of_addresses,
)
from .updates import validate_spec_change
from .validation import validate_new_pod, validate_pod
from .warnings import warnings_of

JSON = dict[str, Any]

PODS = "pods"
ENDED = ("Succeeded", "Failed")
_HOST = "spec.host"  # what spec.nodeName was called long ago


class Pods(Strategy):
    """Rules of pods."""

    indexed_field = "spec.nodeName"
    set_by_admission = frozenset(("spec.priority", "spec.preemptionPolicy", "spec.tolerations"))
    selectable_fields = frozenset(
        (
            _HOST,
            "spec.nodeName",
            "spec.schedulerName",
            "spec.restartPolicy",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.podIPs",
            "status.nominatedNodeName",
        )
    )
    answers_deleted_object = True
    kept_by_status = ("ownerReferences", "deletionTimestamp")

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj.setdefault("spec", {})
        default_pod(obj)
        obj["metadata"]["generation"] = 1

    def complete(self, obj: JSON, old: JSON | None, ctx: Context) -> None:
        """Set what follows from the spec that admission made: quality of service, conditions, generation."""
        if old is None:
            self._complete_new(obj, ctx)
            return
        keep(obj, old, "status")
        if obj["spec"] != old["spec"]:
            obj["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def complete_status(self, obj: JSON, old: JSON, ctx: Context) -> None:
        """Do nothing: admission has not changed the spec."""

    @staticmethod
    def _complete_new(obj: JSON, ctx: Context) -> None:
        spec = obj["spec"]
        quality = (obj.get("status") or {}).get("qosClass")  # is taken as it is sent
        obj["status"] = {"phase": "Pending"}
        if spec.get("schedulingGates"):
            obj["status"]["conditions"] = [gated_condition(ctx.now)]
        obj["status"]["qosClass"] = quality or quality_of_service(spec)
        take_app_armor(obj, ctx.warnings)
        if spec.get("affinity") or spec.get("topologySpreadConstraints"):
            merge_label_keys(spec, obj["metadata"].get("labels") or {})

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_create(obj, ctx), *validate_new_pod(obj, comparing=may_compare(ctx))]
        if not errors:
            ctx.warnings.extend(warnings_of(obj))
        return errors

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        new.setdefault("spec", {})
        default_pod(new)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_status(new, old, ctx)
        default_status(new.setdefault("status", {}), old.get("status", {}))
        keep_observed_generations(new["status"], old.get("status", {}))
        keep_start_fraction(new["status"], old.get("status", {}))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx) + self._validate_annotations(new, old, ctx)
        errors += metadata.validate_new(new["metadata"], self.name_rule)
        comparing = may_compare(ctx, old["spec"])
        if new["spec"] == old["spec"]:
            return errors + _validate_annotations_again(new, comparing=comparing)
        errors += validate_pod(new, comparing=comparing)
        return errors + validate_spec_change(new["spec"], old["spec"], comparing=comparing)

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_status(new, old, ctx) + self._validate_annotations(new, old, ctx)
        errors += validate_status(new["status"], old)
        if not errors:
            ctx.warnings.extend(warnings_of_addresses(new["status"]))
        return errors

    def _validate_annotations(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        now, before = (each["metadata"].get("annotations") or {} for each in (new, old))
        if now == before:
            return []
        comparing = may_compare(ctx, old["spec"])
        errors = validate_changed_annotations(now, before)
        return errors + validate_pod_annotations(now, new["spec"], "metadata.annotations", comparing=comparing)

    def grace_period(self, obj: JSON, requested: int | None, ctx: Context) -> int:
        """Return the seconds to wait: 0 if no kubelet has the pod, or if the pod has ended."""
        if not obj["spec"].get("nodeName") or obj.get("status", {}).get("phase") in ENDED:
            return 0
        seconds = requested if requested is not None else obj["spec"].get("terminationGracePeriodSeconds", 0)
        return 1 if seconds < 0 else int(seconds)

    def selectable_field(self, name: str, api_version: str) -> str | None:
        return "spec.nodeName" if name == _HOST else super().selectable_field(name, api_version)

    def field_labels(self, obj: JSON) -> dict[str, str]:
        spec, status = obj["spec"], obj.get("status", {})
        return {
            "spec.nodeName": spec.get("nodeName", ""),
            "spec.schedulerName": spec.get("schedulerName", ""),
            "spec.restartPolicy": spec.get("restartPolicy", ""),
            "spec.serviceAccountName": spec.get("serviceAccountName", ""),
            "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
            "status.phase": status.get("phase", ""),
            "status.podIP": status.get("podIP", ""),
            "status.nominatedNodeName": status.get("nominatedNodeName", ""),
        }


class Resize(Pods):
    """The rules of `/resize`."""

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        keep_for_resize(new, old)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = Strategy.validate_update(self, new, old, ctx)
        errors += metadata.validate_new(new["metadata"], self.name_rule)
        errors += validate_pod(new, comparing=may_compare(ctx, old["spec"]))
        return errors + validate_resize(new, old)


class EphemeralContainers(Pods):
    """The rules of `/ephemeralcontainers`."""

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        keep_for_debugging(new, old)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = Strategy.validate_update(self, new, old, ctx)
        errors += metadata.validate_new(new["metadata"], self.name_rule)
        comparing = may_compare(ctx, old["spec"])
        if new["spec"] == old["spec"]:
            return errors + _validate_annotations_again(new, comparing=comparing)
        return errors + validate_pod(new, comparing=comparing) + validate_debugging(new["spec"], old["spec"])


def _validate_annotations_again(pod: JSON, *, comparing: bool) -> Errors:
    """Check the annotations of a pod whose spec is as it was: the real server looks at them twice."""
    annotations = pod["metadata"].get("annotations")
    if not annotations:
        return []
    return validate_pod_annotations(annotations, pod["spec"], "metadata.annotations", comparing=comparing)
