"""The places where containers find their volumes (`ValidateVolumeMounts`, `ValidateVolumeDevices` in
`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...apimachinery.metadata import Errors
from ...apimachinery.status import FieldError
from ..published import validate_field

JSON = dict[str, Any]

_RECURSIVE = ("Disabled", "Enabled", "IfPossible")
_BLOCK_SOURCES = ("persistentVolumeClaim", "ephemeral")


def validate_mounts(container: JSON, volumes: Mapping[str, JSON], path: str) -> Errors:
    """Check the volumeMounts of a container."""
    errors: Errors = []
    places: set[str] = set()
    devices = {each.get("name", ""): each.get("devicePath", "") for each in container.get("volumeDevices") or ()}
    for index, mount in enumerate(container["volumeMounts"]):
        where = f"{path}[{index}]"
        name, place = mount.get("name", ""), mount.get("mountPath", "")
        errors.extend(validate_field("core/v1.VolumeMount", mount, "name", where))
        if name not in volumes:
            errors.append(FieldError.not_found(f"{where}.name", name))
        errors.extend(validate_field("core/v1.VolumeMount", mount, "mountPath", where))
        if place in places:
            errors.append(FieldError.invalid(f"{where}.mountPath", place, "must be unique"))
        places.add(place)
        if name in devices:
            errors.append(FieldError.invalid(f"{where}.name", name, "must not already exist in volumeDevices"))
        if place in devices.values():
            why = "must not already exist as a path in volumeDevices"
            errors.append(FieldError.invalid(f"{where}.mountPath", place, why))
        # The real server names no index in these.
        if sub := mount.get("subPath"):
            errors.extend(validate_inner_path(sub, f"{path}.subPath"))
        if expression := mount.get("subPathExpr"):
            if sub:
                why = "subPathExpr and subPath are mutually exclusive"
                errors.append(FieldError.invalid(f"{where}.subPathExpr", expression, why))
            errors.extend(validate_inner_path(expression, f"{path}.subPathExpr"))
        errors.extend(_validate_propagation(mount, container, path))
        errors.extend(_validate_recursive(mount, f"{path}.recursiveReadOnly"))
    return errors


def validate_inner_path(value: str, path: str) -> Errors:
    """Check that a path stays within a volume."""
    errors: Errors = []
    if value.startswith("/"):
        errors.append(FieldError.invalid(path, value, "must be a relative path"))
    return [*errors, *validate_no_backsteps(value, path)]


def validate_no_backsteps(value: str, path: str) -> Errors:
    """Check that a path has no `..` in it."""
    return [FieldError.invalid(path, value, "must not contain '..'")] if ".." in value.split("/") else []


def _validate_propagation(mount: JSON, container: JSON, path: str) -> Errors:
    privileged = (container.get("securityContext") or {}).get("privileged")
    if mount.get("mountPropagation") == "Bidirectional" and not privileged:
        why = "Bidirectional mount propagation is available only to privileged containers"
        return [FieldError.forbidden(f"{path}.mountPropagation", why)]
    return validate_field("core/v1.VolumeMount", mount, "mountPropagation", path)


def _validate_recursive(mount: JSON, path: str) -> Errors:
    recursive = mount.get("recursiveReadOnly")
    if recursive in (None, "Disabled"):
        return []
    if recursive not in _RECURSIVE:
        return [FieldError.not_supported(path, recursive, _RECURSIVE)]
    errors: Errors = []
    if not mount.get("readOnly"):
        errors.append(FieldError.forbidden(path, "may only be specified when readOnly is true"))
    if mount.get("mountPropagation") not in (None, "None"):
        why = "may only be specified when mountPropagation is None or not specified"
        errors.append(FieldError.forbidden(path, why))
    return errors


def validate_devices(container: JSON, volumes: Mapping[str, JSON], path: str) -> Errors:
    """Check the volumeDevices of a container."""
    errors: Errors = []
    places: set[str] = set()
    names: set[str] = set()
    mounts = {each.get("name", ""): each.get("mountPath", "") for each in container.get("volumeMounts") or ()}
    for index, device in enumerate(container["volumeDevices"]):
        where = f"{path}[{index}]"
        name, place = device.get("name", ""), device.get("devicePath", "")
        errors.extend(validate_field("core/v1.VolumeDevice", device, "name", where))
        if name in names:
            errors.append(FieldError.invalid(f"{where}.name", name, "must be unique"))
        if name not in volumes:
            errors.append(FieldError.not_found(f"{where}.name", name))
        elif not any(source in volumes[name] for source in _BLOCK_SOURCES):
            why = "can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode"
            errors.append(FieldError.invalid(f"{where}.name", name, why))
        errors.extend(validate_field("core/v1.VolumeDevice", device, "devicePath", where))
        if place in places:
            errors.append(FieldError.invalid(f"{where}.devicePath", place, "must be unique"))
        if place and ".." in place.split("/"):
            errors.append(FieldError.invalid(f"{where}.devicePath", place, "can not contain backsteps ('..')"))
        else:
            places.add(place)
        if name in mounts:
            errors.append(FieldError.invalid(f"{where}.name", name, "must not already exist in volumeMounts"))
        if place in mounts.values():
            why = "must not already exist as a path in volumeMounts"
            errors.append(FieldError.invalid(f"{where}.devicePath", place, why))
        if name:
            names.add(name)
    return errors
