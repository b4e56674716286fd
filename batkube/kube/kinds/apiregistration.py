"""API services (`pkg/registry/apiservice`, `pkg/apis/apiregistration/validation` of k8s.io/kube-aggregator).

They are stored and checked; here no request goes on to another server.
"""

from __future__ import annotations

from typing import Any

from ..apimachinery.metadata import Errors, problems
from ..apimachinery.names import Problems, dns_1035_label, dns_subdomain, path_segment, port_number
from ..apimachinery.status import FieldError, quote
from .strategy import USERS_METADATA, Context, Strategy

JSON = dict[str, Any]

_STATUSES = ("True", "False", "Unknown")
_MAX_GROUP_PRIORITY, _MAX_VERSION_PRIORITY = 20_000, 1_000


class APIServices(Strategy):
    """The APIServices: each says who serves a version of a group, this server or a service."""

    name_rule = staticmethod(path_segment)
    counts_generation = False
    unconditional_update = False
    revalidates_metadata = True
    kept_by_status = USERS_METADATA

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        _default(obj)
        super().prepare_create(obj, ctx)
        if obj["spec"].get("service") is None:
            obj["status"] = {"conditions": [_always_available(ctx.now)]}

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default(new)
        super().prepare_update(new, old, ctx)

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        _default(new)
        super().prepare_status(new, old, ctx)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate(obj)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return super().validate_update(new, old, ctx) + _validate(new)

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        return super().validate_status(new, old, ctx) + _validate_conditions(new)


def _default(obj: JSON) -> None:
    service = obj.setdefault("spec", {}).get("service")
    if service is not None:
        service["port"] = service.get("port") or 443


def _always_available(now: str) -> JSON:
    return {
        "type": "Available",
        "status": "True",
        "lastTransitionTime": now,
        "reason": "Local",
        "message": "Local APIServices are always available",
    }


def _validate(obj: JSON) -> Errors:
    """Check the spec, and that the name is made of its version and group."""
    spec, name = obj["spec"], obj["metadata"].get("name") or ""
    group, version = spec.get("group") or "", spec.get("version") or ""
    errors: Errors = []
    if name != f"{version}.{group}" and not path_segment(name):
        why = f'must be `spec.version+"."+spec.group`: {quote(f"{version}.{group}")}'
        errors.append(FieldError.invalid("metadata.name", name, why))
    if not group and version != "v1":
        why = "only v1 may have an empty group and it better be legacy kube"
        errors.append(FieldError.required("spec.group", why))
    errors += problems("spec.group", group, dns_subdomain(group) if group else ())
    errors += problems("spec.version", version, dns_1035_label(version))
    for key, most in (("groupPriorityMinimum", _MAX_GROUP_PRIORITY), ("versionPriority", _MAX_VERSION_PRIORITY)):
        priority = spec.get(key) or 0
        if not 0 < priority <= most:
            why = f"must be positive and less than {most}"
            errors.append(FieldError.invalid(f"spec.{key}", priority, why))
    bundle, unchecked = spec.get("caBundle") or "", bool(spec.get("insecureSkipTLSVerify"))
    return errors + _validate_service(spec.get("service"), bundle, unchecked)


def _validate_service(service: JSON | None, bundle: str, unchecked: bool) -> Errors:
    """Check the service that serves the version, and how its certificate is verified. `bundle` is in base64."""
    errors: Errors = []
    if service is None:
        if bundle:
            length = len(bundle) * 3 // 4 - bundle.count("=")
            why = "local APIServices may not have a caBundle"
            errors.append(FieldError.invalid("spec.caBundle", f"{length} bytes", why))
        if unchecked:
            why = "local APIServices may not have insecureSkipTLSVerify"
            errors.append(FieldError.invalid("spec.insecureSkipTLSVerify", unchecked, why))
        return errors
    errors += [FieldError.required(f"spec.service.{key}") for key in ("namespace", "name") if not service.get(key)]
    wrong: Problems = port_number(service["port"])
    if wrong:
        why = f"port is not valid: {', '.join(wrong)}"
        errors.append(FieldError.invalid("spec.service.port", service["port"], why))
    if unchecked and bundle:
        why = "may not be true if caBundle is present"
        errors.append(FieldError.invalid("spec.insecureSkipTLSVerify", unchecked, why))
    return errors


def _validate_conditions(obj: JSON) -> Errors:
    return [
        FieldError.not_supported(f"status.conditions[{index}].status", condition.get("status") or "", _STATUSES)
        for index, condition in enumerate((obj.get("status") or {}).get("conditions") or ())
        if condition.get("status") not in _STATUSES
    ]
