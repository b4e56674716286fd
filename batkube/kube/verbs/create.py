"""Create: POST of an object to its collection (`rest.BeforeCreate` and `registry.Store.Create` of
k8s.io/apiserver).
"""

from __future__ import annotations

import copy
from typing import Any

import orjson

from ..api import Api
from ..conversion import to_stored
from ..gated_fields import drop_disabled
from ..kinds.limit_admission import check_limits
from ..kinds.quota_admission import QUOTAS, charge_quotas
from ..metadata import SYSTEM_FIELDS, check_namespace, validate_new, without_duplicate_owners
from ..names import path_segment
from ..options import PLAIN_WRITE, WriteOptions
from ..resources import ResourceType
from ..status import ApiError
from ..store import NOBODY, Version
from ..strategy import Context
from . import ownership

JSON = dict[str, Any]

NAMESPACES = "namespaces"

_SYSTEM_FIELDS = frozenset(SYSTEM_FIELDS)


def create(
    api: Api,
    resource: ResourceType,
    namespace: str,
    obj: JSON,
    options: WriteOptions = PLAIN_WRITE,
    warnings: list[str] | None = None,
    managed: list[JSON] | None = None,
) -> Version:
    """Store a new object, which belongs to the call from here on. A dry run returns what would have been
    stored. `managed` is its managedFields, if it is made by an apply.
    """
    stored_as = api.stored_as(resource)
    if api.strategy(resource).terminating:
        name = (obj.get("metadata") or {}).get("name") or ""
        why = "create not allowed while custom resource definition is terminating"
        raise ApiError.forbidden(resource.qualified, name, why)
    obj = to_stored(resource, stored_as, obj)
    metadata = obj["metadata"] = dict(obj.get("metadata") or {})
    check_namespace(metadata, namespace)
    admit_to_namespace(api, resource, namespace, metadata.get("name") or metadata.get("generateName") or "")
    without_duplicate_owners(metadata, warnings)
    ctx = api.context(stored_as, namespace, "", None, options, warnings, resource)
    name = _name(api, resource, namespace, metadata)
    obj["metadata"] = _system_fields(api, resource, namespace, name, metadata, ctx)
    strategy = api.strategy(resource)
    sent = _copy(obj) if ownership.is_followed(resource, options) and managed is None else None
    drop_disabled(stored_as.storage, obj, None, api.gates)
    strategy.prepare_create(obj, ctx)
    fill_empty(obj, stored_as)
    errors = strategy.validate_create(obj, ctx) or validate_new(obj["metadata"], path_segment, generic=True)
    if errors:
        raise ApiError.invalid(stored_as.qualified_kind, name, errors)
    charged: list[JSON] = []
    if namespace:
        check_limits(obj, ctx)
        charged = charge_quotas(obj, ctx)
    if not options.dry_run:
        _check_version(metadata.get("resourceVersion") or "")
    if api.store.version(resource.storage, namespace, name) is not None:
        raise ApiError.already_exists(resource.qualified, name)
    writer = NOBODY if ownership.owns_nothing(resource, obj) else (options.field_manager, resource.api_version, ctx.now)
    if sent is not None and writer != NOBODY:
        managed = ownership.after_create(api, stored_as, obj, writer, sent)
        if resource.custom and not managed:
            writer = NOBODY
    if managed:
        obj["metadata"]["managedFields"] = managed
    if options.dry_run:
        obj = {"kind": stored_as.kind, "apiVersion": stored_as.api_version, **obj}
        return Version(stored_as, (namespace, name), obj, 0)
    for quota in charged:
        api.store.put(api.registry.named(QUOTAS), quota)
    return api.store.put(*strategy.as_stored(stored_as, obj), writer)


def _copy(obj: JSON) -> JSON:
    copied: JSON = orjson.loads(orjson.dumps(obj))
    return copied


def fill_empty(obj: JSON, resource: ResourceType) -> None:
    """Structs that are no pointers in Go are never absent: a status that was dropped is `{}`."""
    for key, value in resource.empty_fields.items():
        if key not in obj:
            obj[key] = copy.copy(value)


def _check_version(given: str) -> None:
    """What is stored anew has no version yet. What is no number is none, and a dry run does not get to the storage
    that looks.
    """
    if given.isascii() and given.isdigit() and int(given):
        raise ApiError.unforeseen("resourceVersion should not be set on objects to be created")


def admit_to_namespace(api: Api, resource: ResourceType, namespace: str, name: str) -> None:
    """Nothing is created in a namespace that does not exist or is being deleted (admission plugin
    NamespaceLifecycle).
    """
    if not namespace or not resource.namespaced or "NamespaceLifecycle" in api.disabled_admission:
        return
    found = api.store.get(NAMESPACES, "", namespace)
    if found is None:
        raise ApiError.not_found(NAMESPACES, namespace)
    if found["metadata"].get("deletionTimestamp") or found.get("status", {}).get("phase") == "Terminating":
        why = f"unable to create new content in namespace {namespace} because it is being terminated"
        refused = ApiError.forbidden(resource.qualified, name, why)
        cause = {
            "reason": "NamespaceTerminating",
            "message": f"namespace {namespace} is being terminated",
            "field": "metadata.namespace",
        }
        refused.details = {**(refused.details or {}), "causes": [cause]}
        raise refused


def _name(api: Api, resource: ResourceType, namespace: str, metadata: JSON) -> str:
    """The name that is given or made up; "" if there is none, which the rules of metadata refuse."""
    name = metadata.get("name") or ""
    prefix = metadata.get("generateName") or ""
    storage, names_itself = resource.storage, api.strategy(resource).names_itself
    if name or not (prefix or names_itself):
        return str(name)
    made = api.identities.name(
        storage, namespace, prefix, lambda name: api.store.version(storage, namespace, name) is not None
    )
    return made if prefix else api.identities.uid(storage, namespace, made)


def _system_fields(api: Api, resource: ResourceType, namespace: str, name: str, metadata: JSON, ctx: Context) -> JSON:
    """The metadata with what only the server sets, in the order in which the real server prints it."""
    result: JSON = {"name": name}
    if metadata.get("generateName"):
        result["generateName"] = metadata["generateName"]
    if namespace:
        result["namespace"] = namespace
    uid = api.identities.passing_uid if ctx.dry_run else api.identities.uid
    result["uid"] = uid(resource.storage, namespace, name)
    if not ctx.dry_run:
        result["resourceVersion"] = ""
    elif metadata.get("resourceVersion"):
        result["resourceVersion"] = metadata["resourceVersion"]
    if metadata.get("generation"):
        result["generation"] = metadata["generation"]
    result["creationTimestamp"] = ctx.now
    for key, value in metadata.items():
        if key not in _SYSTEM_FIELDS and value not in (None, "", {}, []):
            result[key] = value
    return result
