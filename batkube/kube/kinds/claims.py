"""Dynamic resource allocation: resource claims and their templates, slices, device classes
(`pkg/apis/resource`, `pkg/registry/resource`).
"""

from __future__ import annotations

from typing import Any

from ..metadata import Errors, immutable, problems
from ..names import dns_label, dns_subdomain, qualified_name
from ..status import FieldError
from ..strategy import Context, Strategy
from .scheduling_validation import validate_node_selector

JSON = dict[str, Any]

_MAX_REQUESTS = 32
_MAX_DEVICES = 128  # of a slice
_MODES = ("All", "ExactCount")
_EFFECTS = ("None", "NoExecute", "NoSchedule")
_VALUES = ("bool", "int", "string", "version", "bools", "ints", "strings", "versions")
_PLACES = ("nodeName", "nodeSelector", "allNodes", "perDeviceNodeSelection")
_ONE_PLACE = f"exactly one of {', '.join(f'`{name}`' for name in _PLACES)} is required"
_ONE_REQUEST = "exactly one of `exactly` or `firstAvailable` is required"


class ResourceClaims(Strategy):
    answers_deleted_object = True
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_claim(obj.setdefault("spec", {}))
        super().prepare_create(obj, ctx)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_update(new, old, ctx)
        if ctx.subresource is None:
            _default_claim(new.setdefault("spec", {}))
        elif not (new.get("status") or {}).get("allocation"):
            (new.get("status") or {}).pop("allocation", None)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate_claim(obj["spec"], "spec")]

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        if ctx.subresource == "status":
            return [*errors, *_validate_claim_status(new, old)]
        return [*errors, *immutable("spec", new["spec"], old["spec"])]


class ResourceClaimTemplates(Strategy):
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default_claim(obj.setdefault("spec", {}).setdefault("spec", {}))

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default_claim(new.setdefault("spec", {}).setdefault("spec", {}))

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate_claim(obj["spec"]["spec"], "spec.spec")]

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return [*super().validate_update(new, old, ctx), *immutable("spec", new["spec"], old["spec"])]


class DeviceClasses(Strategy):
    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate_selectors(obj["spec"].get("selectors"), "spec")]

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return [*super().validate_update(new, old, ctx), *_validate_selectors(new["spec"].get("selectors"), "spec")]


class ResourceSlices(Strategy):
    selectable_fields = frozenset(("spec.nodeName", "spec.driver"))

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        _date_taints(obj["spec"], ctx.now)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _date_taints(new["spec"], ctx.now)
        super().prepare_update(new, old, ctx)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return [*super().validate_create(obj, ctx), *_validate_slice(obj["spec"])]

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = [*super().validate_update(new, old, ctx), *_validate_slice(new["spec"])]
        spec, before = new["spec"], old["spec"]
        errors.extend(
            immutable("spec.pool.name", (spec.get("pool") or {}).get("name"), (before.get("pool") or {}).get("name"))
        )
        for name in ("driver", "nodeName"):
            errors.extend(immutable(f"spec.{name}", spec.get(name), before.get(name)))
        return errors

    def field_labels(self, obj: JSON) -> dict[str, str]:
        spec = obj["spec"]
        return {"spec.nodeName": spec.get("nodeName") or "", "spec.driver": spec.get("driver", "")}


# -- claims


def _default_claim(spec: JSON) -> None:
    for request in (spec.get("devices") or {}).get("requests") or ():
        for each in (request.get("exactly"), *(request.get("firstAvailable") or ())):
            if each is None:
                continue
            each["allocationMode"] = each.get("allocationMode") or "ExactCount"
            if each["allocationMode"] == "ExactCount" and not each.get("count"):
                each["count"] = 1
            _default_tolerations(each)


def _default_tolerations(request: JSON) -> None:
    for toleration in request.get("tolerations") or ():
        toleration["operator"] = toleration.get("operator") or "Equal"


def _validate_claim(spec: JSON, path: str) -> Errors:
    devices = spec.get("devices") or {}
    requests = devices.get("requests") or []
    errors: Errors = []
    if len(requests) > _MAX_REQUESTS:
        errors.append(FieldError.too_many(f"{path}.devices.requests", len(requests), _MAX_REQUESTS))
    seen: set[str] = set()
    for index, request in enumerate(requests):
        where = f"{path}.devices.requests[{index}]"
        name = request.get("name", "")
        errors.extend(_validate_name(name, f"{where}.name"))
        if name in seen:
            errors.append(FieldError.duplicate(where, name))
        seen.add(name)
        exactly, first = request.get("exactly"), request.get("firstAvailable") or []
        if exactly is None and not first:
            errors.append(FieldError.required(where, _ONE_REQUEST))
        elif exactly is not None and first:
            errors.append(FieldError.invalid(where, None, f"{_ONE_REQUEST}, but multiple fields are set"))
        elif exactly is not None:
            errors.extend(_validate_request(exactly, f"{where}.exactly"))
        for number, each in enumerate(first if exactly is None else ()):
            errors.extend(_validate_name(each.get("name", ""), f"{where}.firstAvailable[{number}].name"))
            errors.extend(_validate_request(each, f"{where}.firstAvailable[{number}]"))
    names = _request_names(spec)
    for index, constraint in enumerate(devices.get("constraints") or ()):
        where = f"{path}.devices.constraints[{index}]"
        for number, name in enumerate(constraint.get("requests") or ()):
            errors.extend(_validate_reference(name, f"{where}.requests[{number}]", names))
        if not constraint.get("matchAttribute") and not constraint.get("distinctAttribute"):
            errors.append(FieldError.required(f"{where}.matchAttribute"))
    for index, config in enumerate(devices.get("config") or ()):
        where = f"{path}.devices.config[{index}]"
        for number, name in enumerate(config.get("requests") or ()):
            errors.extend(_validate_reference(name, f"{where}.requests[{number}]", names))
        if config.get("opaque") is None:
            errors.append(FieldError.required(f"{where}.opaque"))
    return errors


def _validate_name(name: str, path: str) -> Errors:
    return problems(path, name, dns_label(name)) if name else [FieldError.required(path)]


def _validate_request(request: JSON, path: str) -> Errors:
    errors: Errors = []
    class_name = request.get("deviceClassName", "")
    if not class_name:
        errors.append(FieldError.required(f"{path}.deviceClassName"))
    else:
        errors.extend(problems(f"{path}.deviceClassName", class_name, dns_subdomain(class_name)))
    errors.extend(_validate_selectors(request.get("selectors"), path))
    mode, count = request.get("allocationMode", ""), request.get("count", 0)
    if mode not in _MODES:
        errors.append(FieldError.not_supported(f"{path}.allocationMode", mode, _MODES))
    elif mode == "All" and count:
        why = "must not be specified when allocationMode is 'All'"
        errors.append(FieldError.invalid(f"{path}.count", count, why))
    elif mode == "ExactCount" and count <= 0:
        errors.append(FieldError.invalid(f"{path}.count", count, "must be greater than zero"))
    return errors


def _validate_selectors(selectors: list[JSON] | None, path: str) -> Errors:
    errors: Errors = []
    for index, selector in enumerate(selectors or ()):
        where = f"{path}.selectors[{index}].cel"
        expression = (selector.get("cel") or {}).get("expression", "")
        if selector.get("cel") is None:
            errors.append(FieldError.required(where))
        elif not expression:
            errors.append(FieldError.required(f"{where}.expression"))
        elif wrong := _syntax_problem(expression):
            errors.append(FieldError.invalid(f"{where}.expression", expression, wrong))
    return errors


def _syntax_problem(expression: str) -> str:
    """What a glance finds wrong with a CEL expression: brackets that do not match, an operator at its end. Only
    schedulers evaluate them.
    """
    pairs = {")": "(", "]": "[", "}": "{"}
    opened: list[str] = []
    quoted = ""
    for sign in expression:
        if quoted:
            quoted = "" if sign == quoted else quoted
        elif sign in "'\"":
            quoted = sign
        elif sign in "([{":
            opened.append(sign)
        elif sign in pairs and (not opened or opened.pop() != pairs[sign]):
            return "compilation failed: ERROR: <input>:1:1: Syntax error: mismatched input"
    if opened or quoted or expression.rstrip().endswith(("=", "&", "|", "<", ">", "+", "-", "*", "/", "!", ".", ",")):
        return f"compilation failed: ERROR: <input>:1:{len(expression) + 1}: Syntax error: mismatched input '<EOF>'"
    return ""


def _request_names(spec: JSON) -> set[str]:
    names: set[str] = set()
    for request in (spec.get("devices") or {}).get("requests") or ():
        name = request.get("name", "")
        names.add(name)
        names.update(f"{name}/{each.get('name', '')}" for each in request.get("firstAvailable") or ())
    return names


def _validate_reference(name: str, path: str, names: set[str]) -> Errors:
    if name in names:
        return []
    why = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"
    return [FieldError.invalid(path, name, why)]


def _validate_claim_status(new: JSON, old: JSON) -> Errors:
    status, before = new.get("status") or {}, old.get("status") or {}
    allocation, earlier = status.get("allocation"), before.get("allocation")
    reserved = status.get("reservedFor") or []
    errors: Errors = []
    seen: set[str] = set()
    for index, consumer in enumerate(reserved):
        where = f"status.reservedFor[{index}]"
        errors.extend(
            FieldError.required(f"{where}.{name}") for name in ("resource", "name", "uid") if not consumer.get(name)
        )
        if consumer.get("uid", "") in seen:
            errors.append(FieldError.duplicate(where, consumer.get("uid", "")))
        seen.add(consumer.get("uid", ""))
    if reserved and allocation is None:
        why = "may not be specified when `allocated` is not set"
        errors.append(FieldError.forbidden("status.reservedFor", why))
    elif old["metadata"].get("deletionTimestamp") is not None:
        if any(consumer not in (before.get("reservedFor") or []) for consumer in reserved):
            why = "new entries may not be added while `deallocationRequested` or `deletionTimestamp` are set"
            errors.append(FieldError.forbidden("status.reservedFor", why))
    results = ((allocation or {}).get("devices") or {}).get("results") or []
    allocated = {(each.get("driver"), each.get("pool"), each.get("device")) for each in results}
    for index, device in enumerate(status.get("devices") or ()):
        key = (device.get("driver"), device.get("pool"), device.get("device"))
        if key not in allocated:
            why = "must be an allocated device in the claim"
            shown = "/".join(str(part) for part in key)
            errors.append(FieldError.invalid(f"status.devices[{index}]", shown, why))
    if allocation is not None and earlier is not None:
        errors.extend(immutable("status.allocation", allocation, earlier))
    elif allocation is not None:
        errors.extend(_validate_allocation(allocation, results, new["spec"]))
    return errors


def _validate_allocation(allocation: JSON, results: list[JSON], spec: JSON) -> Errors:
    names = _request_names(spec)
    errors: Errors = []
    for index, result in enumerate(results):
        where = f"status.allocation.devices.results[{index}]"
        errors.extend(_validate_reference(result.get("request", ""), f"{where}.request", names))
        errors.extend(_validate_driver(result.get("driver", ""), f"{where}.driver"))
        errors.extend(_validate_pool(result.get("pool", ""), f"{where}.pool"))
        errors.extend(_validate_name(result.get("device", ""), f"{where}.device"))
    if (selector := allocation.get("nodeSelector")) is not None:
        errors.extend(validate_node_selector(selector, "status.allocation.nodeSelector"))
    return errors


# -- slices


def _validate_driver(name: str, path: str) -> Errors:
    if not name:
        return [FieldError.required(path)]
    if len(name) > 63:
        return [FieldError.too_long(path, 63)]
    return problems(path, name, dns_subdomain(name.lower() if name.isascii() and "_" not in name else name))


def _validate_pool(name: str, path: str) -> Errors:
    if not name:
        return [FieldError.required(path)]
    return [error for part in name.split("/") for error in problems(path, part, dns_subdomain(part))]


def _date_taints(spec: JSON, now: str) -> None:
    for device in spec.get("devices") or ():
        for taint in device.get("taints") or ():
            taint["timeAdded"] = taint.get("timeAdded") or now


def _validate_slice(spec: JSON) -> Errors:
    errors = _validate_driver(spec.get("driver", ""), "spec.driver")
    pool = spec.get("pool") or {}
    errors.extend(_validate_pool(pool.get("name", ""), "spec.pool.name"))
    if pool.get("resourceSliceCount", 0) <= 0:
        count = pool.get("resourceSliceCount", 0)
        errors.append(FieldError.invalid("spec.pool.resourceSliceCount", count, "must be greater than zero"))
    if pool.get("generation", 0) < 0:
        why = "must be greater than or equal to zero"
        errors.append(FieldError.invalid("spec.pool.generation", pool["generation"], why))
    placed = [name for name in _PLACES if spec.get(name)]
    if not placed:
        errors.append(FieldError.required("spec", _ONE_PLACE))
    elif len(placed) > 1:
        shown = "{" + ", ".join(f"`{name}`" for name in placed) + "}"
        errors.append(FieldError.invalid("spec", shown, f"{_ONE_PLACE}, but multiple fields are set"))
    if name := spec.get("nodeName"):
        errors.extend(problems("spec.nodeName", name, dns_subdomain(name)))
    if (selector := spec.get("nodeSelector")) is not None:
        errors.extend(validate_node_selector(selector, "spec.nodeSelector"))
    devices = spec.get("devices") or []
    if len(devices) > _MAX_DEVICES:
        errors.append(FieldError.too_many("spec.devices", len(devices), _MAX_DEVICES))
    seen: set[str] = set()
    for index, device in enumerate(devices):
        where = f"spec.devices[{index}]"
        errors.extend(_validate_device(device, where))
        if device.get("name", "") in seen:
            errors.append(FieldError.duplicate(where, device.get("name", "")))
        seen.add(device.get("name", ""))
    return errors


def _validate_device(device: JSON, path: str) -> Errors:
    errors = _validate_name(device.get("name", ""), f"{path}.name")
    for name, attribute in (device.get("attributes") or {}).items():
        where = f"{path}.attributes[{name}]"
        errors.extend(problems(where, name, qualified_name(name)))
        given = [key for key in _VALUES if attribute.get(key) is not None]
        if len(given) != 1:
            errors.append(FieldError.invalid(where, attribute if given else "", "exactly one value must be specified"))
    for name in device.get("capacity") or ():
        errors.extend(problems(f"{path}.capacity[{name}]", name, qualified_name(name)))
    for index, taint in enumerate(device.get("taints") or ()):
        where, effect = f"{path}.taints[{index}]", taint.get("effect", "")
        errors.extend(problems(f"{where}.key", taint.get("key", ""), qualified_name(taint.get("key", ""))))
        if not effect:
            errors.append(FieldError.required(f"{where}.effect"))
        elif effect not in _EFFECTS:
            errors.append(FieldError.not_supported(f"{where}.effect", effect, _EFFECTS))
    return errors
