"""Pods: what the API server makes of one, what may change in it, and how it ends (`pkg/registry/core/pod`).

The single rules are in modules of their own: defaults, validation, what updates may change, admission.
"""

from __future__ import annotations

from typing import Any

from .. import metadata
from ..metadata import Errors
from ..strategy import Context, Strategy, keep, keep_all_but_status
from .limit_admission import default_to_limits
from .pod_admission import admit_changed_pod, admit_new_pod, check_overhead
from .pod_annotations import take_app_armor, validate_changed_annotations, validate_pod_annotations
from .pod_conditions import gated_condition
from .pod_debugging import keep_for_debugging, validate_debugging
from .pod_defaults import default_pod
from .pod_quality import quality_of_service
from .pod_resize import admit_resize, keep_for_resize, validate_resize
from .pod_status import default_status, keep_observed_generations, validate_status, warnings_of_addresses
from .pod_updates import validate_spec_change
from .pod_validation import validate_new_pod, validate_pod
from .pod_warnings import warnings_of
from .scheduling_keys import merge_label_keys
from .scheduling_validation import may_compare

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
        spec = obj.setdefault("spec", {})
        default_pod(obj)
        default_to_limits(obj, ctx)
        obj["metadata"]["generation"] = 1
        admit_new_pod(obj, ctx)
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
            check_overhead(obj, ctx)
            ctx.warnings.extend(warnings_of(obj))
        return errors

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        if ctx.subresource == "status":
            keep_all_but_status(new, old, self.kept_by_status)
            default_status(new.setdefault("status", {}), old.get("status", {}))
            keep_observed_generations(new["status"], old.get("status", {}))
            return
        new.setdefault("spec", {})
        default_pod(new)
        if ctx.subresource == "resize":
            keep_for_resize(new, old)
        elif ctx.subresource == "ephemeralcontainers":
            keep_for_debugging(new, old)
        admit_changed_pod(new, old, ctx)
        keep(new, old, "status")
        if new["spec"] != old["spec"]:
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if ctx.subresource in (None, "status"):
            errors += self._validate_annotations(new, old, ctx)
        if ctx.subresource == "status":
            errors += validate_status(new["status"], old)
            if not errors:
                ctx.warnings.extend(warnings_of_addresses(new["status"]))
            return errors
        errors += metadata.validate_new(new["metadata"], self.name_rule)
        if new["spec"] == old["spec"] and ctx.subresource != "resize":
            if annotations := new["metadata"].get("annotations"):  # the real server looks at them twice
                comparing = may_compare(ctx, old["spec"])
                where = "metadata.annotations"
                errors += validate_pod_annotations(annotations, new["spec"], where, comparing=comparing)
            return errors
        comparing = may_compare(ctx, old["spec"])
        errors += validate_pod(new, comparing=comparing)
        if ctx.subresource == "resize":
            errors += validate_resize(new, old)
            if not errors:
                admit_resize(new, old, ctx)
            return errors
        if ctx.subresource == "ephemeralcontainers":
            return [*errors, *validate_debugging(new["spec"], old["spec"])]
        return [*errors, *validate_spec_change(new["spec"], old["spec"], comparing=comparing)]

    def _validate_annotations(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        now, before = (each["metadata"].get("annotations") or {} for each in (new, old))
        if now == before:
            return []
        comparing = may_compare(ctx, old["spec"])
        errors = validate_changed_annotations(now, before)
        return errors + validate_pod_annotations(now, new["spec"], "metadata.annotations", comparing=comparing)

    def grace_period(self, obj: JSON, requested: int | None, ctx: Context) -> int:
        """Nothing to wait for where no kubelet has the pod, or where it has ended."""
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
            "status.podIPs": ",".join(address.get("ip", "") for address in status.get("podIPs") or ()),
            "status.nominatedNodeName": status.get("nominatedNodeName", ""),
        }
