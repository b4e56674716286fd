"""Volumes of a pod (`ValidateVolumes` in `pkg/apis/core/validation/validation.go`)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import dns_label, dns_subdomain
from ...apimachinery.quantity import Quantity
from ...apimachinery.status import FieldError
from ..core.volume_claims import validate_claim_spec
from ..core.volume_sources import validate_pod_source
from ..published import validate_field, validate_required
from ..template_metadata import validate_template_metadata
from .env_validation import validate_field_reference, validate_resource_reference
from .mount_validation import validate_inner_path

JSON = dict[str, Any]

_DOWNWARD_FIELDS = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
# The sources in the order in which the real server looks at them: only the first of several is looked into.
_ORDER = (
    "emptyDir",
    "hostPath",
    "gitRepo",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "secret",
    "nfs",
    "iscsi",
    "glusterfs",
    "flocker",
    "persistentVolumeClaim",
    "rbd",
    "cinder",
    "cephfs",
    "quobyte",
    "downwardAPI",
    "fc",
    "flexVolume",
    "configMap",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "storageos",
    "projected",
    "scaleIO",
    "csi",
    "ephemeral",
    "image",
)
# Sources that only pods have, and their types.
_OWN = {
    "configMap": "core/v1.ConfigMapVolumeSource",
    "csi": "core/v1.CSIVolumeSource",
    "downwardAPI": "core/v1.DownwardAPIVolumeSource",
    "emptyDir": "core/v1.EmptyDirVolumeSource",
    "ephemeral": "core/v1.EphemeralVolumeSource",
    "gitRepo": "core/v1.GitRepoVolumeSource",
    "image": "core/v1.ImageVolumeSource",
    "persistentVolumeClaim": "core/v1.PersistentVolumeClaimVolumeSource",
    "projected": "core/v1.ProjectedVolumeSource",
    "secret": "core/v1.SecretVolumeSource",
}
_OTHER_NAMES = {"cephfs": "cephFS", "downwardAPI": "downwarAPI"}  # as the real server writes them in this one error


def validate_volumes(volumes: list[JSON], path: str, pod_name: str = "") -> tuple[Errors, dict[str, JSON]]:
    """Return the errors in the volumes of a pod spec, and the valid volumes by name."""
    errors: Errors = []
    right: dict[str, JSON] = {}
    created = {f"{pod_name}-{volume.get('name', '')}" for volume in volumes if "ephemeral" in volume}
    for index, volume in enumerate(volumes):
        where, name = f"{path}[{index}]", volume.get("name", "")
        wrong = _validate_source(volume, where)
        if not name:
            wrong.append(FieldError.required(f"{where}.name"))
        else:
            wrong.extend(problems(f"{where}.name", name, dns_label(name)))
        if name in right:
            wrong.append(FieldError.duplicate(f"{where}.name", name))
        if wrong:
            errors.extend(wrong)
        else:
            right[name] = volume
        claim = (volume.get("persistentVolumeClaim") or {}).get("claimName", "")
        if pod_name and claim and claim in created:
            why = "must not reference a PVC that gets created for an ephemeral volume"
            errors.append(FieldError.invalid(f"{where}.persistentVolumeClaim.claimName", claim, why))
    return errors, right


def validate_tokens(volumes: list[JSON], path: str) -> Errors:
    """Check that a pod without a service account mounts no token."""
    return [
        FieldError.forbidden(
            f"{path}[{index}].projected.sources[{at}].serviceAccountToken",
            "must not be specified when serviceAccountName is not set",
        )
        for index, volume in enumerate(volumes)
        for at, source in enumerate((volume.get("projected") or {}).get("sources") or ())
        if source.get("serviceAccountToken") is not None
    ]


def _validate_source(volume: JSON, path: str) -> Errors:
    sources = [name for name in _ORDER if volume.get(name) is not None]
    if not sources:
        return [FieldError.required(path, "must specify a volume type")]
    name, source = sources[0], volume[sources[0]]
    if (of := _OWN.get(name)) is None:
        errors = validate_pod_source(name, source, path)
    else:
        errors = validate_required(of, source, f"{path}.{name}")
        if (check := _CHECKS.get(name)) is not None:
            errors.extend(check(source, f"{path}.{name}"))
    errors.extend(
        FieldError.forbidden(f"{path}.{_OTHER_NAMES.get(extra, extra)}", "may not specify more than 1 volume type")
        for extra in sources[1:]
    )
    return errors


def _validate_empty_dir(source: JSON, path: str) -> Errors:
    limit = source.get("sizeLimit")
    if limit is not None and Quantity.parse(limit).value < 0:
        return [FieldError.forbidden(f"{path}.sizeLimit", "SizeLimit field must be a valid resource quantity")]
    return []


def _validate_config_map(source: JSON, path: str) -> Errors:
    errors = [] if source.get("name") else [FieldError.required(f"{path}.name")]
    return errors + _validate_keys(source, path)


def _validate_secret(source: JSON, path: str) -> Errors:
    errors = [] if source.get("secretName") else [FieldError.required(f"{path}.secretName")]
    return errors + _validate_keys(source, path)


def _validate_keys(source: JSON, path: str) -> Errors:
    return [*_validate_mode(source, "defaultMode", path), *_validate_items(source.get("items") or [], f"{path}.items")]


def _validate_downward(source: JSON, path: str) -> Errors:
    errors = _validate_mode(source, "defaultMode", path)
    for item in source.get("items") or ():
        errors.extend(_validate_file(item, path))
    return errors


def _validate_file(item: JSON, path: str) -> Errors:
    """Check a file that contains a field of the pod. (The real server does not say which item is wrong.)"""
    errors = _validate_place("core/v1.DownwardAPIVolumeFile", item, path)
    field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
    if field is not None:
        errors.extend(validate_field_reference(field, f"{path}.fieldRef", _DOWNWARD_FIELDS))
        if resource is not None:
            why = "fieldRef and resourceFieldRef can not be specified simultaneously"
            errors.append(FieldError.invalid(path, "resource", why))
    elif resource is not None:
        errors.extend(validate_resource_reference(resource, f"{path}.resourceFieldRef", of_volume=True))
    else:
        errors.append(FieldError.required(path, "one of fieldRef and resourceFieldRef is required"))
    return [*errors, *_validate_mode(item, "mode", path)]


def _validate_mode(source: JSON, field: str, path: str) -> Errors:
    mode = source.get(field)
    if mode is None or 0 <= mode <= 0o777:
        return []
    why = "must be a number between 0 and 0777 (octal), both inclusive"
    return [FieldError.invalid(f"{path}.{field}", mode, why)]


def _validate_items(items: list[JSON], path: str) -> Errors:
    errors: Errors = []
    for index, item in enumerate(items):
        where = f"{path}[{index}]"
        errors.extend(validate_field("core/v1.KeyToPath", item, "key", where))
        errors.extend(_validate_place("core/v1.KeyToPath", item, where))
        errors.extend(_validate_mode(item, "mode", where))
    return errors


def _validate_place(type_name: str, item: JSON, path: str) -> Errors:
    return validate_field(type_name, item, "path", path) or _validate_local(item["path"], f"{path}.path")


def _validate_local(place: str, path: str) -> Errors:
    errors = validate_inner_path(place, path)
    if place.startswith("..") and not place.startswith("../"):
        errors.append(FieldError.invalid(path, place, "must not start with '..'"))
    return errors


def _validate_projected(source: JSON, path: str) -> Errors:
    errors = _validate_mode(source, "defaultMode", path)
    taken: set[str] = set()

    def place(at: str, shown: str) -> None:
        if at and at in taken:
            errors.append(FieldError.invalid(path, shown, "conflicting duplicate paths"))
        taken.add(at)

    for index, projection in enumerate(source.get("sources") or ()):
        where = f"{path}.sources[{index}]"
        for kind in ("secret", "configMap"):
            if (inner := projection.get(kind)) is not None:
                if not inner.get("name"):
                    errors.append(FieldError.required(f"{where}.{kind}.name"))
                errors.extend(_validate_items(inner.get("items") or [], f"{where}.{kind}.items"))
                for item in inner.get("items") or ():
                    place(item.get("path", ""), inner.get("name", ""))
        if (inner := projection.get("downwardAPI")) is not None:
            for item in inner.get("items") or ():
                errors.extend(_validate_file(item, f"{where}.downwardAPI"))
                place(item.get("path", ""), item.get("path", ""))
        if (token := projection.get("serviceAccountToken")) is not None:
            errors.extend(_validate_token(token, f"{where}.serviceAccountToken", path))
        if sum(value is not None for value in projection.values()) > 1:
            errors.append(FieldError.forbidden(where, "may not specify more than 1 volume type per source"))
    return errors


def _validate_token(token: JSON, path: str, volume_path: str) -> Errors:
    errors: Errors = []
    seconds = token.get("expirationSeconds", 0)
    if seconds < 600:
        why = "may not specify a duration less than 10 minutes"
        errors.append(FieldError.invalid(f"{path}.expirationSeconds", seconds, why))
    if seconds > 1 << 32:
        why = "may not specify a duration larger than 2^32 seconds"
        errors.append(FieldError.invalid(f"{path}.expirationSeconds", seconds, why))
    # The real server names the volume here, not the source.
    return [*errors, *_validate_place("core/v1.ServiceAccountTokenProjection", token, volume_path)]


def _validate_csi(source: JSON, path: str) -> Errors:
    errors: Errors = []
    driver = source.get("driver", "")
    if len(driver) > 63:
        errors.append(FieldError.too_long(f"{path}.driver", 63))
    if driver:
        errors.extend(problems(f"{path}.driver", driver, dns_subdomain(driver.lower())))
    reference = source.get("nodePublishSecretRef")
    if reference is None:
        return errors
    name = reference.get("name", "")
    if not name:
        return [*errors, FieldError.required(f"{path}.nodePublishSecretRef.name")]
    return [*errors, *problems(f"{path}.name", name, dns_subdomain(name))]


def _validate_ephemeral(source: JSON, path: str) -> Errors:
    template = source.get("volumeClaimTemplate")
    if template is None:
        return [FieldError.required(f"{path}.volumeClaimTemplate")]
    where = f"{path}.volumeClaimTemplate"
    errors = validate_template_metadata(template.get("metadata") or {}, f"{where}.metadata")
    return [*errors, *validate_claim_spec(template.get("spec") or {}, f"{where}.spec")]


def _validate_image(source: JSON, path: str) -> Errors:
    errors: Errors = []
    if not source.get("reference"):
        errors.append(FieldError.required(f"{path}.reference"))
    return [*errors, *validate_field("core/v1.ImageVolumeSource", source, "pullPolicy", path)]


_CHECKS: dict[str, Callable[[JSON, str], Errors]] = {
    "configMap": _validate_config_map,
    "csi": _validate_csi,
    "downwardAPI": _validate_downward,
    "emptyDir": _validate_empty_dir,
    "ephemeral": _validate_ephemeral,
    "image": _validate_image,
    "projected": _validate_projected,
    "secret": _validate_secret,
}
