"""The addresses of services as objects (`ValidateIPAddress` in `pkg/apis/networking/validation`). The services here do
not create such objects.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from ...apimachinery.metadata import Errors, immutable, problems
from ...apimachinery.names import Problems, dns_subdomain, ip_address, path_segment
from ...apimachinery.status import FieldError
from ..strategy import Context, Strategy

JSON = dict[str, Any]

_PATH = "spec.parentRef"


def _address_name(name: str) -> Problems:
    if wrong := ip_address(name):
        return wrong
    canonical = str(ipaddress.ip_address(name))
    return () if canonical == name else (f'must be in canonical form ("{canonical}")',)


class IPAddresses(Strategy):
    """Rules of addresses. The name of the object is the address; the spec names the object that has it."""

    counts_generation = False
    revalidates_metadata = True
    name_rule = staticmethod(_address_name)

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate(_parent(obj))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx) + _validate(_parent(new))
        return errors + immutable(_PATH, _parent(new), _parent(old), of="networking/v1.ParentReference")


def _parent(obj: JSON) -> JSON | None:
    parent: JSON | None = (obj.get("spec") or {}).get("parentRef")
    return parent


def _validate(parent: JSON | None) -> Errors:
    if parent is None:
        return [FieldError.required(_PATH)]
    group, namespace = parent.get("group") or "", parent.get("namespace") or ""
    errors = problems(f"{_PATH}.group", group, dns_subdomain(group) if group else ())
    for key in ("resource", "name"):
        value = parent.get(key) or ""
        errors += problems(f"{_PATH}.{key}", value, path_segment(value)) if value else [_required(key)]
    return errors + problems(f"{_PATH}.namespace", namespace, path_segment(namespace) if namespace else ())


def _required(key: str) -> FieldError:
    return FieldError.required(f"{_PATH}.{key}")
