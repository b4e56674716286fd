"""The addresses of services and their families: the rules for valid combinations and for changes
(`ValidateServiceClusterIPsRelatedFields` in `pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

import ipaddress
from typing import Any

from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import ip_address
from ...apimachinery.status import FieldError
from ..published import validate_field

JSON = dict[str, Any]

HEADLESS = "None"
IPV4, IPV6 = "IPv4", "IPv6"
_FIXED = "may not change once set"


def is_headless(spec: JSON) -> bool:
    return bool(spec.get("clusterIPs") == [HEADLESS])


def family_of(address: str) -> str:
    return f"IPv{ipaddress.ip_address(address).version}"


def validate_addresses(spec: JSON, before: JSON) -> Errors:
    """Return the errors in addresses, families and their policy. `before` is the spec that the service had."""
    if spec["type"] == "ExternalName":
        return []
    one, many = spec.get("clusterIP"), spec.get("clusterIPs") or []
    errors: Errors = []
    if one and not many:
        errors.append(FieldError.required("spec.clusterIPs"))
    elif one and many[0] != one:
        errors.append(FieldError.invalid("spec.clusterIPs", many, "first value must match `clusterIP`"))
    elif many and not one:
        errors.append(FieldError.invalid("spec.clusterIPs", many, "must be empty when `clusterIP` is not specified"))
    families = spec.get("ipFamilies") or []
    for index, family in enumerate(families):
        if family not in (IPV4, IPV6):
            errors.append(FieldError.not_supported(f"spec.ipFamilies[{index}]", family, (IPV4, IPV6)))
        if family in families[:index]:
            errors.append(FieldError.duplicate(f"spec.ipFamilies[{index}]", family))
    errors += validate_field("core/v1.ServiceSpec", spec, "ipFamilyPolicy", "spec")
    wrong = _validate_each(many, before.get("clusterIPs") or [])
    errors.extend(wrong)
    if len(many) > 2:
        errors.append(FieldError.invalid("spec.clusterIPs", many, "may only hold up to 2 values"))
    return errors if wrong else [*errors, *_validate_families(many, families)]


def _validate_each(addresses: list[str], known: list[str]) -> Errors:
    errors: Errors = []
    for index, address in enumerate(addresses):
        if index == 0 and address == HEADLESS:
            if len(addresses) > 1:
                why = "'None' must be the first and only value"
                errors.append(FieldError.invalid("spec.clusterIPs", addresses, why))
        elif address not in known:
            errors.extend(problems(f"spec.clusterIPs[{index}]", address, ip_address(address)))
    return errors


def _validate_families(addresses: list[str], families: list[str]) -> Errors:
    """Check that valid addresses are of the given families, one of each."""
    if not addresses or addresses == [HEADLESS]:
        return []
    errors: Errors = []
    found = [family_of(address) for address in addresses]
    if len(found) > 1 and len(set(found)) == 1:
        why = "may specify no more than one IP for each IP family"
        errors.append(FieldError.invalid("spec.clusterIPs", addresses, why))
    for index, (family, is_of) in enumerate(zip(families, found, strict=False)):
        if family in (IPV4, IPV6) and family != is_of:
            why = f"expected an {family} value as indicated by `ipFamilies[{index}]`"
            errors.append(FieldError.invalid(f"spec.clusterIPs[{index}]", addresses[index], why))
    return errors


def validate_changed_addresses(spec: JSON, before: JSON) -> Errors:
    """Check that the first address and the first family stay. A service may add or release the second ones."""
    if "ExternalName" in (spec["type"], before["type"]) or (is_headless(spec) and is_headless(before)):
        return []
    errors = _validate_changed(spec, before, "clusterIPs", "clusterIP")
    if is_headless(spec) == is_headless(before):
        errors.extend(_validate_changed(spec, before, "ipFamilies", "ipFamily"))
    return errors


def _validate_changed(spec: JSON, before: JSON, key: str, one: str) -> Errors:
    errors: Errors = []
    new, old = spec.get(key) or [], before.get(key) or []
    path = f"spec.{key}[0]"
    if len(new) == len(old):
        for index, (now, was) in enumerate(zip(new, old, strict=True)):
            if now != was:
                where = f"spec.{key}[{index}]" if key == "clusterIPs" else path
                errors.append(FieldError.invalid(where, new, _FIXED))
        return errors
    if len(old) > len(new) and not spec.get("clusterIPs"):
        errors.append(FieldError.invalid(path, new or None, f"primary {one} can not be unset"))
    if new and old and new[0] != old[0]:
        errors.append(FieldError.invalid(path, spec.get("clusterIPs"), _FIXED))
    policy = spec.get("ipFamilyPolicy")
    if len(new) == 1 < len(old) and policy != "SingleStack":
        why = f"must be set to 'SingleStack' when releasing the secondary {one}"
        errors.append(FieldError.invalid("spec.ipFamilyPolicy", policy, why))
    return errors
