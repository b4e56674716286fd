"""The way of every write into the store: decode, default, mutate, validate, admit, store.

Create, update, patch and apply go through `carry_out`, as do subresources that change an object. It is
`registry.Store.Create` and `registry.Store.Update` of k8s.io/apiserver, with what their callers do before:
`rest.BeforeCreate` and `rest.BeforeUpdate`.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass
from typing import Any

import orjson

from ..admission.plugin import Attributes
from ..apimachinery.deep_copy import deep_copy
from ..apimachinery.metadata import (
    SYSTEM_FIELDS,
    check_namespace,
    validate_changed,
    validate_new,
    without_duplicate_owners,
)
from ..apimachinery.names import path_segment
from ..apimachinery.status import ApiError, FieldError, quote
from ..apply.merge import DuplicateKey
from ..codec.conversion import to_served, to_stored
from ..codec.empty_objects import empty_fields
from ..codec.protobuf.encode import encode_object
from ..kinds.strategy import keep
from ..kinds.unheeded import unheeded
from ..schema.gated_fields import drop_disabled
from ..schema.resources import ResourceType
from ..storage.store import NOBODY, Version
from . import managed_fields
from .write import Write

JSON = dict[str, Any]

MAX_STORED = 1536 * 1024  # bytes
STATUS = "status"

_SYSTEM_FIELDS = frozenset(SYSTEM_FIELDS)
# Metadata that stays as it was, whatever is sent; and that which does where the object has it, or nothing is sent.
_KEPT = ("name", "namespace", "resourceVersion", "creationTimestamp", "generation")
_KEPT_ONCE_SET = ("deletionTimestamp",)
_KEPT_IF_ABSENT = ("uid", "deletionGracePeriodSeconds")


@dataclass(slots=True)
class Draft(Attributes):
    """An object on its way into the store. It belongs to the write, and is changed in place."""

    current: Version | None = None  # what it takes the place of; None: it is new
    given_version: str = ""  # the resourceVersion that the client sent
    sent: JSON | None = None  # what the client sent of a new object, where account is kept of who owns what
    sent_managed: list[JSON] | None = None  # the managedFields that the client sent


def carry_out(write: Write, obj: JSON, current: Version | None = None) -> Version:
    """Store an object: a new one, or the next state of `current`.

    The object belongs to the call from now on. The same content makes no new version. A dry run returns the object as
    it would be stored.
    """
    draft = _decode_new(write, obj) if current is None else _decode_changed(write, obj, current)
    if write.by_rules:
        _default(write, draft)
        _mutate(write, draft)
        _validate(write, draft)
        _admit(write, draft)
    if draft.current is None or draft.old is None:
        return _store_new(write, draft)
    return _store_changed(write, draft, draft.old, draft.current)


# -- decode: the object as the kind stores it, with the metadata that only the server sets


def _decode_new(write: Write, obj: JSON) -> Draft:
    resource, context = write.resource, write.context
    if write.strategy.terminating:
        name = (obj.get("metadata") or {}).get("name") or ""
        why = "create not allowed while custom resource definition is terminating"
        raise ApiError.forbidden(resource.qualified, name, why)
    obj = to_stored(resource, write.stored_as, obj)
    metadata = obj["metadata"] = dict(obj.get("metadata") or {})
    check_namespace(metadata, context.namespace)
    write.api.admission.enter(resource, metadata.get("name") or metadata.get("generateName") or "", context)
    without_duplicate_owners(metadata, context.warnings)
    name = _name(write, metadata)
    obj["metadata"] = _system_fields(write, name, metadata)
    sent = None
    if write.managed is None and managed_fields.is_followed(resource, write.options):
        sent = deep_copy(obj)
    return Draft(context, obj, given_version=metadata.get("resourceVersion") or "", sent=sent)


def _decode_changed(write: Write, obj: JSON, current: Version) -> Draft:
    stored_as = write.stored_as
    old = to_served(stored_as, current.obj)
    new = to_stored(write.resource, stored_as, obj)
    metadata = new["metadata"] = dict(new.get("metadata") or {})
    without_duplicate_owners(metadata, write.warnings)
    _check_version(write, metadata.get("resourceVersion") or "", current)
    sent = metadata.get("managedFields")
    if write.by_rules and write.managed is None and managed_fields.unlike_schema(write, new):
        sent = []
    keep_system_fields(metadata, old["metadata"])
    return Draft(write.context, new, old, current=current, sent_managed=sent)


def _name(write: Write, metadata: JSON) -> str:
    """Return the given or a generated name; "" if there is none, which the rules of metadata refuse."""
    name = metadata.get("name") or ""
    prefix = metadata.get("generateName") or ""
    if name or not (prefix or write.strategy.names_itself):
        return str(name)
    storage, namespace, api = write.resource.storage, write.namespace, write.api
    made = api.identities.name(
        storage, namespace, prefix, lambda name: api.store.version(storage, namespace, name) is not None
    )
    return made if prefix else api.identities.uid(storage, namespace, made)


def _system_fields(write: Write, name: str, metadata: JSON) -> JSON:
    """Return the metadata with the fields that only the server sets, in the order in which the real server
    prints them.
    """
    namespace, dry_run, identities = write.namespace, write.options.dry_run, write.api.identities
    result: JSON = {"name": name}
    if metadata.get("generateName"):
        result["generateName"] = metadata["generateName"]
    if namespace:
        result["namespace"] = namespace
    result["uid"] = (identities.passing_uid if dry_run else identities.uid)(write.resource.storage, namespace, name)
    if not dry_run:
        result["resourceVersion"] = ""
    elif metadata.get("resourceVersion"):
        result["resourceVersion"] = metadata["resourceVersion"]
    if metadata.get("generation"):
        result["generation"] = metadata["generation"]
    result["creationTimestamp"] = write.context.now
    for key, value in metadata.items():
        if key not in _SYSTEM_FIELDS and value not in (None, "", {}, []):
            result[key] = value
    return result


def _check_version(write: Write, given: str, current: Version) -> None:
    """Raise 409 if the client has not seen the current version."""
    if not (given.isascii() and given.isdigit()) and given:
        raise ApiError.unforeseen(f"strconv.ParseUint: parsing {quote(given)}: invalid syntax")
    resource, name = write.resource, current.key[1]
    if given in ("", "0"):
        if not write.strategy.unconditional_update:
            required = FieldError.invalid("metadata.resourceVersion", 0, "must be specified for an update")
            raise ApiError.invalid(resource.qualified, name, [required])
    elif int(given) != current.revision:
        raise ApiError.conflict(resource.qualified, name)


def keep_system_fields(new: JSON, old: JSON) -> None:
    """Keep the metadata that only the server sets as they were, and drop empty fields.

    Fields that may not be changed stay as they were sent: validation refuses them (`metadata.validate_changed`).
    """
    for key in _KEPT:
        keep(new, old, key)
    for key in _KEPT_ONCE_SET:
        if key in old:
            new[key] = old[key]
    for key in _KEPT_IF_ABSENT:
        if new.get(key) in (None, "") and key in old:
            new[key] = old[key]
    new.pop("managedFields", None)
    new.pop("selfLink", None)  # nobody's any more
    for key in [key for key, value in new.items() if value in (None, "", {}, [])]:
        del new[key]


# -- default: what the kind fills in, and takes away of what a client may not set


def _default(write: Write, draft: Draft) -> None:
    obj, old = draft.obj, draft.old
    drop_disabled(write.stored_as.storage, obj, old, write.api.gates)
    if old is None:
        write.strategy.prepare_create(obj, write.context)
    elif write.subresource == STATUS:
        write.strategy.prepare_status(obj, old, write.context)
    else:
        write.strategy.of_part(write.subresource).prepare_update(obj, old, write.context)


# -- mutate: what admission makes of it


def _mutate(write: Write, draft: Draft) -> None:
    write.api.admission.admit(draft)
    if draft.old is not None and write.subresource == STATUS:
        write.strategy.complete_status(draft.obj, draft.old, write.context)
    else:
        write.strategy.of_part(write.subresource).complete(draft.obj, draft.old, write.context)
    fill_empty(draft.obj, write.stored_as)


def fill_empty(obj: JSON, resource: ResourceType) -> None:
    """Fill in structs that are not pointers in Go, which are never absent: a dropped status is `{}`."""
    for key, value in empty_fields(resource).items():
        if key not in obj:
            obj[key] = copy.copy(value)


# -- validate: 422 with all that is wrong with it


def _validate(write: Write, draft: Draft) -> None:
    obj, old, metadata = draft.obj, draft.old, draft.obj["metadata"]
    if old is None:
        errors = write.strategy.validate_create(obj, write.context)
        errors = errors or validate_new(metadata, path_segment, generic=True)
    else:
        errors = validate_changed(metadata, old["metadata"], generic=True)
        if metadata != old["metadata"]:
            errors = validate_new(metadata, path_segment, generic=True) + errors
        if write.subresource == STATUS:
            errors += write.strategy.validate_status(obj, old, write.context)
        else:
            errors += write.strategy.of_part(write.subresource).validate_update(obj, old, write.context)
    if errors:
        raise ApiError.invalid(write.stored_as.qualified_kind, metadata["name"], errors)


# -- admit: 403 where something else than the object itself speaks against it


def _admit(write: Write, draft: Draft) -> None:
    write.api.admission.validate(draft)


# -- store


def _store_new(write: Write, draft: Draft) -> Version:
    obj, resource = draft.obj, write.resource
    api, stored_as, dry_run = write.api, write.stored_as, write.options.dry_run
    key = (write.namespace, obj["metadata"]["name"])
    if not dry_run:
        _check_unversioned(draft.given_version)
    if api.store.version(resource.storage, *key) is not None:
        raise ApiError.already_exists(resource.qualified, key[1])
    if write.by_rules and not dry_run and (warning := unheeded(resource.storage, obj)):
        write.warnings.append(warning)
    writer = (write.options.field_manager, resource.api_version, write.context.now)
    if write.managed == [] or managed_fields.owns_nothing(resource, obj):
        writer = NOBODY
    managed = write.managed
    if draft.sent is not None and writer != NOBODY:
        managed = managed_fields.after_create(write, obj, writer, draft.sent)
        if resource.custom and not managed:
            writer = NOBODY
    if managed:
        obj["metadata"]["managedFields"] = managed
    if dry_run:
        return Version(stored_as, key, _typed(obj, stored_as), 0)
    _check_size(write, draft)
    _store_along(write, draft)
    return api.store.put(*write.strategy.as_stored(stored_as, obj), writer)


def _check_unversioned(given: str) -> None:
    """Refuse a version for a new object, which has none yet.

    A text that is not a number counts as none. A dry run does not get to the storage, which makes this check.
    """
    if given.isascii() and given.isdigit() and int(given):
        raise ApiError.unforeseen("resourceVersion should not be set on objects to be created")


def _store_changed(write: Write, draft: Draft, old: JSON, current: Version) -> Version:
    new, resource = draft.obj, write.resource
    api, stored_as, strategy = write.api, write.stored_as, write.strategy
    new["kind"], new["apiVersion"] = stored_as.kind, stored_as.api_version
    if new == old and write.managed is None and draft.sent_managed is None and "managedFields" not in old["metadata"]:
        return current  # nobody has come to own anything by it
    managed = _managed(write, draft, old, current)
    if managed:
        new["metadata"]["managedFields"] = managed
    lost = resource.custom and not managed and "managedFields" in old["metadata"]
    let_go = write.by_rules and (draft.sent_managed in ([], [{}]) or lost) and current.writer != NOBODY
    if new == old and not let_go:
        return current
    if write.options.dry_run:
        return Version(stored_as, current.key, _typed(new, stored_as), current.revision)
    if _ends(new["metadata"]) and not strategy.holds(new):
        # Watchers see the last stored state go; the client gets what it sent, under the version it was read at.
        api.identities.ended(resource.storage, *current.key)
        api.store.remove(stored_as, current.key)
        return Version(stored_as, current.key, _typed(new, stored_as), current.revision)
    _check_size(write, draft)
    _store_along(write, draft)
    writer = None
    if write.subresource is None:
        writer = (write.options.field_manager, resource.api_version, write.context.now)
    kept_as, kept = strategy.as_stored(stored_as, new)
    if kept is not new and kept == current.obj and not let_go:
        return current
    return api.store.put(kept_as, kept, NOBODY if let_go else writer)


def _managed(write: Write, draft: Draft, old: JSON, current: Version) -> list[JSON] | None:
    """Return the managedFields of a changed object."""
    before: list[JSON] | None = old["metadata"].get("managedFields")
    if not write.by_rules:
        return before
    if write.managed is not None:
        return write.managed
    followed = managed_fields.is_followed(write.stored_as, write.options)
    if not (draft.sent_managed or "managedFields" in old["metadata"] or followed):
        return None
    try:
        return managed_fields.after_update(write, current, draft.obj, draft.sent_managed)
    except DuplicateKey:  # two elements of one key have no owner of their own: all stays as it was
        return before


def _ends(metadata: JSON) -> bool:
    """Return True if the object was only waiting for its finalizers, and the last one is gone."""
    marked = metadata.get("deletionTimestamp") is not None
    return marked and not metadata.get("finalizers") and not metadata.get("deletionGracePeriodSeconds")


def _check_size(write: Write, draft: Draft) -> None:
    """Refuse an object that is larger, in the form it is stored in, than etcd accepts (`--max-request-bytes`)."""
    if not write.options.large:
        return
    obj, resource = draft.obj, write.stored_as
    stored = orjson.dumps(obj) if resource.custom else encode_object(resource.api_version, resource.kind, obj)
    if len(stored) > MAX_STORED:
        raise ApiError.unforeseen("etcdserver: request is too large")


def _store_along(write: Write, draft: Draft) -> None:
    for storage, obj in draft.along:
        write.api.store.put(write.api.registry.named(storage), obj)


def _typed(obj: JSON, resource: ResourceType) -> JSON:
    """Return an object that is not stored with kind and apiVersion first, as the store would have it."""
    return {"kind": resource.kind, "apiVersion": resource.api_version, **obj}
