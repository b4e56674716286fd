"""What a write does to the ownership of fields, for objects that have any."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from .. import api_types, typed
from ..api import Api
from ..apply import fields as paths
from ..apply import managers
from ..apply.custom_misfit import custom_misfit
from ..apply.managers import APPLY, BEFORE_FIRST_APPLY, UPDATE, Entry
from ..apply.merge import Changes, DuplicateKey, compare
from ..apply.types import UNTYPED, Type, built_in
from ..conversion import to_served
from ..custom.strategy import CustomStrategy
from ..metadata import SYSTEM_FIELDS
from ..options import WriteOptions
from ..resources import ResourceType
from ..store import NOBODY, Version, Writer

JSON = dict[str, Any]


def type_of(api: Api, resource: ResourceType) -> Type:
    """How objects of the resource merge."""
    strategy = api.strategy(resource)
    if isinstance(strategy, CustomStrategy):
        return strategy.type_of(resource.version)
    name = api_types.type_of(resource.api_version, resource.kind)
    return built_in(name) if name is not None else UNTYPED


def entries_of(api: Api, resource: ResourceType, version: Version) -> list[Entry]:
    """Who owns what of an object. Before its first apply all belongs to its only writer, if it had but one."""
    served = to_served(resource, version.obj)
    managed = served["metadata"].get("managedFields")
    if managed:
        return managers.read(managed)
    return [_entry_of_all(api, resource, served, version.writer)]


def is_followed(resource: ResourceType, options: WriteOptions) -> bool:
    """A write keeps account of who owns what: where the request names its field manager, and of custom resources."""
    return options.names_manager or (resource.custom and bool(options.field_manager))


def of_only_writer(api: Api, resource: ResourceType, version: Version) -> list[JSON]:
    """The managedFields of an object that has none yet, if but one client wrote it; else none."""
    if version.writer in (None, NOBODY) or "managedFields" in version.obj["metadata"]:
        return []
    served = to_served(resource, version.obj)
    try:
        return managers.write([_entry_of_all(api, resource, served, version.writer)])
    except DuplicateKey:
        return []


def unlike_schema(api: Api, resource: ResourceType, obj: JSON) -> bool:
    """A custom resource as it is sent has values that its schema knows otherwise, if only in what is sent in vain: then
    the real server does not get to know who owns what.
    """
    if not resource.custom:
        return False
    return custom_misfit(resource.schema or {}, type_of(api, resource), obj, of_patch=False) is not None


def misfit_elsewhere(api: Api, resource: ResourceType, obj: JSON, entries: list[Entry]) -> str | None:
    """Why a custom resource has not the form of another version that somebody owns fields in, None if it has. The real
    server compares objects in these versions, and does not get to know who owns what.
    """
    strategy = api.strategy(resource)
    if not isinstance(strategy, CustomStrategy):
        return None
    names = {entry.api_version.rpartition("/")[2]: None for entry in entries}
    others = [name for name in names if name in strategy.versions and name != resource.version]
    found = (custom_misfit(strategy.versions[name].schema, strategy.type_of(name), obj) for name in others)
    return next(filter(None, found), None)


def owns_nothing(resource: ResourceType, obj: JSON) -> bool:
    """Who makes the object says nothing of it but its name: then nobody owns anything until the first apply."""
    left_out = ["kind", "apiVersion", "metadata"]
    if not resource.custom or "status" in resource.subresources:
        left_out.append("status")
    said = (value for key, value in obj.items() if key not in left_out)
    return not (obj["metadata"].keys() - _NOBODYS) and not any(resource.custom or value for value in said)


_NOBODYS = frozenset(SYSTEM_FIELDS) - {"generateName"}


def after_create(api: Api, resource: ResourceType, obj: JSON, writer: Writer, sent: JSON) -> list[JSON]:
    """The managedFields of a new object. `sent` is what the client sent: the rest are defaults, which it owns as well,
    or was set by admission and by the kind's rules.
    """
    if unlike_schema(api, resource, sent):
        return []
    try:
        return managers.write([_entry_of_all(api, resource, obj, writer, sent)])
    except DuplicateKey:
        return []


def _entry_of_all(
    api: Api, resource: ResourceType, served: JSON, writer: Writer | None, sent: JSON | None = None
) -> Entry:
    manager, api_version, time = (
        writer
        if writer and writer != NOBODY
        else (
            BEFORE_FIRST_APPLY,
            resource.api_version,
            served["metadata"]["creationTimestamp"],
        )
    )
    content = _content(served, resource, None)
    name = api_types.type_of(resource.api_version, resource.kind)
    nothing = typed.empty(name) if name is not None and not resource.custom else {}
    changes = compare(type_of(api, resource), _content(nothing, resource, None), content)
    written = paths.owned(changes.added | changes.modified)
    foreign = {tuple(map(paths.field, name.split("."))) for name in api.strategy(resource).set_by_admission}
    if sent is not None:
        foreign = {path for path in foreign if not _has(sent, path)}
        metadata = sent.get("metadata") or {}
        foreign |= {
            ("f:metadata", f"f:{name}") for name in ("labels", "annotations", "finalizers") if not metadata.get(name)
        }
    lengths = {len(path) for path in foreign}
    fields = frozenset(path for path in written if not any(path[:length] in foreign for length in lengths))
    return Entry(manager, UPDATE, api_version, time, fields)


def after_write(
    api: Api,
    resource: ResourceType,
    current: Version,
    new: JSON,
    sent: list[JSON] | None,
    manager: str,
    subresource: str | None,
) -> list[JSON] | None:
    """The managedFields of `new`, written over `current` by `manager`; None for none.

    `sent` is what the client itself put there: an empty list, or one empty entry, lets go of all ownership; what can be
    read is taken.
    """
    if subresource is not None and sent != []:
        sent = None
    if sent == [] or sent == [{}]:
        return None
    before = managers.read(sent) if sent and managers.readable(sent) else None
    if before is None and current.writer == NOBODY and "managedFields" not in current.obj["metadata"]:
        return None  # all was let go of: until the next apply nobody owns anything
    old = to_served(resource, current.obj)
    time = api.clock.seconds() if subresource != "scale" else ""  # what is scaled is not dated
    writer = Entry(manager or "unknown", UPDATE, resource.api_version, time, frozenset(), subresource or "")
    changes = compare(
        type_of(api, resource), _content(old, resource, subresource), _content(new, resource, subresource)
    )
    if before is None:
        before = entries_of(api, resource, current)
    if misfit_elsewhere(api, resource, new, before):
        return None
    return managers.write(managers.after_update(before, writer, changes)) or None


def after_scaling(
    api: Api, resource: ResourceType, current: Version, replicas: int | None, manager: str, force: bool
) -> list[JSON]:
    """The managedFields after an apply to the scale of an object: it is about the replicas alone (None: it does not say
    them), and conflicts tell of the version of Scales (`managedfields.ScaleHandler` of k8s.io/apimachinery). 409 where
    it is refused.
    """
    entries = entries_of(api, resource, current)
    wanted = frozenset((_REPLICAS,)) if replicas is not None else frozenset()
    writer = Entry(manager, APPLY, resource.api_version, "", wanted, "scale")
    changes = Changes()
    if replicas is not None and replicas != ((current.obj.get("spec") or {}).get("replicas") or 0):
        changes.modified.add(_REPLICAS)
    of_scale = [replace(entry, api_version=_SCALES, fields=entry.fields & {_REPLICAS}) for entry in entries]
    managers.after_apply(of_scale, writer, changes, force)
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


def _content(obj: JSON, resource: ResourceType, subresource: str | None) -> JSON:
    """The part of an object that a write can be about."""
    content = {key: value for key, value in obj.items() if key not in ("kind", "apiVersion")}
    if subresource is None and "status" in resource.subresources:
        content.pop("status", None)
    metadata = dict(content.get("metadata") or {})
    metadata.pop("managedFields", None)
    content["metadata"] = metadata
    return content
