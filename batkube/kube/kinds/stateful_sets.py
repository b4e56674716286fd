"""Stateful sets (`pkg/apis/apps`, `pkg/registry/apps/statefulset`)."""

from __future__ import annotations

from typing import Any

from ..internal_json import internal
from ..metadata import Errors, problems
from ..names import dns_label
from ..status import FieldError
from ..strategy import Context
from .resource_lists import round_up
from .workloads import REPLICAS, Workload, default_absent, validate_negatives

JSON = dict[str, Any]

_MUTABLE = (
    "replicas",
    "ordinals",
    "template",
    "updateStrategy",
    "revisionHistoryLimit",
    "persistentVolumeClaimRetentionPolicy",
    "minReadySeconds",
)


class StatefulSets(Workload):
    revalidates_metadata = True
    word = "statefulset"
    kind = "StatefulSet"
    counted = (("currentReplicas", "replicas"), ("updatedReplicas", "replicas"), *REPLICAS)
    selector_immutable = False  # a case of its own error

    def default(self, obj: JSON) -> None:
        super().default(obj)
        spec = obj["spec"]
        spec["podManagementPolicy"] = spec.get("podManagementPolicy") or "OrderedReady"
        strategy = spec.setdefault("updateStrategy", {})
        if not strategy.get("type"):
            strategy["type"] = "RollingUpdate"
            strategy.setdefault("rollingUpdate", {})
        if strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate") is not None:
            default_absent(strategy["rollingUpdate"], partition=0)
            strategy["rollingUpdate"].pop("maxUnavailable", None)  # of a feature that is off
        policy = spec.get("persistentVolumeClaimRetentionPolicy") or {}
        for name in ("whenDeleted", "whenScaled"):
            policy[name] = policy.get(name) or "Retain"
        spec["persistentVolumeClaimRetentionPolicy"] = policy
        default_absent(spec, revisionHistoryLimit=10)
        for claim in spec.get("volumeClaimTemplates") or ():
            claim["kind"], claim["apiVersion"] = "PersistentVolumeClaim", "v1"
            claim_spec = claim.setdefault("spec", {})
            claim_spec["volumeMode"] = claim_spec.get("volumeMode") or "Filesystem"
            for which in ("limits", "requests"):
                round_up((claim_spec.get("resources") or {}).get(which))
            claim["status"] = {"phase": "Pending"}

    def validate_spec(self, spec: JSON, comparing: bool) -> Errors:
        errors = super().validate_spec(spec, comparing)
        if spec["podManagementPolicy"] not in ("OrderedReady", "Parallel"):
            why = "must be 'OrderedReady' or 'Parallel'"
            errors.append(FieldError.invalid("spec.podManagementPolicy", spec["podManagementPolicy"], why))
        strategy = spec["updateStrategy"]
        if strategy["type"] not in ("RollingUpdate", "OnDelete"):
            why = "must be 'RollingUpdate' or 'OnDelete'"
            errors.append(
                FieldError.invalid("spec.updateStrategy", internal("apps/v1.StatefulSetUpdateStrategy", strategy), why)
            )
        elif strategy["type"] == "RollingUpdate" and strategy.get("rollingUpdate"):
            where = "spec.updateStrategy.rollingUpdate"
            errors.extend(validate_negatives(strategy["rollingUpdate"], ("partition",), where))
        where = "spec.persistentVolumeClaimRetentionPolicy"
        for name, policy in spec["persistentVolumeClaimRetentionPolicy"].items():
            if policy not in ("Retain", "Delete"):
                errors.append(FieldError.not_supported(f"{where}.{name}", policy, ("Retain", "Delete")))
        errors.extend(validate_negatives(spec.get("ordinals") or {}, ("start",), "spec.ordinals"))
        if name := spec.get("serviceName"):
            errors.extend(problems("spec.serviceName", name, dns_label(name)))
        for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()):
            errors.extend(_validate_claim_template(claim, f"spec.volumeClaimTemplates[{index}].spec"))
        return [error for error in errors if error.field != "spec.revisionHistoryLimit"]

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if ctx.subresource == "status":
            return errors
        fixed = [{key: value for key, value in obj["spec"].items() if key not in _MUTABLE} for obj in (new, old)]
        if fixed[0] != fixed[1]:
            names = ", ".join(f"'{name}'" for name in _MUTABLE[:-1]) + f" and '{_MUTABLE[-1]}'"
            why = f"updates to statefulset spec for fields other than {names} are forbidden"
            errors.append(FieldError.forbidden("spec", why))
        return errors


def _validate_claim_template(claim: JSON, path: str) -> Errors:
    errors: Errors = []
    spec = claim.get("spec") or {}
    if not spec.get("accessModes"):
        errors.append(FieldError.required(f"{path}.accessModes", "at least 1 access mode is required"))
    if "storage" not in ((spec.get("resources") or {}).get("requests") or {}):
        errors.append(FieldError.required(f"{path}.resources[storage]"))
    return errors
