"""The places where the data of persistent volumes is (`validate*VolumeSource` in
`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache, partial
from typing import Any

from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import dns_label, dns_subdomain, out_of_range
from ...apimachinery.status import FieldError
from ...schema.api_types import fields_of
from ..pods.mount_validation import validate_no_backsteps
from ..published import validate_field, validate_required

JSON = dict[str, Any]
Check = Callable[[JSON, str], Errors]

# In the order in which the real server looks at them: only the first of several is looked into.
SOURCES = (
    "hostPath",
    "gcePersistentDisk",
    "awsElasticBlockStore",
    "glusterfs",
    "flocker",
    "nfs",
    "rbd",
    "quobyte",
    "cephfs",
    "iscsi",
    "cinder",
    "fc",
    "flexVolume",
    "azureFile",
    "vsphereVolume",
    "photonPersistentDisk",
    "portworxVolume",
    "azureDisk",
    "scaleIO",
    "local",
    "storageos",
    "csi",
)
# Fields that may not be empty, though the published schema does not say so.
_NEEDED = {"scaleIO": "volumeName", "storageos": "volumeName"}
# Their required fields are looked at by their checks.
_OWN_ORDER = ("csi", "quobyte")
# As the real server writes them in some of its errors.
_WHERE = {"gcePersistentDisk": "persistentDisk"}
_TWICE = {"cephfs": "cephFS"}

_MANAGED_DISK = "/subscriptions/{sub-id}/resourcegroups/{group-name}/providers/microsoft.compute/disks/{disk-id}"
_BLOB_DISK = "https://{account-name}.blob.core.windows.net/{container-name}/{disk-name}.vhd"
_INITIATORS = {
    "iqn": re.compile(r"iqn\.\d{4}-\d{2}\.([A-Za-z0-9.-]+)(:[^,;*&$|\s]+)$"),
    "eui": re.compile(r"^eui.[A-Za-z0-9]{16}$"),
    "naa": re.compile(r"^naa.[A-Za-z0-9]{32}$"),
}
_HOST_PORTS = "must be a host:port pair or multiple pairs separated by commas"
_HOST_PORT = re.compile(r"(\[[^\[\]]*\]|[^:\[\]]*):[^:\[\]]*")
_ANYWHERE = ("name", "namespace")  # what says which secret it is, where that may be in any namespace
_SECRETS = ("controllerPublishSecretRef", "controllerExpandSecretRef", "nodePublishSecretRef", "nodeExpandSecretRef")


def validate_sources(spec: JSON, path: str, volume: str = "") -> Errors:
    """Check that there is one source and that it is valid. `volume` is the name of the volume, if it has one."""
    errors: Errors = []
    given = [name for name in SOURCES if spec.get(name) is not None]
    if not given:
        return [FieldError.required(path, "must specify a volume type")]
    for index, name in enumerate(given):
        if index and name != "flexVolume":  # which the real server lets through beside another
            why = "may not specify more than 1 volume type"
            errors.append(FieldError.forbidden(f"{path}.{_TWICE.get(name, name)}", why))
            continue
        if name == "iscsi":
            errors += _validate_portal(spec[name], f"{path}.{name}", volume)
        errors += _of_source(name, spec[name], path, _CHECKS)
    return errors


def validate_pod_source(name: str, source: JSON, path: str) -> Errors:
    """Check one source of a pod's volume. Its secrets are in the namespace of the pod."""
    return _of_source(name, source, path, _POD_CHECKS)


def _of_source(name: str, source: JSON, path: str, checks: dict[str, Check]) -> Errors:
    at, needed = f"{path}.{_WHERE.get(name, name)}", _NEEDED.get(name, "")
    errors = [] if name in _OWN_ORDER else validate_required(_types()[name], source, at)
    if needed and not source.get(needed):
        errors.append(FieldError.required(f"{at}.{needed}"))
    return errors + checks[name](source, at) if name in checks else errors


@cache
def _types() -> dict[str, str]:
    """Return the types of the sources, by the names of their fields."""
    return {field.name: field.type for field in fields_of("core/v1.PersistentVolumeSource")}


def validate_driver(name: str, path: str) -> Errors:
    """Check the name of a storage driver."""
    if not name:
        return [FieldError.required(path)]
    errors: Errors = [FieldError.too_long(path, 63)] if len(name) > 63 else []
    return errors + problems(path, name, dns_subdomain(name.lower()))


def _host_path(source: JSON, path: str) -> Errors:
    place = source.get("path") or ""
    errors = validate_no_backsteps(place, f"{path}.path")
    return errors + validate_field("core/v1.HostPathVolumeSource", source, "type", path) if place else errors


def _local(source: JSON, path: str) -> Errors:
    return validate_no_backsteps(source.get("path") or "", f"{path}.path")


def _disk(source: JSON, path: str) -> Errors:
    partition = source.get("partition") or 0
    return _in_range(partition, f"{path}.partition", out_of_range(1, 255))


def _in_range(value: int, path: str, why: str) -> Errors:
    return [] if 0 <= value <= 255 else [FieldError.invalid(path, value, why)]


def _glusterfs(source: JSON, path: str) -> Errors:
    namespace = source.get("endpointsNamespace")
    if namespace is None:
        return []
    empty = ("if the endpointnamespace is set, it must be a valid namespace name",)
    return problems(f"{path}.endpointsNamespace", namespace, dns_label(namespace) if namespace else empty)


def _flocker(source: JSON, path: str) -> Errors:
    name, uuid = source.get("datasetName") or "", source.get("datasetUUID")
    errors: Errors = []
    if not name and not uuid:
        errors.append(FieldError.required(path, "one of datasetName and datasetUUID is required"))
    if name and uuid:
        why = "datasetName and datasetUUID can not be specified simultaneously"
        errors.append(FieldError.invalid(path, "resource", why))
    if "/" in name:
        errors.append(FieldError.invalid(f"{path}.datasetName", name, "must not contain '/'"))
    return errors


def _nfs(source: JSON, path: str) -> Errors:
    place = source.get("path") or ""
    return [] if place.startswith("/") else [FieldError.invalid(f"{path}.path", place, "must be an absolute path")]


def _quobyte(source: JSON, path: str) -> Errors:
    registry, tenant = source.get("registry") or "", source.get("tenant") or ""
    errors = validate_field("core/v1.QuobyteVolumeSource", source, "registry", path, missing=_HOST_PORTS)
    if registry and len(tenant) >= 65:
        why = "must be a UUID and may not exceed a length of 64 characters"
        errors.append(FieldError.required(f"{path}.tenant", why))
    elif registry:
        wrong = (pair for pair in registry.split(",") if not _HOST_PORT.fullmatch(pair))
        errors += [FieldError.invalid(f"{path}.registry", registry, _HOST_PORTS) for _ in wrong]
    return errors + validate_field("core/v1.QuobyteVolumeSource", source, "volume", path)


def _validate_portal(source: JSON, path: str, volume: str) -> Errors:
    portal = source.get("targetPortal") or ""
    if source.get("initiatorName") is None or len(f"{volume}:{portal}".encode()) <= 64:
        return []
    why = (
        "Total length of <volume name>:<iscsi.targetPortal> must be under 64 characters if iscsi.initiatorName is "
        "specified."
    )
    return [FieldError.invalid(f"{path}.targetportal", portal, why)]


def _iscsi(source: JSON, path: str, reference: tuple[str, ...] = ("name",)) -> Errors:
    secret, initiator = source.get("secretRef"), source.get("initiatorName")
    errors = _initiator(source["iqn"], f"{path}.iqn") if source.get("iqn") else []
    errors += _in_range(source.get("lun") or 0, f"{path}.lun", out_of_range(0, 255))
    if secret is None and (source.get("chapAuthDiscovery") or source.get("chapAuthSession")):
        errors.append(FieldError.required(f"{path}.secretRef"))
    errors += _named(secret, f"{path}.secretRef", *reference)
    return errors if initiator is None else errors + _initiator(initiator, f"{path}.initiatorname")


def _initiator(name: str, path: str) -> Errors:
    form = _INITIATORS.get(name[:3])
    if form is None:
        why = f"must be valid format starting with {', '.join([*_INITIATORS][:-1])}, or {[*_INITIATORS][-1]}"
        return [FieldError.invalid(path, name, why)]
    return [] if form.search(name) else [FieldError.invalid(path, name, "must be valid format")]


def _named(reference: JSON | None, path: str, *fields: str) -> Errors:
    return [] if reference is None else [FieldError.required(f"{path}.{f}") for f in fields if not reference.get(f)]


def _cinder(source: JSON, path: str, reference: tuple[str, ...] = _ANYWHERE) -> Errors:
    return _named(source.get("secretRef"), f"{path}.secretRef", *reference)


def _fibre_channel(source: JSON, path: str) -> Errors:
    names, ids, lun = source.get("targetWWNs"), source.get("wwids"), source.get("lun")
    errors: Errors = []
    if not names and not ids:
        why = "must specify either targetWWNs or wwids, but not both"
        errors.append(FieldError.required(f"{path}.targetWWNs", why))
    if names and ids:
        why = "targetWWNs and wwids can not be specified simultaneously"
        errors.append(FieldError.invalid(f"{path}.targetWWNs", names, why))
    if names and lun is None:
        errors.append(FieldError.required(f"{path}.lun", "lun is required if targetWWNs is specified"))
    elif names and lun is not None:
        errors += _in_range(lun, f"{path}.lun", out_of_range(0, 255))
    return errors


def _flex_volume(source: JSON, path: str) -> Errors:
    why = "kubernetes.io and k8s.io namespaces are reserved"
    return [
        FieldError.invalid(f"{path}.options[{key}]", key, why)
        for key in source.get("options") or ()
        if f".{key.split('/')[0].lower()}".endswith((".kubernetes.io", ".k8s.io"))
    ]


def _azure_file(source: JSON, path: str) -> Errors:
    return [FieldError.required(f"{path}.secretNamespace")] if source.get("secretNamespace") == "" else []


def _azure_disk(source: JSON, path: str) -> Errors:
    uri, kind = source.get("diskURI") or "", source.get("kind")
    errors: Errors = []
    for field in ("cachingMode", "kind"):
        errors += validate_field("core/v1.AzureDiskVolumeSource", source, field, path)
    form = _MANAGED_DISK if kind == "Managed" else _BLOB_DISK
    if kind is not None and not uri.startswith("/subscriptions/" if kind == "Managed" else "https://"):
        errors.append(FieldError.not_supported(f"{path}.diskURI", uri, (form,)))
    return errors


def _storageos(source: JSON, path: str, reference: tuple[str, ...] = _ANYWHERE) -> Errors:
    errors: Errors = []
    for field in ("volumeName", "volumeNamespace"):
        if name := source.get(field):
            errors += problems(f"{path}.{field}", name, dns_label(name))
    return errors + _named(source.get("secretRef"), f"{path}.secretRef", *reference)


def _csi(source: JSON, path: str) -> Errors:
    errors = validate_driver(source.get("driver") or "", f"{path}.driver")
    errors += validate_field("core/v1.CSIPersistentVolumeSource", source, "volumeHandle", path)
    for field in _SECRETS:
        reference, at = source.get(field), f"{path}.{field}"
        errors += _named(reference, at, *_ANYWHERE)
        for key, rule in (("name", dns_subdomain), ("namespace", dns_label)):
            if value := (reference or {}).get(key):
                errors += problems(f"{at}.{key}", value, rule(value))
    return errors


_CHECKS: dict[str, Check] = {
    "awsElasticBlockStore": _disk,
    "azureDisk": _azure_disk,
    "azureFile": _azure_file,
    "cinder": _cinder,
    "csi": _csi,
    "fc": _fibre_channel,
    "flexVolume": _flex_volume,
    "flocker": _flocker,
    "gcePersistentDisk": _disk,
    "glusterfs": _glusterfs,
    "hostPath": _host_path,
    "iscsi": _iscsi,
    "local": _local,
    "nfs": _nfs,
    "quobyte": _quobyte,
    "storageos": _storageos,
}
# csi of a pod is another type, and its own business.
_POD_CHECKS: dict[str, Check] = {name: check for name, check in _CHECKS.items() if name not in ("csi", "local")} | {
    "cinder": partial(_cinder, reference=("name",)),
    "iscsi": partial(_iscsi, reference=()),
    "storageos": partial(_storageos, reference=("name",)),
}
