"""Namespaces and their end (`pkg/registry/core/namespace`)."""

from __future__ import annotations

from typing import Any

from ..metadata import Errors, validate_new
from ..names import dns_label
from ..status import ApiError
from ..strategy import Context, Strategy

JSON = dict[str, Any]

_NAME_LABEL = "kubernetes.io/metadata.name"
_IMMORTAL = frozenset(("default", "kube-system", "kube-public"))


class Namespaces(Strategy):
    selectable_fields = frozenset(("name", "status.phase"))
    counts_generation = False
    name_rule = staticmethod(dns_label)

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _label(obj)
        spec = obj.setdefault("spec", {})
        finalizers = spec.get("finalizers") or []
        if "kubernetes" not in finalizers:
            spec["finalizers"] = [*finalizers, "kubernetes"]
        obj["status"] = {"phase": "Active"}

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return validate_new(obj["metadata"], dns_label)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        if ctx.subresource is None:
            new["spec"] = old.get("spec", {})
        _label(new)

    def check_delete(self, obj: JSON, ctx: Context) -> None:
        name = obj["metadata"]["name"]
        if name in _IMMORTAL:
            raise ApiError.forbidden("namespaces", name, "this namespace may not be deleted")

    def field_labels(self, obj: JSON) -> dict[str, str] | None:
        return {"name": obj["metadata"]["name"], "status.phase": (obj.get("status") or {}).get("phase", "")}


def _label(namespace: JSON) -> None:
    metadata = namespace["metadata"]
    metadata["labels"] = {**(metadata.get("labels") or {}), _NAME_LABEL: metadata["name"]}
