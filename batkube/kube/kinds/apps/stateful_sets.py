"""Stateful sets (`pkg/apis/apps`, `pkg/registry/apps/statefulset`)."""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors, problems, validate_annotations, validate_labels
from ...apimachinery.names import dns_label
from ...apimachinery.status import FieldError
from ...schema.internal_json import internal
from ..core.volume_claims import claim_warnings, validate_claim_spec
from ..pods.scheduling_validation import may_compare
from ..pods.templates import validate_lasting, validate_selected, validate_template, warn_of_template
from ..resource_lists import round_up
from ..strategy import Context, Strategy
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
    word = "statefulset"
    kind = "StatefulSet"
    ready = "status.readyReplicas"
    counted = (("currentReplicas", "replicas"), ("updatedReplicas", "replicas"), *REPLICAS)
    name_rule = staticmethod(dns_label)
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
            default_absent(claim_spec, volumeMode="Filesystem")
            for which in ("limits", "requests"):
                round_up((claim_spec.get("resources") or {}).get(which))
            status = claim.setdefault("status", {})
            status["phase"] = status.get("phase") or "Pending"

    def validate_spec(self, spec: JSON, comparing: bool) -> Errors:
        return self._validate(spec, comparing, created=True)

    def _validate(self, spec: JSON, comparing: bool, *, created: bool) -> Errors:
        """Check all fields, or all but those that stay as they were when the object was created."""
        errors: Errors = []
        if spec["podManagementPolicy"] not in ("OrderedReady", "Parallel"):
            why = "must be 'OrderedReady' or 'Parallel'"
            errors.append(FieldError.invalid("spec.podManagementPolicy", spec["podManagementPolicy"], why))
        errors.extend(_validate_strategy(spec["updateStrategy"]))
        where = "spec.persistentVolumeClaimRetentionPolicy"
        for name in ("whenDeleted", "whenScaled"):
            policy = spec["persistentVolumeClaimRetentionPolicy"][name]
            if policy not in ("Retain", "Delete"):
                errors.append(FieldError.not_supported(f"{where}.{name}", policy, ("Retain", "Delete")))
        for index, claim in enumerate(spec.get("volumeClaimTemplates") or ()) if created else ():
            errors.extend(validate_claim_spec(claim["spec"], f"spec.volumeClaimTemplates[{index}].spec"))
        errors.extend(validate_negatives(spec, ("replicas", "minReadySeconds")))
        errors.extend(validate_negatives(spec.get("ordinals") or {}, ("start",), "spec.ordinals"))
        if created and (service := spec.get("serviceName")):
            errors.extend(problems("spec.serviceName", service, dns_label(service)))
        wrong = self.validate_selector(spec)
        errors.extend(wrong)
        if any(error.field.startswith("spec.selector.") for error in wrong):
            errors.append(FieldError.invalid("spec.selector", spec["selector"], ""))
        else:
            template = _template_of_pods(spec)
            errors.extend(validate_selected(spec.get("selector"), template))
            errors.extend(validate_template(template, "spec.template", comparing=comparing))
            # The real server looks at these twice.
            metadata = template.get("metadata") or {}
            errors.extend(validate_labels(metadata.get("labels") or {}, "spec.template.labels"))
            errors.extend(validate_annotations(metadata.get("annotations") or {}, "spec.template.annotations"))
        return [*errors, *validate_lasting(spec["template"]["spec"], "spec.template.spec", self.kind)]

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = Strategy.validate_update(self, new, old, ctx)
        spec, before = new["spec"], old["spec"]
        if spec != before:
            errors.extend(self._validate(spec, may_compare(ctx, before["template"]["spec"]), created=False))
        fixed = [{key: value for key, value in each.items() if key not in _MUTABLE} for each in (spec, before)]
        if fixed[0] != fixed[1]:
            names = ", ".join(f"'{name}'" for name in _MUTABLE[:-1]) + f" and '{_MUTABLE[-1]}'"
            why = f"updates to statefulset spec for fields other than {names} are forbidden"
            errors.append(FieldError.forbidden("spec", why))
        if not errors:
            self.warn(new, old, ctx)
        return errors

    def warn(self, new: JSON, old: JSON | None, ctx: Context) -> None:
        if old is None or new["metadata"].get("generation") != old["metadata"].get("generation"):
            warn_of_template(new["spec"]["template"], "spec.template", ctx)
        for index, claim in enumerate(new["spec"].get("volumeClaimTemplates") or ()):
            # The real server's paths differ between the two.
            path = f"spec.volumeClaimTemplates[{index}]" + (".Spec" if old is not None else "")
            ctx.warnings.extend(claim_warnings(claim["spec"], path))
        if new["spec"]["revisionHistoryLimit"] < 0:
            ctx.warnings.append(
                "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is "
                "recommended"
            )


def _validate_strategy(strategy: JSON) -> Errors:
    path, rolling = "spec.updateStrategy", strategy.get("rollingUpdate")
    if strategy["type"] not in ("RollingUpdate", "OnDelete"):
        shown = internal("apps/v1.StatefulSetUpdateStrategy", strategy)
        return [FieldError.invalid(path, shown, "must be 'RollingUpdate' or 'OnDelete'")]
    if rolling is None:
        return []
    if strategy["type"] == "OnDelete":
        shown = internal("apps/v1.RollingUpdateStatefulSetStrategy", rolling)
        why = "only allowed for updateStrategy 'RollingUpdate'"
        return [FieldError.invalid(f"{path}.rollingUpdate", shown, why)]
    return validate_negatives(rolling, ("partition",), f"{path}.rollingUpdate")


def _template_of_pods(spec: JSON) -> JSON:
    """Return the template with what the controller sets in each pod: its own name, and volumes for its claims."""
    template = spec["template"]
    pod = {key: value for key, value in template["spec"].items() if key not in ("hostname", "subdomain")}
    names = [(claim.get("metadata") or {}).get("name", "") for claim in spec.get("volumeClaimTemplates") or ()]
    if names:
        claimed = [{"name": name, "persistentVolumeClaim": {"claimName": name}} for name in dict.fromkeys(names)]
        pod["volumes"] = claimed + [each for each in pod.get("volumes") or () if each.get("name") not in names]
    return {**template, "spec": pod}
