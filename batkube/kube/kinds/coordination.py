"""Leases, which leader election and kubelets renew (`pkg/registry/coordination/lease` of Kubernetes)."""

from __future__ import annotations

from typing import Any

from ..apimachinery.metadata import Errors
from ..apimachinery.status import FieldError
from .strategy import Context, GuardedGeneric, Strategy

JSON = dict[str, Any]


class Leases(Strategy):
    """Rules of leases. PUT creates a lease. It replaces one only at a resourceVersion: of two leaders one loses."""

    generic_metadata = True
    create_on_update = True
    unconditional_update = False
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _drop_coordinated(obj.get("spec") or {}, {})

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate_spec(obj.get("spec") or {})

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _drop_coordinated(new.get("spec") or {}, old.get("spec") or {})

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return super().validate_update(new, old, ctx) + _validate_spec(new.get("spec") or {})


class LeaseCandidates(GuardedGeneric):
    """The candidates for leadership. PUT creates them, as it does leases."""

    create_on_update = True


def _drop_coordinated(spec: JSON, old: JSON) -> None:
    """Drop the fields of coordinated leader election: the feature is off."""
    for field in ("strategy", "preferredHolder"):
        if field not in old:
            spec.pop(field, None)


def _validate_spec(spec: JSON) -> Errors:
    errors: Errors = []
    seconds, transitions = spec.get("leaseDurationSeconds"), spec.get("leaseTransitions")
    if seconds is not None and seconds <= 0:
        errors.append(FieldError.invalid("spec.leaseDurationSeconds", seconds, "must be greater than 0"))
    if transitions is not None and transitions < 0:
        errors.append(FieldError.invalid("spec.leaseTransitions", transitions, "must be greater than or equal to 0"))
    return errors
