"""The fields that a pod may have once it names its operating system (`validateLinux`, `validateWindows` of
Kubernetes).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...apimachinery.metadata import Errors
from ...apimachinery.status import FieldError
from ..published import validate_field
from .annotations import containers_of

JSON = dict[str, Any]

SYSTEMS = ("linux", "windows")

_NOT_ON_LINUX = "windows options cannot be set for a linux pod"
_NOT_ON_WINDOWS = "cannot be set for a windows pod"
# Of Linux alone: in a pod (those of the host only where they are true), in its security context, in a container's.
_POD_FIELDS = ("hostUsers", "shareProcessNamespace")
_POD_FLAGS = ("hostPID", "hostIPC")
_SHARED_FIELDS = ("appArmorProfile", "seLinuxOptions", "seccompProfile", "runAsUser", "runAsGroup")
_CONTEXT_FIELDS = (
    *_SHARED_FIELDS,
    "fsGroup",
    "fsGroupChangePolicy",
    "sysctls",
    "supplementalGroups",
    "supplementalGroupsPolicy",
    "seLinuxChangePolicy",
)
_CONTAINER_FIELDS = (
    *_SHARED_FIELDS,
    "capabilities",
    "readOnlyRootFilesystem",
    "privileged",
    "allowPrivilegeEscalation",
    "procMount",
)


def validate_system(spec: JSON, path: str) -> Errors:
    """Check that the pod's operating system is known, and that all fields go with it."""
    system = spec.get("os")
    if system is None:
        return []
    if errors := validate_field("core/v1.PodOS", system, "name", f"{path}.os"):
        return errors
    name = system["name"]
    if name not in SYSTEMS:
        return [FieldError.not_supported(f"{path}.os", name, SYSTEMS)]
    contexts = list(_security_contexts(spec, path))
    if name == "linux":
        return [
            FieldError.forbidden(f"{where}.windowsOptions", _NOT_ON_LINUX)
            for where, context, _ in contexts
            if context.get("windowsOptions") is not None
        ]
    fields = [f"{path}.{field}" for field in _POD_FIELDS if spec.get(field) is not None]
    fields += [f"{path}.{field}" for field in _POD_FLAGS if spec.get(field)]
    for where, context, linux_only in contexts:
        fields += [f"{where}.{field}" for field in linux_only if context.get(field) is not None]
    return [FieldError.forbidden(field, _NOT_ON_WINDOWS) for field in fields]


def validate_host_process(spec: JSON, path: str) -> Errors:
    """Check containers that are processes of a Windows host: if one is, all of the pod are, in the host's
    network.
    """
    errors: Errors = []
    shared = _host_process(spec)
    containers = list(containers_of(spec, path))
    asked = [_host_process(container) for container, _ in containers]
    for own, (_, where) in zip(asked, containers, strict=True):
        if None not in (own, shared) and own != shared:
            why = f"pod hostProcess value must be identical if both are specified, was {str(shared).lower()}"
            errors.append(FieldError.invalid(f"{where}.securityContext.windowsOptions.hostProcess", own, why))
    found = [shared if own is None else own for own in asked]
    if not any(found):
        return errors
    if not all(found):
        why = "If pod contains any hostProcess containers then all containers must be HostProcess containers"
        errors.append(FieldError.invalid(path, "", why))
    if not spec.get("hostNetwork"):
        why = "hostNetwork must be true if pod contains any hostProcess containers"
        errors.append(FieldError.invalid(f"{path}.hostNetwork", False, why))
    return errors


def _host_process(of: JSON) -> bool | None:
    return ((of.get("securityContext") or {}).get("windowsOptions") or {}).get("hostProcess")


def _security_contexts(spec: JSON, path: str) -> Iterator[tuple[str, JSON, tuple[str, ...]]]:
    """Yield the path of each security context, its content, and its fields that are only for Linux."""
    yield f"{path}.securityContext", spec.get("securityContext") or {}, _CONTEXT_FIELDS
    for container, where in containers_of(spec, path):
        yield f"{where}.securityContext", container.get("securityContext") or {}, _CONTAINER_FIELDS
