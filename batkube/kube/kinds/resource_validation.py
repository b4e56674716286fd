"""Lists of resources: the allowed names and amounts (`ValidateResourceRequirements` and the functions it calls in
`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any

from ..apimachinery.metadata import Errors
from ..apimachinery.names import NameRule, dns_label, qualified_name
from ..apimachinery.quantity import Quantity, QuantityError
from ..apimachinery.status import FieldError
from .pods.defaults import POD_LEVEL_RESOURCES, containers_total
from .resource_lists import OBJECT_COUNTS, is_extended, is_native, validate_value

JSON = dict[str, Any]

_CONTAINER_RESOURCES = frozenset(("cpu", "memory", "ephemeral-storage"))
_HUGE_PAGES = "hugepages-"
_POD_LEVEL_NAMES = ("cpu", "hugepages-", "memory")
_STANDARD = frozenset(
    (
        *_CONTAINER_RESOURCES,
        *(f"{which}.{name}" for which in ("requests", "limits") for name in sorted(_CONTAINER_RESOURCES)),
        "storage",
        "requests.storage",
        *OBJECT_COUNTS,
    )
)
_NO_OVERCOMMIT = "Limit must be set for non overcommitable resources"


def validate_requirements(requirements: JSON, path: str, claims: Collection[str] = ()) -> Errors:
    """Check the limits and requests of a container. `claims` are the names of the pod's resource claims."""
    errors = _validate_amounts(requirements, path, container_resource_name)
    if requirements.get("claims"):
        errors.extend(_validate_claims(requirements["claims"], f"{path}.claims", claims))
    return errors


def validate_pod_requirements(spec: JSON, path: str) -> Errors:
    """Check the limits and requests of a pod as a whole, and that its containers keep within them
    (`validatePodResources`).
    """
    requirements = spec["resources"]
    errors: Errors = []
    if requirements.get("claims"):
        why = "claims may not be set for Resources at pod-level"
        errors.append(FieldError.forbidden(f"{path}.claims", why))
        known = [claim.get("name", "") for claim in spec.get("resourceClaims") or ()]
        errors.extend(_validate_claims(requirements["claims"], f"{path}.claims", known))
    errors.extend(_validate_amounts(requirements, path, resource_name))
    for which in ("limits", "requests"):
        for name in requirements.get(which) or ():
            if name not in POD_LEVEL_RESOURCES and not name.startswith(_HUGE_PAGES) and not resource_name(name):
                errors.append(FieldError.not_supported(f"{path}.{which}[{name}]", name, _POD_LEVEL_NAMES))
    requests = requirements.get("requests") or {}
    for name, amount in containers_total(spec, "requests").items():
        if name in requests and amount > Quantity.parse(requests[name]):
            why = f"must be greater than or equal to aggregate container requests of {amount}"
            errors.append(FieldError.invalid(f"{path}.requests[{name}]", requests[name], why))
    limits = requirements.get("limits") or {}
    for name, amount in containers_total(spec, "limits").items():
        if name.startswith(_HUGE_PAGES) and name in limits and amount > Quantity.parse(limits[name]):
            why = f"must be greater than or equal to aggregate container limits of {amount}"
            errors.append(FieldError.invalid(f"{path}.limits[{name}]", limits[name], why))
    for index, container in enumerate(spec.get("containers") or ()):
        for name, limit in ((container.get("resources") or {}).get("limits") or {}).items():
            if name in limits and Quantity.parse(limit) > Quantity.parse(limits[name]):
                why = f"must be less than or equal to pod limits of {limits[name]}"
                errors.append(FieldError.invalid(f"{path}.containers[{index}][{name}].limits", limit, why))
    return errors


def _validate_amounts(requirements: JSON, path: str, rule: NameRule) -> Errors:
    limits = requirements.get("limits") or {}
    requests = requirements.get("requests") or {}
    if not limits and not requests:
        return []
    errors: Errors = []
    for name, quantity in limits.items():
        errors.extend(_validate_named(name, quantity, f"{path}.limits[{name}]", rule))
    for name, quantity in requests.items():
        errors.extend(_validate_named(name, quantity, f"{path}.requests[{name}]", rule))
        errors.extend(_validate_request(name, quantity, limits.get(name), path))
    names = {*limits, *requests}
    if any(name.startswith(_HUGE_PAGES) for name in names) and not names & {"cpu", "memory"}:
        errors.append(FieldError.forbidden(path, "HugePages require cpu or memory"))
    return errors


def _validate_named(name: str, quantity: str, path: str, rule: NameRule) -> Errors:
    errors = [FieldError.invalid(path, name, why) for why in rule(name)]
    errors.extend(validate_value(name, quantity, path))
    if name.startswith(_HUGE_PAGES) and not _divisible(name, quantity):
        errors.append(FieldError.invalid(path, quantity, f"{quantity} is not positive integer multiple of {name}"))
    return errors


def _divisible(name: str, quantity: str) -> bool:
    try:
        page = Quantity.parse(name.removeprefix(_HUGE_PAGES))
    except QuantityError:
        return False
    if page.value <= 0 or page.value.denominator != 1:
        return False
    return (Quantity.parse(quantity).value / page.value).denominator == 1


@lru_cache(maxsize=1024)
def resource_name(name: str) -> tuple[str, ...]:
    """Return what is wrong with the name of a resource of any object. It must be a known one, or have a domain."""
    wrong = qualified_name(name)
    if wrong:
        return wrong
    if "/" not in name and name not in _STANDARD and not name.startswith((_HUGE_PAGES, f"requests.{_HUGE_PAGES}")):
        return ("must be a standard resource type or fully qualified",)
    return ()


@lru_cache(maxsize=1024)
def container_resource_name(name: str) -> tuple[str, ...]:
    wrong = resource_name(name)
    if "/" not in name:
        if name not in _CONTAINER_RESOURCES and not name.startswith(_HUGE_PAGES):
            return (*wrong, "must be a standard resource for containers")
    elif not is_native(name) and not is_extended(name):
        return (*wrong, "doesn't follow extended resource name standard")
    return wrong


def _validate_request(name: str, quantity: str, limit: str | None, path: str) -> Errors:
    overcommits = is_native(name) and not name.startswith(_HUGE_PAGES)
    if limit is None:
        return [] if overcommits else [FieldError.required(f"{path}.limits", _NO_OVERCOMMIT)]
    if quantity == limit:
        return []
    asked, most = Quantity.parse(quantity), Quantity.parse(limit)
    if asked != most and not overcommits:
        return [FieldError.invalid(f"{path}.requests", quantity, f"must be equal to {name} limit of {limit}")]
    if asked > most:
        why = f"must be less than or equal to {name} limit of {limit}"
        return [FieldError.invalid(f"{path}.requests", quantity, why)]
    return []


def _validate_claims(used: list[JSON], path: str, names: Collection[str]) -> Errors:
    errors: Errors = []
    seen: set[tuple[str, str]] = set()
    for index, claim in enumerate(used):
        name, request = claim.get("name", ""), claim.get("request", "")
        where = f"{path}[{index}]"
        if not name:
            errors.append(FieldError.required(where))
            continue
        if (name, "") in seen or (name, request) in seen:
            shown = name if (name, "") in seen or not request else f"{name}/{request}"
            errors.append(FieldError.duplicate(where, shown))
        elif not request and any(other == name for other, _ in seen):
            errors.append(FieldError.duplicate(where, name))
        elif request:
            errors.extend(FieldError.invalid(f"{where}.request", request, why) for why in dns_label(request))
        if name not in names:
            known = ": " + ", ".join(sorted(set(names))) if names else " which is empty"
            text = f'Not found: "{name}": must be one of the names in pod.spec.resourceClaims{known}'
            errors.append(FieldError("FieldValueNotFound", where, text))
        seen.add((name, request))
    return errors
