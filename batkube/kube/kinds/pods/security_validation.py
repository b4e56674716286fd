"""Security contexts of pods and containers (`validatePodSpecSecurityContext`, `ValidateSecurityContext` in
`pkg/apis/core/validation/validation.go`).

Privileged containers are allowed, as in clusters whose server runs with `--allow-privileged`.
"""

from __future__ import annotations

import re
from typing import Any

from ...apimachinery.metadata import Errors
from ...apimachinery.status import FieldError
from ...schema.internal_json import internal
from ..published import validate_field
from .mount_validation import validate_inner_path
from .windows_validation import validate_windows_options

JSON = dict[str, Any]

_MAX_ID = (1 << 31) - 1
_OUT_OF_RANGE = f"must be between 0 and {_MAX_ID}, inclusive"
_SYSCTL = re.compile(r"[a-z0-9]([-_a-z0-9]*[a-z0-9])?((\.|/)[a-z0-9]([-_a-z0-9]*[a-z0-9])?)*")
_SHM, _MSG = ("", "all", "max", "mni", "_rmid_forced"), ("", "max", "mnb", "mni")
_IPC_SYSCTLS = ("kernel.sem", *(f"kernel.shm{each}" for each in _SHM), *(f"kernel.msg{each}" for each in _MSG))
_SYSCTL_FORMAT = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"


def validate_pod_security(context: JSON, spec: JSON, path: str) -> Errors:
    """Check the security context of a pod."""
    errors: Errors = []
    for key in ("fsGroup", "runAsUser", "runAsGroup"):
        errors.extend(_validate_id(context.get(key), f"{path}.{key}"))
    for index, group in enumerate(context.get("supplementalGroups") or ()):
        errors.extend(_validate_id(group, f"{path}.supplementalGroups[{index}]"))
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        why = "ShareProcessNamespace and HostPID cannot both be enabled"
        errors.append(FieldError.invalid(f"{path}.shareProcessNamespace", True, why))
    errors.extend(_validate_sysctls(context.get("sysctls") or [], spec, f"{path}.sysctls"))
    for key in ("fsGroupChangePolicy", "supplementalGroupsPolicy"):
        errors.extend(validate_field("core/v1.PodSecurityContext", context, key, path))
    if (policy := context.get("seLinuxChangePolicy")) not in (None, "Recursive"):
        errors.append(FieldError.not_supported(f"{path}.seLinuxChangePolicy", policy, ("Recursive",)))
    errors.extend(_validate_seccomp(context.get("seccompProfile"), f"{path}.seccompProfile"))
    errors.extend(validate_windows_options(context.get("windowsOptions"), f"{path}.windowsOptions"))
    return [*errors, *_validate_app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")]


def validate_container_security(context: JSON, path: str, *, host_users: bool) -> Errors:
    """Check the security context of a container; `host_users` if the pod shares the host's user namespace."""
    errors: Errors = []
    for key in ("runAsUser", "runAsGroup"):
        errors.extend(_validate_id(context.get(key), f"{path}.{key}"))
    mount = context.get("procMount")
    errors.extend(validate_field("core/v1.SecurityContext", context, "procMount", path))
    if mount == "Unmasked" and host_users:
        errors.append(FieldError.invalid(f"{path}.procMount", mount, "`hostUsers` must be false to use `Unmasked`"))
    errors.extend(_validate_seccomp(context.get("seccompProfile"), f"{path}.seccompProfile"))
    if context.get("allowPrivilegeEscalation") is False:
        if context.get("privileged"):
            why = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
            errors.append(FieldError.invalid(path, internal("core/v1.SecurityContext", context), why))
        if "CAP_SYS_ADMIN" in ((context.get("capabilities") or {}).get("add") or ()):
            why = "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"
            errors.append(FieldError.invalid(path, internal("core/v1.SecurityContext", context), why))
    errors.extend(validate_windows_options(context.get("windowsOptions"), f"{path}.windowsOptions"))
    return [*errors, *_validate_app_armor(context.get("appArmorProfile"), f"{path}.appArmorProfile")]


def _validate_id(value: int | None, path: str) -> Errors:
    return [] if value is None or 0 <= value <= _MAX_ID else [FieldError.invalid(path, value, _OUT_OF_RANGE)]


def _validate_seccomp(profile: JSON | None, path: str) -> Errors:
    if profile is None:
        return []
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    missing = "type is required when seccompProfile is set"
    errors = validate_field("core/v1.SeccompProfile", profile, "type", path, missing=missing)
    if kind == "Localhost":
        if local is None:
            why = "must be set when seccomp type is Localhost"
            return [*errors, FieldError.required(f"{path}.localhostProfile", why)]
        return [*errors, *validate_inner_path(local, f"{path}.localhostProfile")]
    if local is not None:
        why = "can only be set when seccomp type is Localhost"
        errors.append(FieldError.invalid(f"{path}.localhostProfile", internal("core/v1.SeccompProfile", profile), why))
    return errors


def _validate_app_armor(profile: JSON | None, path: str) -> Errors:
    if profile is None:
        return []
    kind, local = profile.get("type", ""), profile.get("localhostProfile")
    if kind == "Localhost":
        if local is None or not local.strip():
            why = "must be set when AppArmor type is Localhost"
            return [FieldError.required(f"{path}.localhostProfile", why)]
        if local != local.strip():
            return [FieldError.invalid(f"{path}.localhostProfile", local, "must not be padded with whitespace")]
        return []
    missing = "type is required when appArmorProfile is set"
    if errors := validate_field("core/v1.AppArmorProfile", profile, "type", path, missing=missing):
        return errors
    if local is not None:
        why = "can only be set when AppArmor type is Localhost"
        return [FieldError.invalid(f"{path}.localhostProfile", local, why)]
    return []


def _validate_sysctls(sysctls: list[JSON], spec: JSON, path: str) -> Errors:
    errors: Errors = []
    seen: set[str] = set()
    for index, sysctl in enumerate(sysctls):
        name, where = sysctl.get("name", ""), f"{path}[{index}].name"
        if not name:
            errors.extend(validate_field("core/v1.Sysctl", sysctl, "name", f"{path}[{index}]"))
        elif len(name) > 253 or not _SYSCTL.fullmatch(name):
            why = f"must have at most 253 characters and match regex {_SYSCTL_FORMAT}"
            errors.append(FieldError.invalid(where, name, why))
        elif name in seen:
            errors.append(FieldError.duplicate(where, name))
        shared = _shared_by(name)
        if shared and spec.get(shared):
            errors.append(FieldError.invalid(where, name, f"may not be specified when '{shared}' is true"))
        seen.add(name)
    return errors


def _shared_by(sysctl: str) -> str:
    """Return the field that must not be true in a pod that sets that sysctl (`ValidateHostSysctl`); "" if there
    is none.
    """
    name = sysctl.replace("/", ".")
    if name in _IPC_SYSCTLS or name.startswith("fs.mqueue."):
        return "hostIPC"
    return "hostNetwork" if name.startswith("net.") else ""
