"""What `pods/NAME/resize` and `pods/NAME/ephemeralcontainers` may change (`ValidatePodResize`,
`ValidatePodEphemeralContainersUpdate` in `pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from typing import Any

from ..metadata import Errors
from ..status import FieldError
from ..strategy import USERS_METADATA, keep
from .pod_quality import quality_of_service
from .pod_updates import same

JSON = dict[str, Any]

_RESIZABLE = ("cpu", "memory")


def keep_for_debugging(new: JSON, old: JSON) -> None:
    """`ephemeralcontainers` changes nothing but these."""
    _keep_metadata(new, old)
    added = new["spec"].get("ephemeralContainers")
    new["spec"] = dict(old["spec"])
    if added:
        new["spec"]["ephemeralContainers"] = added
    else:
        new["spec"].pop("ephemeralContainers", None)


def _keep_metadata(new: JSON, old: JSON) -> None:
    for key in USERS_METADATA:
        keep(new["metadata"], old["metadata"], key)


def validate_debugging(new: JSON, old: JSON) -> Errors:
    """Ephemeral containers come and never go or change."""
    path = "spec.ephemeralContainers"
    errors: Errors = []
    now = {container.get("name", ""): container for container in new.get("ephemeralContainers") or ()}
    for container in old.get("ephemeralContainers") or ():
        name = container.get("name", "")
        if name not in now:
            why = f'existing ephemeral containers "{name}" may not be removed\n'
            errors.append(FieldError.forbidden(path, why))
        elif not same(now[name], container):
            why = f'existing ephemeral containers "{name}" may not be changed\n'
            errors.append(FieldError.forbidden(path, why))
    return errors


def keep_for_resize(new: JSON, old: JSON) -> None:
    """`resize` changes the resources of containers and nothing else."""
    spec: JSON = dict(old["spec"])
    for key in ("containers", "initContainers"):
        now, before = new["spec"].get(key) or [], spec.get(key) or []
        if [each.get("name") for each in now] != [each.get("name") for each in before]:
            return
        if now:
            spec[key] = [_resized(container, wanted) for container, wanted in zip(before, now, strict=True)]
    if new["spec"].get("resources") is not None:
        spec["resources"] = new["spec"]["resources"]
    new["spec"] = spec
    _keep_metadata(new, old)


def _resized(container: JSON, wanted: JSON) -> JSON:
    resized = dict(container)
    for key in ("resources", "resizePolicy"):
        keep(resized, wanted, key)
    return resized


def validate_resize(new: JSON, old: JSON) -> Errors:
    """Amounts of cpu and memory change, others do not, and none is taken away."""
    errors: Errors = []
    quality = old.get("status", {}).get("qosClass", "")
    if quality != quality_of_service(new["spec"]):
        why = "Pod QOS Class may not change as a result of resizing"
        errors.append(FieldError.invalid("spec", quality, why))
    for key in ("containers", "initContainers"):
        now, before = new["spec"].get(key) or [], old["spec"].get(key) or []
        order = _validate_order(now, before, key)
        if order:
            return [*errors, *order]
        for index, (container, then) in enumerate(zip(now, before, strict=True)):
            path = f"spec.{key}[{index}].resources"
            if container.get("resizePolicy") != then.get("resizePolicy"):
                errors.append(FieldError.forbidden("spec", "only cpu and memory resources are mutable"))
            for which in ("limits", "requests"):
                errors += _validate_amounts(container, then, which, path)
    return errors


def _validate_order(now: list[JSON], before: list[JSON], key: str) -> Errors:
    if len(now) != len(before):
        return [FieldError.forbidden(f"spec.{key}", f"{key} may not be added or removed on resize")]
    return [
        FieldError.forbidden(f"spec.{key}[{index}].name", f"{key} may not be renamed or reordered on resize")
        for index, (container, then) in enumerate(zip(now, before, strict=True))
        if container.get("name") != then.get("name")
    ]


def _validate_amounts(container: JSON, before: JSON, which: str, path: str) -> Errors:
    new = (container.get("resources") or {}).get(which) or {}
    old = (before.get("resources") or {}).get(which) or {}
    if any(name not in new for name in old if name in _RESIZABLE):
        return [FieldError.forbidden(f"{path}.{which}", f"resource {which} cannot be removed")]
    others = {name for name in {*new, *old} if name not in _RESIZABLE}
    if any(new.get(name) != old.get(name) for name in others):
        return [FieldError.forbidden("spec", "only cpu and memory resources are mutable")]
    return []
