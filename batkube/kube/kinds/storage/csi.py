"""The objects that storage drivers write: drivers, their nodes, their capacity, attached volumes
(`pkg/apis/storage/validation` of Kubernetes).
"""

from __future__ import annotations

from typing import Any

from ...apimachinery.label_selectors import validate_label_selector
from ...apimachinery.metadata import Errors, immutable, problems, validate_new
from ...apimachinery.names import dns_subdomain, out_of_range, qualified_name
from ...apimachinery.quantity import Quantity
from ...apimachinery.status import FieldError
from ...schema.gates import VOLUME_LIMIT_SCALING
from ..core.volume_sources import validate_driver
from ..core.volume_specs import default_volume_spec, validate_inline_spec
from ..node_labels import warnings_of_selector
from ..published import validate_field
from ..strategy import USERS_METADATA, Context, Strategy

JSON = dict[str, Any]

_MAX_NODE_ID = 256
_MAX_METADATA = 256 * 1024  # bytes, keys and values of all
_MAX_MESSAGE = 1024
_NEEDED = "preventPodSchedulingIfMissing"
_EXPIRES = "expirationSeconds"
_TOKENS_IN_SECRETS = (
    "spec.serviceAccountTokenInSecrets is unset; if supported by this CSI driver, set to true to prevent possible "
    "logging of tokens in volume attributes"
)
_FS_GROUP_POLICIES = ("File", "None", "ReadWriteOnceWithFSType")
_LIFECYCLES = ("Persistent", "Ephemeral")
_DRIVER_DEFAULTS: JSON = {
    "attachRequired": True,
    "podInfoOnMount": False,
    "storageCapacity": False,
    "fsGroupPolicy": "ReadWriteOnceWithFSType",
    "requiresRepublish": False,
    "seLinuxMount": False,
}


class CSIDrivers(Strategy):
    """The needs and the abilities of a driver."""

    unconditional_update = False
    counts_generation = False
    answers_deleted_object = True

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_driver(obj.setdefault("spec", {}), ctx)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        errors = super().validate_create(obj, ctx) + _validate_driver(obj["spec"])
        if not errors:
            _warn_of_driver(obj["spec"], ctx)
        return errors

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_driver(new.setdefault("spec", {}), ctx)
        if new["spec"] != old["spec"]:
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx) + _validate_driver(new["spec"])
        for field, shown in (("attachRequired", "attachedRequired"), ("volumeLifecycleModes", "volumeLifecycleModes")):
            errors += immutable(f"spec.{shown}", new["spec"].get(field), old["spec"].get(field))
        if not errors and new["spec"].get("tokenRequests") != old["spec"].get("tokenRequests"):
            _warn_of_driver(new["spec"], ctx)
        return errors


def _default_driver(spec: JSON, ctx: Context) -> None:
    for field, value in _DRIVER_DEFAULTS.items():
        spec.setdefault(field, value)
    if VOLUME_LIMIT_SCALING in ctx.gates:
        spec.setdefault(_NEEDED, False)
    if not spec.get("volumeLifecycleModes"):
        spec["volumeLifecycleModes"] = ["Persistent"]


def _validate_driver(spec: JSON) -> Errors:
    errors: Errors = []
    policy, period = spec["fsGroupPolicy"], spec.get("nodeAllocatableUpdatePeriodSeconds")
    if policy not in _FS_GROUP_POLICIES:
        errors.append(FieldError.not_supported("spec.fsGroupPolicy", policy, _FS_GROUP_POLICIES))
    for mode in spec["volumeLifecycleModes"]:
        if mode not in _LIFECYCLES:
            errors.append(FieldError.not_supported("spec.volumeLifecycleModes", mode, _LIFECYCLES))
    if period is not None and period < 10:
        why = "must be greater than or equal to 10 seconds"
        errors.append(FieldError.invalid("spec.nodeAllocatableUpdatePeriodSeconds", period, why))
    requests, in_secrets = spec.get("tokenRequests") or [], spec.get("serviceAccountTokenInSecrets")
    errors += _validate_token_requests(requests)
    if in_secrets is not None and not requests:
        why = "serviceAccountTokenInSecrets is set but no tokenRequests are specified"
        errors.append(FieldError.invalid("spec.serviceAccountTokenInSecrets", in_secrets, why))
    return errors


def _validate_token_requests(requests: list[JSON]) -> Errors:
    errors: Errors = []
    audiences: set[str] = set()
    for index, request in enumerate(requests):
        at, audience, seconds = f"spec.tokenRequests[{index}]", request.get("audience") or "", request.get(_EXPIRES)
        if audience in audiences:
            errors.append(FieldError.duplicate(f"{at}.audience", audience))
            continue
        audiences.add(audience)
        if seconds is not None and seconds < 600:
            why = "may not specify a duration less than 10 minutes"
            errors.append(FieldError.invalid(f"{at}.{_EXPIRES}", seconds, why))
        if seconds is not None and seconds > 1 << 32:
            why = "may not specify a duration larger than 2^32 seconds"
            errors.append(FieldError.invalid(f"{at}.{_EXPIRES}", seconds, why))
    return errors


def _warn_of_driver(spec: JSON, ctx: Context) -> None:
    if spec.get("tokenRequests") and spec.get("serviceAccountTokenInSecrets") is None:
        ctx.warnings.append(_TOKENS_IN_SECRETS)


class CSINodes(Strategy):
    """The drivers of a node, and how many volumes each accepts: the volume limits for the scheduler."""

    unconditional_update = False
    counts_generation = False
    answers_deleted_object = True

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj.pop("status", None)  # there is none before Kubernetes 1.37
        obj.setdefault("spec", {}).setdefault("drivers", None)  # not left out where it is empty

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        new.pop("status", None)
        new.setdefault("spec", {}).setdefault("drivers", None)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate_node_drivers(_drivers(obj))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = validate_new(new["metadata"], self.name_rule) + _validate_node_drivers(_drivers(new))
        known = {driver.get("name", ""): driver for driver in _drivers(old)}
        for driver in _drivers(new):
            before = known.get(driver.get("name", ""), driver)
            if {**driver, "allocatable": None} != {**before, "allocatable": None}:
                errors.append(FieldError.invalid("spec.drivers", driver, "field is immutable"))
        return errors


def _drivers(node: JSON) -> list[JSON]:
    return (node.get("spec") or {}).get("drivers") or []


def _validate_node_drivers(drivers: list[JSON]) -> Errors:
    errors: Errors = []
    names: set[str] = set()
    for index, driver in enumerate(drivers):
        at = f"spec.drivers[{index}]"
        name, node = driver.get("name") or "", driver.get("nodeID") or ""
        errors += validate_driver(name, f"{at}.name")
        errors += validate_field("storage/v1.CSINodeDriver", driver, "nodeID", at)
        if len(node.encode()) > _MAX_NODE_ID:
            errors.append(FieldError.invalid(f"{at}.nodeID", node, f"must be {_MAX_NODE_ID} characters or less"))
        count = (driver.get("allocatable") or {}).get("count")
        if count is not None and count < 0:
            errors.append(FieldError.invalid(f"{at}.allocatable.count", count, "must be greater than or equal to 0"))
        if name in names:
            errors.append(FieldError.duplicate(f"{at}.name", name))
        names.add(name)
        keys = driver.get("topologyKeys") or []
        for place, key in enumerate(keys):
            if not key:
                errors.append(FieldError.required(at, key))
            if key in keys[:place]:
                errors.append(FieldError.duplicate(at, key))
            errors += problems(at, key, qualified_name(key))
    return errors


class CSIStorageCapacities(Strategy):
    """The capacity that is available for a storage class in some part of the cluster."""

    unconditional_update = False
    revalidates_metadata = True
    counts_generation = False

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return self._warned(obj, ctx, super().validate_create(obj, ctx) + _validate_capacity(obj))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx) + _validate_capacity(new)
        for field in ("nodeTopology", "storageClassName"):
            errors += immutable(field, new.get(field), old.get(field))
        return self._warned(new, ctx, errors)

    @staticmethod
    def _warned(obj: JSON, ctx: Context, errors: Errors) -> Errors:
        if not errors:
            ctx.warnings.extend(warnings_of_selector(obj.get("nodeTopology"), "nodeTopology"))
        return errors


def _validate_capacity(obj: JSON) -> Errors:
    errors = validate_label_selector(obj.get("nodeTopology"), "nodeTopology")
    name = obj.get("storageClassName") or ""
    errors += problems("storageClassName", name, dns_subdomain(name))
    capacity = obj.get("capacity")
    if capacity is not None and Quantity.parse(capacity).value < 0:
        errors.append(FieldError.invalid("capacity", capacity, "must be greater than or equal to 0"))
    return errors


class VolumeAttachments(Strategy):
    """A volume that should be attached to a node. The spec is immutable."""

    unconditional_update = False
    counts_generation = False
    answers_deleted_object = True
    kept_by_status = USERS_METADATA

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj["status"] = {"attached": False}
        _default_attachment(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        _default_attachment(new)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_status(new, old, ctx)
        _default_attachment(new)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate_attachment(obj.get("spec") or {})

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = validate_new(new["metadata"], self.name_rule) + _validate_attachment(new.get("spec") or {})
        errors += _validate_attachment_status(new.get("status") or {})
        return errors + immutable("spec", new.get("spec"), old.get("spec"), of="storage/v1.VolumeAttachmentSpec")

    validate_status = validate_update


def _default_attachment(obj: JSON) -> None:
    inline = ((obj.get("spec") or {}).get("source") or {}).get("inlineVolumeSpec")
    if inline is not None:
        default_volume_spec(inline)


def _validate_attachment(spec: JSON) -> Errors:
    errors = validate_driver(spec.get("attacher") or "", "spec.attacher")
    source = spec.get("source") or {}
    volume, inline = source.get("persistentVolumeName"), source.get("inlineVolumeSpec")
    why = "must specify exactly one of inlineVolumeSpec and persistentVolumeName"
    if volume is None and inline is None:
        errors.append(FieldError.required("spec.source", why))
    elif volume is not None and inline is not None:
        errors.append(FieldError.forbidden("spec.source", why))
    elif volume == "":
        why = "must specify non empty persistentVolumeName"
        errors.append(FieldError.required("spec.source.persistentVolumeName", why))
    elif inline is not None:
        errors += validate_inline_spec(inline, "spec.source.inlineVolumeSpec")
    node = spec.get("nodeName") or ""
    errors += problems("spec.nodeName", node, dns_subdomain(node))
    if volume is not None:
        errors += problems("spec.source.persistentVolumeName", volume, dns_subdomain(volume))
    return errors


def _validate_attachment_status(status: JSON) -> Errors:
    errors: Errors = []
    metadata = status.get("attachmentMetadata") or {}
    if sum(len(key.encode()) + len(value.encode()) for key, value in metadata.items()) > _MAX_METADATA:
        errors.append(FieldError.too_long("status.attachmentMetadata", _MAX_METADATA))
    for field in ("attachError", "detachError"):
        error = status.get(field) or {}
        if len((error.get("message") or "").encode()) > _MAX_MESSAGE:
            errors.append(FieldError.too_long(f"status.{field}.message", _MAX_METADATA))
        if (error.get("errorCode") or 0) < 0:
            why = out_of_range(0, 2**31 - 1)
            errors.append(FieldError.invalid(f"status.{field}.errorCode", error["errorCode"], why))
    return errors
