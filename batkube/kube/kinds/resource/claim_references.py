"""The references to the requests of a claim by name, and the permission to ask for more than a user may."""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors, problems
from ...apimachinery.names import dns_label
from ...apimachinery.status import FieldError
from ..strategy import Context
from .devices import validate_items

JSON = dict[str, Any]
Names = dict[str, tuple[str, ...]]

MAX_REQUESTS = 32

_ADMIN = "resource.kubernetes.io/admin-access"
_NO_REQUEST = "must be the name of a request in the claim or the name of a request and a subrequest separated by '/'"


def forbid_admin(path: str, ctx: Context) -> Errors:
    """Return an error unless a label of the namespace allows access as an administrator."""
    namespace = ctx.store.get("namespaces", "", ctx.namespace) or {}
    if ((namespace.get("metadata") or {}).get("labels") or {}).get(_ADMIN) == "true":
        return []
    why = f"admin access to devices requires the `{_ADMIN}: true` label on the containing namespace"
    return [FieldError.forbidden(path, why)]


def names_of(spec: JSON) -> Names:
    """Return the requests by name, each with its alternatives."""
    requests = (spec.get("devices") or {}).get("requests") or []
    return {
        request.get("name") or "": tuple(one.get("name") or "" for one in request.get("firstAvailable") or ())
        for request in requests
    }


def validate_references(obj: JSON, path: str, names: Names) -> Errors:
    """Check the names of the requests that a constraint or a configuration is about."""

    def check(name: str, at: str) -> Errors:
        return validate_reference(name, at, names)

    return validate_items(obj.get("requests") or [], MAX_REQUESTS, check, f"{path}.requests", lambda name: str(name))


def validate_reference(name: str, path: str, names: Names) -> Errors:
    parts = name.split("/")
    if len(parts) > 2:
        return [FieldError.invalid(path, name, _NO_REQUEST)]
    errors = [error for part in parts for error in problems(path, part, dns_label(part))]
    if parts[0] not in names or (len(parts) == 2 and parts[1] not in names[parts[0]]):
        errors.append(FieldError.invalid(path, name, _NO_REQUEST))
    return errors
