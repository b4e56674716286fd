"""The addresses of services as objects (`ValidateIPAddress` in `pkg/apis/networking/validation`). The services here do
not create such objects.
"""

from __future__ import annotations

import ipaddress
from typing import Any

from ...apimachinery.metadata import Errors, immutable, problems
from ...apimachinery.names import Problems, dns_subdomain, ip_address, path_segment
from ..published import validate_field
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
        return super().validate_create(obj, ctx) + _validate(obj.get("spec") or {})

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx) + _validate(new.get("spec") or {})
        return errors + immutable(_PATH, _parent(new), _parent(old), of="networking/v1.ParentReference")


def _parent(obj: JSON) -> JSON | None:
    parent: JSON | None = (obj.get("spec") or {}).get("parentRef")
    return parent


def _validate(spec: JSON) -> Errors:
    parent = spec.get("parentRef")
    if parent is None:
        return validate_field("networking/v1.IPAddressSpec", spec, "parentRef", "spec")
    group, namespace = parent.get("group") or "", parent.get("namespace") or ""
    errors = problems(f"{_PATH}.group", group, dns_subdomain(group) if group else ())
    for key in ("resource", "name"):
        errors += validate_field("networking/v1.ParentReference", parent, key, _PATH, path_segment)
    return errors + problems(f"{_PATH}.namespace", namespace, path_segment(namespace) if namespace else ())
