"""The changes that the spec of a pod allows (`ValidatePodUpdate` in `pkg/apis/core/validation/validation.go`)."""

from __future__ import annotations

from functools import cache
from typing import Any

from ...apimachinery.metadata import Errors
from ...apimachinery.quantity import Quantity
from ...apimachinery.status import FieldError
from ...schema import api_types
from ...schema.internal_json import differences, internal
from ..strategy import keep
from .scheduling_validation import validate_tolerations

JSON = dict[str, Any]

_MAX_DEADLINE = (1 << 31) - 1
_CHANGEABLE = ",".join(
    (
        "`spec.containers[*].image`",
        "`spec.initContainers[*].image`",
        "`spec.activeDeadlineSeconds`",
        "`spec.tolerations` (only additions to existing tolerations)",
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)",
    )
)
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def validate_spec_change(new: JSON, old: JSON, *, comparing: bool = False) -> Errors:
    """Check a change of a pod's spec.

    Very few fields may change. In a gated pod the choice of nodes may change, too, if it becomes narrower.
    """
    errors: Errors = []
    for key in ("containers", "initContainers"):
        containers = new.get(key) or []
        if len(containers) != len(old.get(key) or ()):
            why = "pod updates may not add or remove containers"
            return [*errors, FieldError.forbidden(f"spec.{key}", why)]
        for index, container in enumerate(containers):
            image = container.get("image", "")
            if not image:
                errors.append(FieldError.required(f"spec.{key}[{index}].image"))
            elif image != image.strip():
                why = "must not have leading or trailing whitespace"
                errors.append(FieldError.invalid(f"spec.{key}[{index}].image", image, why))
    wrong, final = _validate_deadline(new.get("activeDeadlineSeconds"), old.get("activeDeadlineSeconds"))
    errors += wrong
    if final:
        return errors
    errors += _validate_tolerations(new.get("tolerations") or [], old.get("tolerations") or [], comparing)
    errors += _validate_gates(new.get("schedulingGates") or [], old.get("schedulingGates") or [])
    rest = _with_changeable_of(new, old)
    if old.get("schedulingGates"):
        errors += _validate_narrowing(rest, old)
    if not same(rest, old):
        changed = differences("core/v1.PodSpec", old, rest)
        why = f"pod updates may not change fields other than {_CHANGEABLE}\n{changed}"
        errors.append(FieldError.forbidden("spec", why))
    return errors


def _validate_deadline(new: int | None, old: int | None) -> tuple[Errors, bool]:
    path = "spec.activeDeadlineSeconds"
    if new is None:
        if old is None:
            return [], False
        return [FieldError.invalid(path, None, "must not update from a positive integer to nil value")], False
    if not 0 <= new <= _MAX_DEADLINE:
        return [FieldError.invalid(path, new, f"must be between 0 and {_MAX_DEADLINE}, inclusive")], True
    if old is not None and old < new:
        return [FieldError.invalid(path, new, "must be less than or equal to previous value")], True
    return [], False


def _validate_tolerations(new: list[JSON], old: list[JSON], comparing: bool) -> Errors:
    timeless = [_without(toleration, "tolerationSeconds") for toleration in new]
    if any(_without(toleration, "tolerationSeconds") not in timeless for toleration in old):
        why = "existing toleration can not be modified except its tolerationSeconds"
        return [FieldError.forbidden("spec.tolerations", why)]
    return validate_tolerations(new, "spec.tolerations", comparing=comparing)


def _without(obj: JSON, key: str) -> JSON:
    return {name: value for name, value in obj.items() if name != key}


def _validate_gates(new: list[JSON], old: list[JSON]) -> Errors:
    present = {gate.get("name", "") for gate in old}
    added = {gate.get("name", ""): index for index, gate in enumerate(new)}  # of several of one name the last
    return [
        FieldError.forbidden(
            f"spec.schedulingGates[{index}].name",
            f"only deletion is allowed, but found new scheduling gate '{name}'",
        )
        for name, index in added.items()
        if name not in present
    ]


def _with_changeable_of(new: JSON, old: JSON) -> JSON:
    """Return the new spec with the old values of all that may change."""
    rest = dict(new)
    for key in ("containers", "initContainers"):
        if rest.get(key):
            rest[key] = [{**now, "image": before.get("image")} for now, before in zip(rest[key], old[key], strict=True)]
    for key in ("activeDeadlineSeconds", "schedulingGates", "tolerations"):
        keep(rest, old, key)
    if old.get("terminationGracePeriodSeconds", 0) < 0 and rest.get("terminationGracePeriodSeconds") == 1:
        keep(rest, old, "terminationGracePeriodSeconds")
    return rest


def _validate_narrowing(rest: JSON, old: JSON) -> Errors:
    """Check that a gated pod's node selector and required node affinity are only added to. `rest` gets the old values
    back.
    """
    errors: Errors = []
    selector, before = rest.get("nodeSelector") or {}, old.get("nodeSelector") or {}
    if any(selector.get(key) != value for key, value in before.items()):
        why = "only additions to spec.nodeSelector are allowed (no mutations or deletions)"
        errors.append(FieldError.invalid("spec.nodeSelector", selector, why))
    keep(rest, old, "nodeSelector")
    affinity, then = rest.get("affinity"), old.get("affinity")
    node, node_then = (affinity or {}).get("nodeAffinity"), (then or {}).get("nodeAffinity")
    if node == node_then:
        return errors
    errors += _validate_terms(node or {}, node_then or {})
    if (
        then is None
        and affinity is not None
        and not affinity.get("podAffinity")
        and not affinity.get("podAntiAffinity")
    ):
        rest.pop("affinity")
    else:
        changed = dict(affinity or {})
        keep(changed, then or {}, "nodeAffinity")
        rest["affinity"] = changed
    return errors


def _validate_terms(node: JSON, before: JSON) -> Errors:
    path = f"spec.affinity.nodeAffinity.{_REQUIRED}.nodeSelectorTerms"
    old = (before.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    new = (node.get(_REQUIRED) or {}).get("nodeSelectorTerms") or []
    if not old:
        return []
    if len(old) != len(new):
        why = "no additions/deletions to non-empty NodeSelectorTerms list are allowed"
        return [FieldError.invalid(path, [internal("core/v1.NodeSelectorTerm", term) for term in new] or None, why)]
    return [
        FieldError.invalid(
            f"{path}[{index}]",
            internal("core/v1.NodeSelectorTerm", now),
            "only additions are allowed (no mutations or deletions)",
        )
        for index, (now, then) in enumerate(zip(new, old, strict=True))
        if not _only_adds(now, then)
    ]


def _only_adds(new: JSON, old: JSON) -> bool:
    if not old.get("matchExpressions") and not old.get("matchFields"):
        return not new.get("matchExpressions") and not new.get("matchFields")
    for key in ("matchExpressions", "matchFields"):
        before = old.get(key) or []
        if (new.get(key) or [])[: len(before)] != before:
            return False
    return True


def same(one: Any, other: Any, field: str = "") -> bool:
    """Return True if both are equal as Kubernetes compares: quantities by amount, empty lists, maps and zeros as
    absent.

    An empty value and an absent one differ where the field is a pointer in Go.
    """
    if one == other or (_is_nothing(one, field) and _is_nothing(other, field)):
        return True
    if isinstance(one, dict) and isinstance(other, dict):
        return all(
            _same_amounts(one.get(key), other.get(key))
            if key in ("limits", "requests", "overhead")
            else same(one.get(key), other.get(key), key)
            for key in {**one, **other}
        )
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    return False


def _is_nothing(value: Any, field: str) -> bool:
    return value is None or value == [] or (value in ("", 0, False) and field not in _pointers())


@cache
def _pointers() -> frozenset[str]:
    """Return the fields in a pod's spec that are pointers wherever they stand: absent and empty differ there."""
    pointers: set[str] = set()
    others: set[str] = set()
    types, seen = ["core/v1.PodSpec"], {"core/v1.PodSpec"}
    while types:
        for field in api_types.fields_of(types.pop()):
            (pointers if field.pointer else others).add(field.name)
            if api_types.has_type(field.type) and field.type not in seen:
                seen.add(field.type)
                types.append(field.type)
    return frozenset(pointers - others)


def _same_amounts(one: JSON | None, other: JSON | None) -> bool:
    one, other = one or {}, other or {}
    return one.keys() == other.keys() and all(
        Quantity.parse(amount) == Quantity.parse(other[name]) for name, amount in one.items()
    )
