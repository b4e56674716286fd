"""The ranges of the addresses of services (`ValidateServiceCIDR` in `pkg/apis/networking/validation`)."""

from __future__ import annotations

import ipaddress
from typing import Any

from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import Problems, cidr
from ...apimachinery.status import FieldError
from ..strategy import USERS_METADATA, Context, Strategy

JSON = dict[str, Any]

_PATH = "spec.cidrs"
_IMMUTABLE = "field is immutable"


class ServiceCIDRs(Strategy):
    """Rules of address ranges: one for each family. A second one may be added later, no other change is possible."""

    counts_generation = False
    kept_by_status = USERS_METADATA

    def validate_create(self, obj: JSON, ctx: Context) -> Errors:
        return super().validate_create(obj, ctx) + _validate(_ranges(obj))

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> Errors:
        errors = super().validate_update(new, old, ctx)
        ranges, before = _ranges(new), _ranges(old)
        if len(ranges) != len(before) and (len(before), len(ranges)) != (1, 2):
            return [*errors, FieldError.invalid(_PATH, ranges or None, _IMMUTABLE)]
        errors += [
            FieldError.invalid(f"{_PATH}[{index}]", one, _IMMUTABLE)
            for index, (one, earlier) in enumerate(zip(ranges, before, strict=False))
            if one != earlier
        ]
        return errors if len(ranges) == len(before) else errors + _validate(ranges)


def _ranges(obj: JSON) -> list[str]:
    return (obj.get("spec") or {}).get("cidrs") or []


def _validate(ranges: list[str]) -> Errors:
    if not ranges:
        return [FieldError.required(_PATH, "at least one CIDR required")]
    if len(ranges) > 2:
        return [FieldError.invalid(_PATH, {"CIDRs": ranges}, "may only hold up to 2 values")]
    errors = [error for index, one in enumerate(ranges) for error in problems(f"{_PATH}[{index}]", one, _wrong(one))]
    families = [":" in one for one in ranges if not cidr(one)]
    if len(families) == 2 and families[0] == families[1]:
        why = "may specify no more than one IP for each IP family, i.e 192.168.0.0/24 and 2001:db8::/64"
        errors.append(FieldError.invalid(_PATH, ranges, why))
    return errors


def _wrong(one: str) -> Problems:
    if found := cidr(one):
        return found
    canonical = str(ipaddress.ip_network(one, strict=False))
    return () if canonical == one else (f'must be in canonical form ("{canonical}")',)
