"""The changes that `pods/NAME/resize` may make (`ValidatePodResize` in `pkg/apis/core/validation/validation.go`)."""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors
from ...apimachinery.status import FieldError
from ..strategy import keep
from .annotations import MIRROR
from .debugging import keep_metadata
from .quality import quality_of_service
from .updates import same

JSON = dict[str, Any]

_RESIZABLE = ("cpu", "memory")
_LISTS = ("requests", "limits")
_ONLY_THESE = "only cpu and memory resources are mutable"


def keep_for_resize(new: JSON, old: JSON) -> None:
    """Keep all but the resources of containers and of the pod as a whole: `resize` changes nothing else.

    Containers that do not match the stored ones stay as they were sent; validation refuses them.
    """
    now, before = new["spec"], old["spec"]
    if any(len(now.get(key) or ()) != len(before.get(key) or ()) for key in ("containers", "initContainers")):
        return
    spec: JSON = {**before, **{key: _resized(now, before, key) for key in ("containers", "initContainers")}}
    if not spec["initContainers"]:
        del spec["initContainers"]
    keep(spec, now, "resources")
    new["spec"] = spec
    keep_metadata(new, old)


def _resized(now: JSON, before: JSON, key: str) -> list[JSON]:
    wanted, present = now.get(key) or [], before.get(key) or []
    if [each.get("name") for each in wanted] != [each.get("name") for each in present]:
        return wanted
    resized = [dict(container) for container in present]
    for container, wish in zip(resized, wanted, strict=True):
        for field in ("resources", "resizePolicy"):
            keep(container, wish, field)
    return resized


def validate_resize(new: JSON, old: JSON) -> Errors:
    """Check that only amounts of cpu and memory change, and that none is removed."""
    if MIRROR in (old["metadata"].get("annotations") or {}):
        return [FieldError.forbidden("", "static pods cannot be resized")]
    spec, before, status = new["spec"], old["spec"], old.get("status") or {}
    if (before.get("os") or {}).get("name") == "windows":
        return [FieldError.forbidden("", "windows pods cannot be resized")]
    disorder = _validate_order(spec, before)
    errors: Errors = []
    if status.get("qosClass", "") != quality_of_service(spec):
        shown = "" if any(not error.field.endswith(".name") for error in disorder) else status.get("qosClass", "")
        errors.append(FieldError.invalid("spec", shown, "Pod QOS Class may not change as a result of resizing"))
    if not _runs_with_resources(status):
        errors.append(FieldError.forbidden("spec", "Pod running on node without support for resize"))
    errors += _validate_whole(spec.get("resources"), before.get("resources"))
    if status.get("nodeAllocatableResourceClaimStatuses"):
        errors.append(FieldError.forbidden("spec", "pods with node allocatable resource claims cannot be resized"))
    if disorder:
        return [*errors, *disorder]
    for key in ("initContainers", "containers"):
        for index, (container, then) in enumerate(zip(spec.get(key) or (), before.get(key) or (), strict=True)):
            errors += _validate_removed(container, then, f"spec.{key}[{index}].resources", "resource")
    for container, then in zip(spec["containers"], before["containers"], strict=True):
        if not same(_without_resizable(container, then), then):
            errors.append(FieldError.forbidden("spec", _ONLY_THESE))
    for index, container in enumerate(spec.get("initContainers") or ()):
        errors += _validate_init(container, before["initContainers"][index], f"spec.initContainers[{index}]")
    return errors


def _runs_with_resources(status: JSON) -> bool:
    """Return True if the node reports the resources of running containers. True if no container runs."""
    running = [each for each in status.get("containerStatuses") or () if (each.get("state") or {}).get("running")]
    return not running or running[0].get("resources") is not None


def _validate_order(spec: JSON, before: JSON) -> Errors:
    errors: Errors = []
    for key in ("containers", "initContainers"):
        now, then = spec.get(key) or [], before.get(key) or []
        if len(now) != len(then):
            errors.append(FieldError.forbidden(f"spec.{key}", f"{key} may not be added or removed on resize"))
            continue
        errors += [
            FieldError.forbidden(f"spec.{key}[{index}].name", f"{key} may not be renamed or reordered on resize")
            for index, (container, old) in enumerate(zip(now, then, strict=True))
            if container.get("name") != old.get("name")
        ]
    return errors


def _validate_whole(new: JSON | None, old: JSON | None) -> Errors:
    """Check a change of the resources of the pod as a whole."""
    if not any((each or {}).get(which) for each in (new, old) for which in _LISTS):
        return []
    if old is not None and new is None:
        return [FieldError.forbidden("spec.resources", "pod-level resources cannot be removed")]
    errors: Errors = []
    if old is not None:
        errors += _validate_removed({"resources": new}, {"resources": old}, "spec.resources", "pod-level resource")
    if not same(_amounts(new or {}, old or {}), {which: (old or {}).get(which) or {} for which in _LISTS}):
        errors.append(FieldError.forbidden("spec", f"{_ONLY_THESE} at pod-level"))
    return errors


def _validate_removed(new: JSON, old: JSON, path: str, what: str) -> Errors:
    errors: Errors = []
    for which in _LISTS:
        now, then = ((each.get("resources") or {}).get(which) or {} for each in (new, old))
        if any(name not in now for name in then):
            errors.append(FieldError.forbidden(f"{path}.{which}", f"{what} {which} cannot be removed"))
    return errors


def _validate_init(container: JSON, then: JSON, path: str) -> Errors:
    errors: Errors = []
    if not same(_without_resizable(container, then), then):
        why = "only cpu and memory resources for init or sidecar containers are mutable"
        errors.append(FieldError.forbidden(path, why))
    if container.get("restartPolicy") != "Always" and not same(container, then):
        why = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
        policies = container.get("resizePolicy") or ()
        restarting = [each for each in policies if each.get("restartPolicy") == "RestartContainer"]
        errors += [FieldError.forbidden(path, why) for _ in restarting]
    return errors


def _without_resizable(container: JSON, old: JSON) -> JSON:
    """Return a container in which cpu and memory are as they were.

    Claims are lost, as in the real server: a container with claims cannot be resized.
    """
    return {**container, "resources": _amounts(container.get("resources") or {}, old.get("resources") or {})}


def _amounts(new: JSON, old: JSON) -> JSON:
    amounts: JSON = {}
    for which in _LISTS:
        then = old.get(which) or {}
        kept = {name: amount for name, amount in (new.get(which) or {}).items() if name not in _RESIZABLE}
        amounts[which] = kept | {name: then[name] for name in _RESIZABLE if name in then}
    return amounts
