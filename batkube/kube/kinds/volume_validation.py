"""Volumes of a pod (`ValidateVolumes` in `pkg/apis/core/validation/validation.go`)."""

from __future__ import annotations

from typing import Any

from ..metadata import Errors, problems
from ..names import dns_label, dns_subdomain
from ..quantity import Quantity
from ..status import FieldError
from .container_validation import validate_field_reference, validate_inner_path
from .pod_defaults import volume_sources

JSON = dict[str, Any]

_DOWNWARD_FIELDS = (
    "metadata.annotations",
    "metadata.labels",
    "metadata.name",
    "metadata.namespace",
    "metadata.uid",
)
_HOST_PATH_TYPES = (
    "",
    "BlockDevice",
    "CharDevice",
    "Directory",
    "DirectoryOrCreate",
    "File",
    "FileOrCreate",
    "Socket",
)
# The field of a source that says what it is, and may not be empty.
_REQUIRED = {
    "secret": "secretName",
    "configMap": "name",
    "persistentVolumeClaim": "claimName",
    "csi": "driver",
    "nfs": "server",
    "gcePersistentDisk": "pdName",
    "awsElasticBlockStore": "volumeID",
    "image": "reference",
}


def validate_volumes(volumes: list[JSON], path: str, service_account: str) -> Errors:
    """The volumes of a pod spec."""
    errors: Errors = []
    names: set[str] = set()
    for index, volume in enumerate(volumes):
        where = f"{path}[{index}]"
        name = volume.get("name", "")
        errors.extend(_validate_source(volume, where, service_account))
        if not name:
            errors.append(FieldError.required(f"{where}.name"))
        elif wrong := dns_label(name):
            errors.extend(problems(f"{where}.name", name, wrong))
        elif name in names:
            errors.append(FieldError.duplicate(f"{where}.name", name))
        names.add(name)
    return errors


def _validate_source(volume: JSON, path: str, service_account: str) -> Errors:
    errors: Errors = []
    sources = volume_sources(volume)
    if not sources:
        return [FieldError.required(path, "must specify a volume type")]
    # The real server looks at sources in a fixed order, emptyDir and hostPath first.
    first = next((name for name in ("emptyDir", "hostPath") if name in sources), sources[0])
    for name in sources:
        if name != first:
            errors.append(FieldError.forbidden(f"{path}.{name}", "may not specify more than 1 volume type"))
    source, where = volume[first], f"{path}.{first}"
    needed = _REQUIRED.get(first)
    if needed and not source.get(needed):
        errors.append(FieldError.required(f"{where}.{needed}"))
    if first == "emptyDir":
        limit = source.get("sizeLimit")
        if limit is not None and Quantity.parse(limit).value < 0:
            errors.append(
                FieldError.forbidden(f"{where}.sizeLimit", "SizeLimit field must be a valid resource quantity")
            )
    elif first == "hostPath":
        if not source.get("path"):
            errors.append(FieldError.required(f"{where}.path"))
        elif ".." in source["path"].split("/"):
            errors.append(FieldError.invalid(f"{where}.path", source["path"], "must not contain '..'"))
        if source.get("type", "") not in _HOST_PATH_TYPES:
            errors.append(FieldError.not_supported(f"{where}.type", source["type"], _HOST_PATH_TYPES))
    elif first in ("secret", "configMap"):
        errors.extend(_validate_mode(source, where))
        errors.extend(_validate_items(source.get("items") or (), f"{where}.items"))
    elif first == "downwardAPI":
        errors.extend(_validate_mode(source, where))
        errors.extend(_validate_downward(source, where))
    elif first == "projected":
        errors.extend(_validate_mode(source, where))
        errors.extend(_validate_projected(source, where, service_account))
    elif first == "ephemeral" and not source.get("volumeClaimTemplate"):
        errors.append(FieldError.required(f"{where}.volumeClaimTemplate"))
    return errors


def _validate_mode(source: JSON, path: str) -> Errors:
    mode = source.get("defaultMode")
    if mode is not None and not 0 <= mode <= 0o777:
        why = "must be a number between 0 and 0777 (octal), both inclusive"
        return [FieldError.invalid(f"{path}.defaultMode", mode, why)]
    return []


def _validate_items(items: Any, path: str) -> Errors:
    errors: Errors = []
    for index, item in enumerate(items):
        where = f"{path}[{index}]"
        if not item.get("key"):
            errors.append(FieldError.required(f"{where}.key"))
        errors.extend(_validate_item_path(item, where))
    return errors


def _validate_item_path(item: JSON, path: str) -> Errors:
    place = item.get("path", "")
    if not place:
        return [FieldError.required(f"{path}.path")]
    errors = validate_inner_path(place, f"{path}.path")
    if place.startswith("..") and not errors:
        errors.append(FieldError.invalid(f"{path}.path", place, "must not start with '..'"))
    return errors


def _validate_downward(source: JSON, path: str) -> Errors:
    errors: Errors = []
    for index, item in enumerate(source.get("items") or ()):
        where = f"{path}.items[{index}]"
        errors.extend(_validate_item_path(item, where))
        field, resource = item.get("fieldRef"), item.get("resourceFieldRef")
        if field is not None:
            errors.extend(validate_field_reference(field, f"{where}.fieldRef", _DOWNWARD_FIELDS))
            if resource is not None:
                why = "fieldRef and resourceFieldRef can not be specified simultaneously"
                errors.append(FieldError.invalid(where, "resource", why))
        elif resource is not None:
            if not resource.get("containerName"):
                errors.append(FieldError.required(f"{where}.resourceFieldRef.containerName"))
        else:
            errors.append(FieldError.required(where, "one of fieldRef and resourceFieldRef is required"))
    return errors


def _validate_projected(source: JSON, path: str, service_account: str) -> Errors:
    errors: Errors = []
    for index, projection in enumerate(source.get("sources") or ()):
        where = f"{path}.sources[{index}]"
        kinds = [key for key, value in projection.items() if value is not None]
        if len(kinds) > 1:
            errors.extend(
                FieldError.forbidden(f"{where}.{extra}", "may not specify more than 1 volume type per source")
                for extra in kinds[1:]
            )
        for kind in ("secret", "configMap"):
            if (inner := projection.get(kind)) is not None:
                if not inner.get("name"):
                    errors.append(FieldError.required(f"{where}.{kind}.name"))
                else:
                    errors.extend(problems(f"{where}.{kind}.name", inner["name"], dns_subdomain(inner["name"])))
                errors.extend(_validate_items(inner.get("items") or (), f"{where}.{kind}.items"))
        if (inner := projection.get("downwardAPI")) is not None:
            errors.extend(_validate_downward(inner, f"{where}.downwardAPI"))
        if (token := projection.get("serviceAccountToken")) is not None:
            errors.extend(_validate_token(token, f"{where}.serviceAccountToken", service_account))
    return errors


def _validate_token(token: JSON, path: str, service_account: str) -> Errors:
    errors: Errors = []
    if not service_account:
        errors.append(FieldError.forbidden(path, "must not be specified when serviceAccountName is not set"))
    seconds = token.get("expirationSeconds", 0)
    if seconds < 600:
        why = "may not specify a duration less than 10 minutes"
        errors.append(FieldError.invalid(f"{path}.expirationSeconds", seconds, why))
    if seconds > 1 << 32:
        why = "may not specify a duration larger than 2^32 seconds"
        errors.append(FieldError.invalid(f"{path}.expirationSeconds", seconds, why))
    if not token.get("path"):
        errors.append(FieldError.required(f"{path}.path"))
    return errors
