"""Nodes (`pkg/registry/core/node`, `ValidateNode` of Kubernetes).

A status sent on create is stored: kubelets register themselves with it. Admission taints every new node until somebody
finds it ready.
"""

from __future__ import annotations

import copy
import ipaddress
import re
from typing import Any

from ...apimachinery import metadata
from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import cidr, label_value, qualified_name
from ...apimachinery.status import FieldError, quote, show
from ...codec.empty_objects import empty_fields
from .. import resource_lists
from ..strategy import Context, Strategy

JSON = dict[str, Any]

NOT_READY = "node.kubernetes.io/not-ready"

_MAX_FEATURE = 253  # characters
_FEATURE = re.compile(r"[A-Z][a-zA-Z0-9]*(/[a-zA-Z][a-zA-Z0-9]*)*")
_FEATURE_RULE = (
    "must start with an UpperCamelCase segment, with subsequent segments separated by '/' (e.g., MyFeature or "
    "MyFeature/mySubFeature), and contain only alphanumeric characters and slashes"
)
_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
_ONCE = 'node updates may not change {} except from "" to valid'


class Nodes(Strategy):
    """Rules of nodes. They have no generation."""

    selectable_fields = frozenset(("spec.unschedulable",))
    selectable_metadata = ("metadata.name",)
    counts_generation = False
    set_by_admission = frozenset(("spec.taints",))

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        for part, empty in empty_fields(ctx.resource).items():
            obj.setdefault(part, copy.deepcopy(empty))
        spec, status = obj["spec"], obj["status"]
        _default(spec, status)
        spec.pop("configSource", None)
        status.pop("config", None)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx)
        errors += _validate(obj)
        if not errors:
            _warn(obj, ctx)
        return errors

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        spec, status = new.setdefault("spec", {}), new.setdefault("status", {})
        _default(spec, status)
        super().prepare_update(new, old, ctx)
        if "configSource" not in old.get("spec", {}):
            spec.pop("configSource", None)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default(new.setdefault("spec", {}), new.setdefault("status", {}))
        super().prepare_status(new, old, ctx)
        if "config" not in old.get("status", {}):
            new["status"].pop("config", None)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = metadata.validate_new(new["metadata"], self.name_rule)
        errors += _validate(new)
        errors += super().validate_update(new, old, ctx)
        errors += self._validate_change(new, old)
        if not errors:
            _warn(new, ctx)
        return errors

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return super().validate_status(new, old, ctx) + self._validate_change(new, old)

    @staticmethod
    def _validate_change(new: JSON, old: JSON) -> Errors:
        errors = _validate_resources(new["status"])
        errors += _validate_features(new["status"].get("declaredFeatures") or [])
        errors += _validate_addresses(new["status"].get("addresses") or [])
        return errors + _validate_unchanged(new["spec"], old.get("spec", {}))

    def field_labels(self, obj: JSON) -> dict[str, str]:
        return {"spec.unschedulable": "true" if obj.get("spec", {}).get("unschedulable") else "false"}


def _default(spec: JSON, status: JSON) -> None:
    """Set the defaults of a node: allocatable is the capacity if absent, and podCIDR and podCIDRs agree."""
    resource_lists.round_up(status.get("capacity"))
    if status.get("capacity") and "allocatable" not in status:
        status["allocatable"] = dict(status["capacity"])
    resource_lists.round_up(status.get("allocatable"))
    first, every = spec.get("podCIDR"), spec.get("podCIDRs")
    if first and (not every or every[0] != first):
        every = spec["podCIDRs"] = [first]
    if every:
        spec["podCIDR"] = every[0]


def _warn(node: JSON, ctx: Context) -> None:
    if node["spec"].get("externalID"):
        ctx.warnings.append("spec.externalID: this field is deprecated, and is unused by Kubernetes")


def _validate(node: JSON) -> Errors:
    spec, status = node["spec"], node["status"]
    errors = validate_taints(spec.get("taints") or [], "metadata.taints")
    errors += _validate_resources(status)
    errors += _validate_features(status.get("declaredFeatures") or [])
    cidrs = spec.get("podCIDRs") or []
    for index, value in enumerate(cidrs):
        errors += problems(f"spec.podCIDRs[{index}]", value, cidr(value))
    if len(cidrs) > 1 and not _dual_stack(cidrs):
        why = "may specify no more than one CIDR for each IP family"
        errors.append(FieldError.invalid("spec.podCIDRs", cidrs, why))
    return errors


def _validate_features(names: list[str]) -> Errors:
    """Check the features that a kubelet declares: they are sorted, and each stands once."""
    errors: Errors = []
    for index, name in enumerate(names):
        path = f"status.declaredFeatures[{index}]"
        if len(name) > _MAX_FEATURE:
            why = f"invalid feature name {quote(name)}: must be no more than {_MAX_FEATURE} characters"
            errors.append(FieldError.invalid(path, name, why))
        elif not _FEATURE.fullmatch(name):
            errors.append(FieldError.invalid(path, name, f"invalid feature name {quote(name)}: {_FEATURE_RULE}"))
        if index and name == names[index - 1]:
            errors.append(FieldError.duplicate(path, name))
        elif index and name < names[index - 1]:
            errors.append(FieldError.invalid(path, name, "list must be sorted alphabetically"))
    return errors


def _dual_stack(cidrs: list[str]) -> bool:
    """Return True if there are two CIDRs, one of each IP family."""
    try:
        return sorted(ipaddress.ip_network(value, strict=False).version for value in cidrs) == [4, 6]
    except ValueError:
        return False


def validate_taints(taints: list[JSON], path: str) -> Errors:
    """Return the errors in a node's taints. The real server reports them under `metadata`, where they once were."""
    errors: Errors = []
    seen: set[tuple[str, str]] = set()
    for index, taint in enumerate(taints):
        at = f"{path}[{index}]"
        key, value, effect = taint.get("key", ""), taint.get("value", ""), taint.get("effect", "")
        errors += validate_taint_key_and_value(taint, at)
        if not effect:
            errors.append(FieldError.required(f"{at}.effect"))
        elif effect not in _EFFECTS:
            errors.append(FieldError.not_supported(f"{at}.effect", effect, _EFFECTS))
        if (key, effect) in seen:
            shown = show({"Key": key, "Value": value, "Effect": effect, "TimeAdded": taint.get("timeAdded")})
            why = f"Duplicate value: {shown}: taints must be unique by key and effect pair"
            errors.append(FieldError("FieldValueDuplicate", at, why))
        seen.add((key, effect))
    return errors


def validate_taint_key_and_value(taint: JSON, path: str) -> Errors:
    """Check the key and the value of the taint of a node or a device."""
    key, value = taint.get("key", ""), taint.get("value", "")
    errors = problems(f"{path}.key", key, qualified_name(key))
    if wrong := label_value(value):
        errors.append(FieldError.invalid(f"{path}.value", value, ";".join(wrong)))
    return errors


def _validate_resources(status: JSON) -> Errors:
    errors: Errors = []
    for field in ("capacity", "allocatable"):
        for name, quantity in (status.get(field) or {}).items():
            errors += resource_lists.validate_value(name, quantity, f"status.{field}.{name}")
    return errors


def _validate_addresses(addresses: list[JSON]) -> Errors:
    errors: Errors = []
    seen: list[JSON] = []
    for index, address in enumerate(addresses):
        if address in seen:
            shown = {"Type": address.get("type", ""), "Address": address.get("address", "")}
            errors.append(FieldError.duplicate(f"status.addresses[{index}]", shown))
        seen.append(address)
    return errors


def _validate_unchanged(new: JSON, old: JSON) -> Errors:
    errors: Errors = []
    if old.get("podCIDRs") and new.get("podCIDRs") != old["podCIDRs"]:
        errors.append(FieldError.forbidden("spec.podCIDRs", _ONCE.format("podCIDR")))
    if old.get("providerID") and new.get("providerID") != old["providerID"]:
        errors.append(FieldError.forbidden("spec.providerID", _ONCE.format("providerID")))
    errors += validate_taints(new.get("taints") or [], "metadata.taints")
    if new.get("externalID", "") != old.get("externalID", ""):
        errors.append(FieldError.forbidden("spec.externalID", "may not be updated"))
    return errors
