"""Lists of resources: what may be named, and how much of it (`ValidateResourceRequirements` and what it calls in
`pkg/apis/core/validation/validation.go`).
"""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from typing import Any

from ..metadata import Errors
from ..names import qualified_name
from ..quantity import Quantity
from ..status import FieldError
from .resource_lists import is_extended, is_native, validate_value

JSON = dict[str, Any]

_CONTAINER_RESOURCES = frozenset(("cpu", "memory", "ephemeral-storage"))
_HUGE_PAGES = "hugepages-"
_NO_OVERCOMMIT = "Limit must be set for non overcommitable resources"


def validate_resource_list(resources: JSON, path: str) -> Errors:
    """A list of resources as nodes have them: names and amounts."""
    errors: Errors = []
    for name, quantity in resources.items():
        where = f"{path}[{name}]"
        errors.extend(FieldError.invalid(where, name, why) for why in qualified_name(name))
        errors.extend(validate_value(name, quantity, where))
    return errors


def validate_requirements(requirements: JSON, path: str, claims: Collection[str] | None = None) -> Errors:
    """Limits and requests of a container, or of a pod (`claims` None). `claims` are the names of the pod's resource
    claims.
    """
    limits = requirements.get("limits") or {}
    requests = requirements.get("requests") or {}
    errors: Errors = []
    if limits or requests:
        for name, quantity in limits.items():
            errors.extend(_validate_named(name, quantity, f"{path}.limits[{name}]"))
        for name, quantity in requests.items():
            errors.extend(_validate_named(name, quantity, f"{path}.requests[{name}]"))
            errors.extend(_validate_request(name, quantity, limits.get(name), path))
        names = {*limits, *requests}
        if any(name.startswith(_HUGE_PAGES) for name in names) and not names & {"cpu", "memory"}:
            errors.append(FieldError.forbidden(path, "HugePages require cpu or memory"))
    if requirements.get("claims"):
        errors.extend(_validate_claims(requirements["claims"], f"{path}.claims", claims or ()))
    return errors


def _validate_named(name: str, quantity: str, path: str) -> Errors:
    return [*_validate_container_name(name, path), *validate_value(name, quantity, path)]


@lru_cache(maxsize=1024)
def _name_problems(name: str) -> tuple[str, ...]:
    wrong = qualified_name(name)
    if wrong:
        return wrong
    if "/" not in name:
        if name in _CONTAINER_RESOURCES or name.startswith(_HUGE_PAGES):
            return ()
        return ("must be a standard resource for containers",)
    if not is_native(name) and not is_extended(name):
        return ("doesn't follow extended resource name standard",)
    return ()


def _validate_container_name(name: str, path: str) -> Errors:
    return [FieldError.invalid(path, name, why) for why in _name_problems(name)]


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
        if (name, request) in seen or (name, "") in seen:
            errors.append(FieldError.duplicate(where, f"{name}/{request}" if request else name))
        elif name not in names:
            known = ": " + ", ".join(sorted(names)) if names else " which is empty"
            text = f'Not found: "{name}": must be one of the names in pod.spec.resourceClaims{known}'
            errors.append(FieldError("FieldValueNotFound", where, text))
        seen.add((name, request))
    return errors
