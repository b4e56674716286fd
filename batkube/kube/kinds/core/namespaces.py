"""Namespaces and their end (`pkg/registry/core/namespace`).

A deleted namespace is Terminating until the finalizers of its spec are gone. The namespace controller, or whoever plays
its part, empties the namespace and removes the finalizers through `finalize`.
"""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors, problems, validate_new
from ...apimachinery.names import dns_label, qualified_name
from ...apimachinery.status import ApiError, FieldError
from ..strategy import Context, Strategy, keep

JSON = dict[str, Any]

NAMESPACES = "namespaces"
KUBERNETES = "kubernetes"  # the finalizer of the namespace controller
ACTIVE, TERMINATING = "Active", "Terminating"

_NAME_LABEL = "kubernetes.io/metadata.name"
_IMMORTAL = frozenset(("default", "kube-system", "kube-public"))
_STANDARD_FINALIZERS = frozenset((KUBERNETES, "orphan", "foregroundDeletion"))
_UNQUALIFIED = "name is neither a standard finalizer name nor is it fully qualified"


class Namespaces(Strategy):
    """Rules of namespaces. They have no generation."""

    set_by_admission = frozenset(("spec.finalizers",))
    defaulted_metadata = ("labels",)
    selectable_fields = frozenset(("status.phase",))
    selectable_metadata = ("metadata.name",)
    counts_generation = False
    answers_deleted_object = True
    deleted_in_two_steps = True
    name_rule = staticmethod(dns_label)

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _label(obj)
        spec = obj.setdefault("spec", {})
        finalizers = spec.get("finalizers") or []
        if KUBERNETES not in finalizers:
            spec["finalizers"] = [*finalizers, KUBERNETES]
        obj["status"] = {"phase": ACTIVE}

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate_finalizers(obj)]

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        keep(new, old, "spec")
        _label(new)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_status(new, old, ctx)
        status = new["status"] = dict(new.get("status") or {})
        status["phase"] = status.get("phase") or ACTIVE
        _label(new)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        errors += validate_new(new["metadata"], dns_label)
        return [*errors, *_validate_finalizers(new, indexed=False)]

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return [*super().validate_status(new, old, ctx), *_validate_phase(new)]

    def check_delete(self, obj: JSON, ctx: Context) -> None:
        name = obj["metadata"]["name"]
        if name in _IMMORTAL:
            raise ApiError.forbidden("namespaces", name, "this namespace may not be deleted")

    def holds(self, obj: JSON) -> bool:
        return bool((obj.get("spec") or {}).get("finalizers"))

    def prepare_delete(self, new: JSON, old: JSON, ctx: Context) -> None:
        new["status"] = {**(new.get("status") or {}), "phase": TERMINATING}

    def field_labels(self, obj: JSON) -> dict[str, str] | None:
        return {"status.phase": (obj.get("status") or {}).get("phase", "")}


class Finalize(Namespaces):
    """The rules of `/finalize`, which alone changes the finalizers of the spec."""

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        Strategy.prepare_update(self, new, old, ctx)
        _label(new)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return [*Strategy.validate_update(self, new, old, ctx), *_validate_finalizers(new, indexed=True)]


def _label(namespace: JSON) -> None:
    metadata = namespace["metadata"]
    metadata["labels"] = {**(metadata.get("labels") or {}), _NAME_LABEL: metadata["name"]}


def _validate_finalizers(namespace: JSON, *, indexed: bool = False) -> Errors:
    """Check the finalizers. `indexed`: errors name the index of the wrong finalizer, as those of `finalize` do."""
    errors: Errors = []
    for index, finalizer in enumerate((namespace.get("spec") or {}).get("finalizers") or ()):
        path = f"spec.finalizers[{index}]" if indexed else "spec.finalizers"
        errors += problems(path, finalizer, qualified_name(finalizer))
        if "/" not in finalizer and finalizer not in _STANDARD_FINALIZERS:
            errors.append(FieldError.invalid(path, finalizer, _UNQUALIFIED))
    return errors


def _validate_phase(namespace: JSON) -> Errors:
    ending = namespace["metadata"].get("deletionTimestamp") is not None
    wanted, not_ = (TERMINATING, "not ") if ending else (ACTIVE, "")
    phase = (namespace.get("status") or {}).get("phase", "")
    if phase == wanted:
        return []
    why = f"may only be '{wanted}' if `deletionTimestamp` is {not_}empty"
    return [FieldError.invalid("status.Phase", phase, why)]
