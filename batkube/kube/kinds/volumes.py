"""Persistent volumes (`pkg/registry/core/persistentvolume`, `ValidatePersistentVolume` of Kubernetes)."""

from __future__ import annotations

from typing import Any

from .. import api_types
from ..metadata import Errors, immutable, problems
from ..names import dns_subdomain
from ..quantity import Quantity
from ..status import FieldError
from ..strategy import Context, Strategy
from . import resource_lists
from .mount_validation import validate_no_backsteps
from .scheduling_validation import validate_node_selector

JSON = dict[str, Any]

ACCESS_MODES = ("ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod")
VOLUME_MODES = ("Block", "Filesystem")

_PROTECTION = "kubernetes.io/pv-protection"
_RECLAIM_POLICIES = ("Delete", "Recycle", "Retain")
_STABLE_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}
"""What labels of nodes were called in beta, and are called now."""
_SOURCES = tuple(field.name for field in api_types.fields_of("core/v1.PersistentVolumeSource"))


class Volumes(Strategy):
    """Volumes. One that is deleted waits for its finalizer, which somebody takes away when no claim has it."""

    revalidates_metadata = True
    selectable_fields = frozenset(("name",))
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": ctx.now}
        _default(obj)
        if ctx.admits("StorageObjectInUseProtection"):
            protect(obj, _PROTECTION)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate(obj["spec"])

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        _default(new)
        if ctx.subresource == "status":
            _date_phase(new["status"], old.get("status") or {}, ctx.now)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if ctx.subresource == "status":
            return errors
        errors += _validate(new["spec"])
        before = old["spec"]
        if any(new["spec"].get(source) != before.get(source) for source in _SOURCES):
            why = "spec.persistentvolumesource is immutable after creation"
            errors.append(FieldError.forbidden("spec.persistentvolumesource", why))
        errors += immutable("volumeMode", new["spec"].get("volumeMode"), before.get("volumeMode"))
        affinity = before.get("nodeAffinity")
        if affinity is not None and not _same_nodes(new["spec"].get("nodeAffinity"), affinity):
            why = "field is immutable, except for updating from beta label to GA"
            errors.append(FieldError.invalid("nodeAffinity", new["spec"].get("nodeAffinity"), why))
        return errors

    def field_labels(self, obj: JSON) -> dict[str, str]:
        return {"name": obj["metadata"]["name"]}


def _same_nodes(new: JSON | None, old: JSON) -> bool:
    """The same affinity, but that labels may go by their stable names now."""
    terms = ((new or {}).get("required") or {}).get("nodeSelectorTerms") or []
    before = (old.get("required") or {}).get("nodeSelectorTerms") or []
    if new is None or len(terms) != len(before):
        return False
    for term, its in zip(terms, before, strict=True):
        for field in ("matchExpressions", "matchFields"):
            requirements, earlier = term.get(field) or [], its.get(field) or []
            if len(requirements) != len(earlier):
                return False
            for requirement, one in zip(requirements, earlier, strict=True):
                if requirement not in (one, {**one, "key": _STABLE_LABELS.get(one.get("key", ""))}):
                    return False
    return True


def protect(obj: JSON, finalizer: str) -> None:
    """The object stays, when it is deleted, until it is used no more (admission plugin
    StorageObjectInUseProtection).
    """
    finalizers = obj["metadata"].get("finalizers") or []
    if finalizer not in finalizers:
        obj["metadata"]["finalizers"] = [*finalizers, finalizer]


def validate_access_modes(modes: list[str], path: str, why_needed: str = "") -> Errors:
    """How volumes may be mounted."""
    errors: Errors = []
    if not modes:
        errors.append(FieldError.required(path, why_needed))
    errors += [FieldError.not_supported(path, mode, ACCESS_MODES) for mode in modes if mode not in ACCESS_MODES]
    if "ReadWriteOncePod" in modes and any(mode in ACCESS_MODES[:3] for mode in modes):
        errors.append(FieldError.forbidden(path, "may not use ReadWriteOncePod with other access modes"))
    return errors


def validate_storage(quantity: str, path: str) -> Errors:
    """Sizes are positive."""
    if Quantity.parse(quantity).value > 0:
        return []
    return [FieldError.invalid(path, quantity, "must be greater than zero")]


def _default(obj: JSON) -> None:
    spec = obj.setdefault("spec", {})
    resource_lists.round_up(spec.get("capacity"))
    if "hostPath" in spec:
        spec["hostPath"].setdefault("type", "")
    spec.setdefault("persistentVolumeReclaimPolicy", "Retain")
    spec.setdefault("volumeMode", "Filesystem")
    obj.setdefault("status", {}).setdefault("phase", "Pending")


def _date_phase(new: JSON, old: JSON, now: str) -> None:
    """A phase is dated with its beginning, where the client does not say it."""
    dated, before = new.get("lastPhaseTransitionTime"), old.get("lastPhaseTransitionTime")
    if new.get("phase") == old.get("phase"):
        if dated is None and before is not None:
            new["lastPhaseTransitionTime"] = before
    elif dated in (None, before):
        new["lastPhaseTransitionTime"] = now


def _validate(spec: JSON) -> Errors:
    errors = validate_access_modes(spec.get("accessModes") or [], "spec.accessModes")
    errors += _validate_capacity(spec.get("capacity"))
    policy = spec["persistentVolumeReclaimPolicy"]
    if policy not in _RECLAIM_POLICIES:
        errors.append(FieldError.not_supported("spec.persistentVolumeReclaimPolicy", policy, _RECLAIM_POLICIES))
    required = (spec.get("nodeAffinity") or {}).get("required")
    if spec.get("nodeAffinity") is not None:
        if required is None:
            why = "must specify required node constraints"
            errors.append(FieldError.required("spec.nodeAffinity.required", why))
        else:
            errors += validate_node_selector(required, "spec.nodeAffinity.required")
    sources = [source for source in _SOURCES if source in spec]
    for source in sources[1:]:
        errors.append(FieldError.forbidden(f"spec.{source}", "may not specify more than 1 volume type"))
    if not sources:
        errors.append(FieldError.required("spec", "must specify a volume type"))
    errors += _validate_source(spec, required is not None)
    storage_class = spec.get("storageClassName")
    if storage_class:
        errors += problems("spec.storageClassName", storage_class, dns_subdomain(storage_class))
    if spec["volumeMode"] not in VOLUME_MODES:
        errors.append(FieldError.not_supported("spec.volumeMode", spec["volumeMode"], VOLUME_MODES))
    return errors


def _validate_capacity(capacity: JSON | None) -> Errors:
    errors: Errors = []
    if not capacity:
        errors.append(FieldError.required("spec.capacity"))
    if not capacity or list(capacity) != ["storage"]:
        errors.append(FieldError.not_supported("spec.capacity", capacity, ("storage",)))
    for name, quantity in (capacity or {}).items():
        errors += validate_storage(quantity, f"spec.capacity[{name}]")
    return errors


def _validate_source(spec: JSON, has_affinity: bool) -> Errors:
    """Of the sources that a simulated cluster meets; drivers check the rest."""
    errors: Errors = []
    for source, field in (("hostPath", "path"), ("local", "path"), ("nfs", "server"), ("nfs", "path")):
        if source in spec and not spec[source].get(field):
            errors.append(FieldError.required(f"spec.{source}.{field}"))
    if path := (spec.get("hostPath") or {}).get("path"):
        errors += validate_no_backsteps(path, "spec.hostPath.path")
    if "local" in spec and not has_affinity:
        errors.append(FieldError.required("spec.nodeAffinity", "Local volume requires node affinity"))
    for field in ("driver", "volumeHandle"):
        if "csi" in spec and not spec["csi"].get(field):
            errors.append(FieldError.required(f"spec.csi.{field}"))
    recycled = spec["persistentVolumeReclaimPolicy"] == "Recycle"
    if recycled and (spec.get("hostPath") or {}).get("path") == "/":
        errors.append(
            FieldError.forbidden(
                "spec.persistentVolumeReclaimPolicy", "may not be 'recycle' for a hostPath mount of '/'"
            )
        )
    return errors
