"""The annotations of pods and templates that mean something to the API server (`ValidatePodSpecificAnnotations` and
similar functions in `pkg/apis/core/validation/validation.go`).

They are those of static pods, the cost of a pod's deletion, and profiles of AppArmor and seccomp, as they were set
before there were fields for them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import orjson

from ...apimachinery.metadata import Errors
from ...apimachinery.status import FieldError
from .mount_validation import validate_inner_path
from .scheduling_validation import validate_tolerations

JSON = dict[str, Any]

APP_ARMOR = "container.apparmor.security.beta.kubernetes.io/"
MIRROR = "kubernetes.io/config.mirror"
SECCOMP = "container.seccomp.security.alpha.kubernetes.io/"
SECCOMP_OF_POD = "seccomp.security.alpha.kubernetes.io/pod"

_COST = "controller.kubernetes.io/pod-deletion-cost"
_TOLERATIONS = "scheduler.alpha.kubernetes.io/tolerations"
_WHOLE_NUMBER = re.compile(r"-[0-9]+|0|[1-9][0-9]*")
_APP_ARMOR_TYPES = {"runtime/default": "RuntimeDefault", "unconfined": "Unconfined"}
_SECCOMP_TYPES = {**_APP_ARMOR_TYPES, "docker/default": "RuntimeDefault"}
_LOCAL = "localhost/"


def containers_of(spec: JSON, path: str) -> Iterator[tuple[JSON, str]]:
    """Yield all containers of a pod with their paths."""
    for key in ("initContainers", "containers", "ephemeralContainers"):
        for index, container in enumerate(spec.get(key) or ()):
            yield container, f"{path}.{key}[{index}]"


def validate_pod_annotations(annotations: JSON, spec: JSON, path: str, *, comparing: bool) -> Errors:
    """Return the errors in the annotations of a pod or a template."""
    errors: Errors = []
    if MIRROR in annotations and not spec.get("nodeName"):
        why = "must set spec.nodeName if mirror pod annotation is set"
        errors.append(FieldError.invalid(f"{path}[{MIRROR}]", annotations[MIRROR], why))
    if annotations.get(_TOLERATIONS):
        errors += _validate_old_tolerations(annotations[_TOLERATIONS], path, comparing)
    cost = annotations.get(_COST)
    if cost is not None and not _is_cost(cost):
        errors.append(FieldError.invalid(f"{path}[{_COST}]", cost, "must be a 32bit integer"))
    names = {container.get("name", "") for container, _ in containers_of(spec, "")}
    for key, value in annotations.items():
        if key == SECCOMP_OF_POD or key.startswith(SECCOMP):
            errors += _validate_seccomp(value, f"{path}.{key}")
        elif key.startswith(APP_ARMOR):
            name = key.removeprefix(APP_ARMOR)
            if name not in names:
                errors.append(FieldError.invalid(f"{path}[{key}]", name, "container not found"))
            if value and value not in _APP_ARMOR_TYPES and not value.startswith(_LOCAL):
                why = f'invalid AppArmor profile name: "{value}"'
                errors.append(FieldError.invalid(f"{path}[{key}]", value, why))
    return errors


def validate_changed_annotations(new: JSON, old: JSON) -> Errors:
    """Return the errors in a change of those annotations of a pod that may not change."""
    errors: Errors = []
    for prefix, what in ((APP_ARMOR, "AppArmor annotations"), (MIRROR, "mirror pod annotation")):
        for key in (*old, *(key for key in new if key not in old)):
            if key.startswith(prefix) and new.get(key) != old.get(key) and (prefix != MIRROR or key == MIRROR):
                doing = "remove or update" if key in old else "add"
                errors.append(FieldError.forbidden(f"metadata.annotations[{key}]", f"may not {doing} {what}"))
    return errors


def validate_profiles(annotations: JSON, spec: JSON, path: str) -> Errors:
    """Check that a profile given in an annotation and in a field is the same in both."""
    errors: Errors = []
    context = spec.get("securityContext") or {}
    if profile := context.get("seccompProfile"):
        where = f"{path}.securityContext.seccompProfile"
        errors += _validate_match(annotations.get(SECCOMP_OF_POD), profile, where, "seccomp", _SECCOMP_TYPES)
    for container, at in containers_of(spec, path):
        if profile := (container.get("securityContext") or {}).get("seccompProfile"):
            said, where = annotations.get(SECCOMP + container.get("name", "")), f"{at}.securityContext.seccompProfile"
            errors += _validate_match(said, profile, where, "seccomp", _SECCOMP_TYPES)
    if (spec.get("os") or {}).get("name") == "windows":
        return errors
    for container, at in containers_of(spec, path):
        own = (container.get("securityContext") or {}).get("appArmorProfile")
        if profile := own if own is not None else context.get("appArmorProfile"):
            said, where = (
                annotations.get(APP_ARMOR + container.get("name", "")),
                f"{at}.securityContext.appArmorProfile",
            )
            errors += _validate_match(said, profile, where, "apparmor", _APP_ARMOR_TYPES)
    return errors


def take_app_armor(pod: JSON, warnings: list[str]) -> None:
    """Copy profiles named in annotations into the fields of containers that have none (`applyAppArmorVersionSkew`)."""
    annotations, spec = pod["metadata"].get("annotations") or {}, pod["spec"]
    if not any(key.startswith(APP_ARMOR) for key in annotations) or (spec.get("os") or {}).get("name") == "windows":
        return
    shared = (spec.get("securityContext") or {}).get("appArmorProfile")
    for container, _ in containers_of(spec, ""):
        key = APP_ARMOR + container.get("name", "")
        context = container.get("securityContext") or {}
        if key not in annotations or context.get("appArmorProfile") is not None:
            continue
        profile = app_armor_profile(annotations[key])
        if profile is not None and profile == shared:
            continue
        if profile is not None:
            container["securityContext"] = {**context, "appArmorProfile": profile}
        warnings.append(deprecated_app_armor(key, ""))


def deprecated_app_armor(key: str, path: str) -> str:
    """Return the warning for the author of such an annotation."""
    return f'{path}metadata.annotations[{key}]: deprecated since v1.30; use the "appArmorProfile" field instead'


def app_armor_profile(annotation: str) -> JSON | None:
    """Return the field that says the same as the annotation; None if there is none."""
    if annotation in _APP_ARMOR_TYPES:
        return {"type": _APP_ARMOR_TYPES[annotation]}
    profile = annotation.removeprefix(_LOCAL) if annotation.startswith(_LOCAL) else ""
    if not profile.strip() or profile != profile.strip():
        return None
    return {"type": "Localhost", "localhostProfile": profile}


def _validate_match(said: str | None, profile: JSON, path: str, what: str, types: dict[str, str]) -> Errors:
    if said is None:
        return []
    kind = profile.get("type")
    if kind == "Localhost" and said.startswith(_LOCAL):
        if said.removeprefix(_LOCAL) == profile.get("localhostProfile"):
            return []
        return [FieldError.forbidden(f"{path}.localhostProfile", f"{what} profile in annotation and field must match")]
    if kind not in ("Unconfined", "RuntimeDefault", "Localhost") or types.get(said) == kind:
        return []
    return [FieldError.forbidden(f"{path}.type", f"{what} type in annotation and field must match")]


def _validate_seccomp(profile: str, path: str) -> Errors:
    if profile in _SECCOMP_TYPES:
        return []
    if profile.startswith(_LOCAL):
        return validate_inner_path(profile.removeprefix(_LOCAL), path)
    return [FieldError.invalid(path, profile, "must be a valid seccomp profile")]


def _validate_old_tolerations(text: str, path: str, comparing: bool) -> Errors:
    try:
        tolerations = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return [FieldError.invalid(path, _TOLERATIONS, str(error))]
    return validate_tolerations(tolerations or [], f"{path}.{_TOLERATIONS}", comparing=comparing)


def _is_cost(text: str) -> bool:
    return bool(_WHOLE_NUMBER.fullmatch(text)) and -(1 << 31) <= int(text) < 1 << 31
