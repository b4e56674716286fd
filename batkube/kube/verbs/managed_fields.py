"""The effect of a write on the ownership of fields, for objects whose fields have owners."""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import Any

from ..apimachinery.metadata import SYSTEM_FIELDS
from ..apply import fields as paths
from ..apply import managers
from ..apply.custom_misfit import custom_misfit
from ..apply.managers import APPLY, BEFORE_FIRST_APPLY, UPDATE, Entry
from ..apply.merge import Changes, DuplicateKey, compare
from ..apply.types import Type
from ..codec import typed
from ..codec.conversion import to_served
from ..schema import api_types
from ..schema.resources import ResourceType
from ..storage.store import NOBODY, Version, Writer
from .api import Api
from .request_options import WriteOptions
from .write import Write

JSON = dict[str, Any]


def type_of(api: Api, resource: ResourceType) -> Type:
    """Return how objects of the resource merge."""
    return api.strategy(resource).merge_type(resource)


def entries_of(api: Api, resource: ResourceType, version: Version) -> list[Entry]:
    """Return the owners of an object's fields. Before its first apply its only writer owns all, if there
    was only one.
    """
    managed = version.obj["metadata"].get("managedFields")
    if managed:
        return managers.read(managed)
    return [_entry_of_all(api, resource, version.obj, version.writer)]


def is_followed(resource: ResourceType, options: WriteOptions) -> bool:
    """Return True if a write records the owners of fields: if it names its field manager, or is of a custom
    resource.
    """
    return options.names_manager or (resource.custom and bool(options.field_manager))


def of_only_writer(api: Api, resource: ResourceType, version: Version) -> list[JSON]:
    """Return the managedFields of an object that has none yet, if only one client wrote it. Return none in
    other cases.
    """
    if version.writer in (None, NOBODY) or "managedFields" in version.obj["metadata"]:
        return []
    try:
        return managers.write([_entry_of_all(api, resource, version.obj, version.writer)])
    except DuplicateKey:
        return []


def unlike_schema(write: Write, obj: JSON) -> bool:
    """Return True if a custom resource has, as it was sent, values that do not fit its schema.

    The real server does not record owners then, even if these values have no effect.
    """
    resource = write.stored_as
    if not resource.custom:
        return False
    return custom_misfit(resource.schema or {}, type_of(write.api, resource), obj, of_patch=False) is not None


def misfit_elsewhere(api: Api, resource: ResourceType, obj: JSON, entries: list[Entry]) -> str | None:
    """Return why a custom resource does not have the form of another version in which fields have owners.

    Return None if it has. The real server compares objects in these versions; if it cannot, it does not record owners.
    """
    strategy = api.strategy(resource)
    names = {entry.api_version.rpartition("/")[2]: None for entry in entries}
    found = (strategy.misfit(name, obj) for name in names if name != resource.version)
    return next(filter(None, found), None)


def owns_nothing(resource: ResourceType, obj: JSON) -> bool:
    """Return True if a new object has only a name: then nobody owns anything until the first apply."""
    left_out = ["kind", "apiVersion", "metadata"]
    if not resource.custom or "status" in resource.subresources:
        left_out.append("status")
    said = (value for key, value in obj.items() if key not in left_out)
    return not (obj["metadata"].keys() - _NOBODYS) and not any(resource.custom or value for value in said)


_NOBODYS = frozenset(SYSTEM_FIELDS) - {"generateName"}


def after_create(write: Write, obj: JSON, writer: Writer, sent: JSON) -> list[JSON]:
    """Return the managedFields of a new object. `sent` is the object that the client sent.

    All else are defaults, which the client owns as well, or was set by admission and by the kind's rules.
    """
    if unlike_schema(write, sent):
        return []
    try:
        return managers.write([_entry_of_all(write.api, _written_as(write), obj, writer, sent)])
    except DuplicateKey:
        return []


def _written_as(write: Write) -> ResourceType:
    """Return the version in which the fields that a write sets have their owners."""
    return write.stored_as if write.resource.custom else write.resource


def _in_version(api: Api, resource: ResourceType, api_version: str) -> ResourceType:
    """Return another version of a built-in kind; the same one if there is none."""
    return (not resource.custom and api.registry.by_kind(api_version, resource.kind)) or resource


def _entry_of_all(
    api: Api, resource: ResourceType, obj: JSON, writer: Writer | None, sent: JSON | None = None
) -> Entry:
    manager, api_version, time = (
        writer
        if writer and writer != NOBODY
        else (
            BEFORE_FIRST_APPLY,
            resource.api_version,
            obj["metadata"]["creationTimestamp"],
        )
    )
    resource = _in_version(api, resource, api_version)
    served = to_served(resource, obj)
    content = _content(api, served, resource, None)
    name = api_types.type_of(resource.api_version, resource.kind)
    nothing = typed.empty(name) if name is not None and not resource.custom else {}
    changes = compare(type_of(api, resource), _content(api, nothing, resource, None), content)
    written = paths.owned(changes.added | changes.modified)
    strategy = api.strategy(resource)
    foreign = {tuple(map(paths.field, name.split("."))) for name in strategy.set_by_admission}
    if sent is not None:
        foreign = {path for path in foreign if not _has(sent, path)}
        metadata = sent.get("metadata") or {}
        foreign |= {
            ("f:metadata", f"f:{name}")
            for name in ("labels", "annotations", "finalizers")
            if name not in strategy.defaulted_metadata and not metadata.get(name)
        }
    lengths = {len(path) for path in foreign}
    fields = frozenset(path for path in written if not any(path[:length] in foreign for length in lengths))
    return Entry(manager, UPDATE, api_version, time, fields)


def after_update(write: Write, current: Version, new: JSON, sent: list[JSON] | None) -> list[JSON] | None:
    """Return the managedFields of `new`, written over `current`; None if there are none.

    `sent` are the managedFields that the client sent. An empty list, or one empty entry, removes all ownership.
    Readable entries are taken over.
    """
    api, resource, subresource = write.api, _written_as(write), write.subresource
    if subresource is not None and sent != []:
        sent = None
    if sent == [] or sent == [{}]:
        return None
    before = managers.read(sent) if sent and managers.readable(sent) else None
    if before is None and current.writer == NOBODY and "managedFields" not in current.obj["metadata"]:
        return None  # all was let go of: until the next apply nobody owns anything
    time = api.clock.seconds() if subresource != "scale" else ""  # what is scaled is not dated
    manager = write.options.field_manager or "unknown"
    writer = Entry(manager, UPDATE, resource.api_version, time, frozenset(), subresource or "")
    if before is None:
        before = entries_of(api, resource, current)
    if misfit_elsewhere(api, resource, new, before):
        return None

    def changes(api_version: str) -> Changes | None:
        """Return what has changed in a version; None if the version is of another group: its fields are not known."""
        if api_version.rpartition("/")[0] != resource.group:
            return None
        in_version = _in_version(api, resource, api_version)
        contents = (_content(api, to_served(in_version, obj), in_version, subresource) for obj in (current.obj, new))
        return compare(type_of(api, in_version), *contents)

    return managers.write(managers.after_update(before, writer, cache(changes))) or None


def after_scaling(write: Write, current: Version, replicas: int | None) -> list[JSON]:
    """Return the managedFields after an apply to the scale of an object. Raise 409 if it is refused.

    It is about the replicas alone (None: they are absent). Conflicts name the version of Scales
    (`managedfields.ScaleHandler` of k8s.io/apimachinery).
    """
    resource, options = write.resource, write.options
    entries = entries_of(write.api, resource, current)
    wanted = frozenset((_REPLICAS,)) if replicas is not None else frozenset()
    writer = Entry(options.field_manager, APPLY, resource.api_version, "", wanted, "scale")
    changes = Changes()
    if replicas is not None and replicas != ((current.obj.get("spec") or {}).get("replicas") or 0):
        changes.modified.add(_REPLICAS)
    of_scale = [replace(entry, api_version=_SCALES, fields=entry.fields & {_REPLICAS}) for entry in entries]
    managers.after_apply(of_scale, writer, changes, options.force)
    after: list[Entry] = []
    for entry in managers.after_apply(entries, writer, changes, force=True):
        if _REPLICAS in entry.fields and not entry.same_writer(
            writer
        ):  # what the scale is about has an entry of its own
            after.append(replace(entry, fields=frozenset((_REPLICAS,)), time=""))
            entry = replace(entry, fields=entry.fields - {_REPLICAS})
        after.append(entry)
    return managers.write(after)


def _has(obj: JSON, path: paths.Path) -> bool:
    value: Any = obj
    for element in path:
        value = value.get(element[2:]) if isinstance(value, dict) else None
    return value not in (None, {}, [])


_REPLICAS = ("f:spec", "f:replicas")
_SCALES = "autoscaling/v1"


def _content(api: Api, obj: JSON, resource: ResourceType, subresource: str | None) -> JSON:
    """Return the part of an object that a write can be about."""
    content = {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}
    if subresource is None and "status" in resource.subresources:
        content.pop("status", None)
    if api.strategy(resource).fixed_spec:
        content.pop("spec", None)
    metadata = dict(content.get("metadata") or {})
    metadata.pop("managedFields", None)
    content["metadata"] = metadata
    return content
