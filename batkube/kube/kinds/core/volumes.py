"""Persistent volumes (`pkg/registry/core/persistentvolume`, `ValidatePersistentVolume` of Kubernetes)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...apimachinery.metadata import Errors, immutable
from ...apimachinery.status import FieldError
from ...schema.internal_json import differences
from ..node_labels import warnings_of_expressions
from ..strategy import Context, Strategy
from .volume_sources import SOURCES
from .volume_specs import default_volume_spec, validate_volume_spec

JSON = dict[str, Any]

_STABLE_LABELS = {
    "failure-domain.beta.kubernetes.io/zone": "topology.kubernetes.io/zone",
    "failure-domain.beta.kubernetes.io/region": "topology.kubernetes.io/region",
    "beta.kubernetes.io/os": "kubernetes.io/os",
    "beta.kubernetes.io/arch": "kubernetes.io/arch",
    "beta.kubernetes.io/instance-type": "node.kubernetes.io/instance-type",
}
"""The labels of nodes by their beta names, with the names that they have now."""
_ATTRIBUTES = "volumeAttributesClassName"
_MOUNT_OPTIONS = "volume.beta.kubernetes.io/mount-options"
_MOUNTABLE = (
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "nfs",
    "rbd",
    "quobyte",
    "iscsi",
    "cinder",
    "cephfs",
    "azureFile",
    "vsphereVolume",
    "azureDisk",
    "photonPersistentDisk",
)
_DEAD_ANNOTATIONS = {
    "volume.beta.kubernetes.io/storage-class": 'deprecated since v1.8; use "storageClassName" attribute instead',
    _MOUNT_OPTIONS: 'deprecated since v1.31; use "mountOptions" attribute instead',
}
_DEAD_SOURCES = {
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}


class Volumes(Strategy):
    """Rules of volumes. A deleted volume waits for its finalizer, which somebody removes when no claim has
    the volume.
    """

    answers_deleted_object = True
    revalidates_metadata = True
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj["status"] = {"phase": "Pending", "lastPhaseTransitionTime": ctx.now}
        _default(obj)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return self._warned(obj, ctx, super().validate_create(obj, ctx) + _validate(obj))

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        _default(new)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_status(new, old, ctx)
        _default(new)
        _date_phase(new["status"], old.get("status") or {}, ctx.now)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        errors += _validate(new)
        before = old["spec"]
        if any(_immutable_part(new["spec"], before, source) != before.get(source) for source in SOURCES):
            changed = differences("core/v1.PersistentVolumeSource", before, new["spec"])
            why = f"spec.persistentvolumesource is immutable after creation\n{changed}"
            errors.append(FieldError.forbidden("spec.persistentvolumesource", why))
        errors += immutable("volumeMode", new["spec"].get("volumeMode"), before.get("volumeMode"))
        affinity = before.get("nodeAffinity")
        if affinity is not None and not _same_nodes(new["spec"].get("nodeAffinity"), affinity):
            why = "field is immutable, except for updating from beta label to GA"
            errors.append(FieldError.invalid("nodeAffinity", new["spec"].get("nodeAffinity"), why))
        if before.get(_ATTRIBUTES) is not None and new["spec"].get(_ATTRIBUTES) is None:
            why = "update from non-nil value to nil is forbidden"
            errors.append(FieldError.forbidden(f"spec.{_ATTRIBUTES}", why))
        return self._warned(new, ctx, errors)

    @staticmethod
    def _warned(obj: JSON, ctx: Context, errors: Errors) -> Errors:
        if not errors:
            ctx.warnings.extend(_warnings_of(obj))
        return errors


def _immutable_part(spec: JSON, before: JSON, source: str) -> JSON | None:
    """Return the part of a source that may not change. One secret of a CSI volume may still be set."""
    value: JSON | None = spec.get(source)
    secret = "controllerExpandSecretRef"
    if source == "csi" and value is not None and before.get(source) is not None and secret not in before[source]:
        return {field: content for field, content in value.items() if field != secret}
    return value


def _same_nodes(new: JSON | None, old: JSON) -> bool:
    """Return True if the affinity is the same, where labels may have changed to their stable names."""
    terms = ((new or {}).get("required") or {}).get("nodeSelectorTerms") or []
    before = (old.get("required") or {}).get("nodeSelectorTerms") or []
    if new is None or len(terms) != len(before):
        return False
    for term, earlier_term in zip(terms, before, strict=True):
        for field in ("matchExpressions", "matchFields"):
            requirements, earlier = term.get(field) or [], earlier_term.get(field) or []
            if len(requirements) != len(earlier):
                return False
            for requirement, one in zip(requirements, earlier, strict=True):
                stable = {**one, "key": _STABLE_LABELS.get(one.get("key", ""), "")}
                if requirement != one and {"key": "", **requirement} != stable:
                    return False
    return True


def _default(obj: JSON) -> None:
    spec = obj.setdefault("spec", {})
    default_volume_spec(spec)
    spec["persistentVolumeReclaimPolicy"] = spec.get("persistentVolumeReclaimPolicy") or "Retain"
    spec.setdefault("volumeMode", "Filesystem")
    obj.setdefault("status", {}).setdefault("phase", "Pending")


def _date_phase(new: JSON, old: JSON, now: str) -> None:
    """Set the time at which a phase began, if the client does not give it."""
    dated, before = new.get("lastPhaseTransitionTime"), old.get("lastPhaseTransitionTime")
    if new.get("phase") == old.get("phase"):
        if dated is None and before is not None:
            new["lastPhaseTransitionTime"] = before
    elif dated in (None, before):
        new["lastPhaseTransitionTime"] = now


def _validate(obj: JSON) -> Errors:
    spec = obj["spec"]
    errors = validate_volume_spec(spec, "spec", obj["metadata"]["name"])
    options = f"metadata.annotations.{_MOUNT_OPTIONS}"
    if _MOUNT_OPTIONS in (obj["metadata"].get("annotations") or {}) and not any(spec.get(name) for name in _MOUNTABLE):
        errors.append(FieldError.forbidden(options, "may not specify mount options for this volume type"))
    return errors


def _warnings_of(obj: JSON) -> Iterator[str]:
    spec, annotations = obj["spec"], obj["metadata"].get("annotations") or {}
    for key, why in _DEAD_ANNOTATIONS.items():
        if key in annotations:
            yield f"metadata.annotations[{key}]: {why}"
    if spec["persistentVolumeReclaimPolicy"] == "Recycle":
        yield (
            "spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended "
            "approach is to use dynamic provisioning."
        )
    terms = ((spec.get("nodeAffinity") or {}).get("required") or {}).get("nodeSelectorTerms") or ()
    for index, term in enumerate(terms):
        at = f"spec.nodeAffinity.required.nodeSelectorTerms[{index}]"
        yield from warnings_of_expressions(term.get("matchExpressions") or [], at)
    for source, why in _DEAD_SOURCES.items():
        if spec.get(source) is not None:
            yield f"spec.{'storageOS' if source == 'storageos' else source}: {why}"
