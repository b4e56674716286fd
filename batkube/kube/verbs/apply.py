"""Apply: a PATCH with the fields that the applier wants, and so owns (`FieldManager.Apply` of k8s.io/apimachinery)."""

from __future__ import annotations

from typing import Any

from ..apimachinery.metadata import check_name, check_namespace
from ..apimachinery.status import ApiError
from ..apply import fields as paths
from ..apply import kubectl, managers
from ..apply.custom_misfit import custom_misfit
from ..apply.fields import Fields, Path
from ..apply.managers import APPLY, Entry
from ..apply.merge import DuplicateKey, compare, fields_of, merge, without
from ..apply.misfit import misfit
from ..apply.types import Type, built_in
from ..codec import typed
from ..codec.conversion import to_served
from ..codec.go_json import json_type
from ..schema import api_types
from ..schema.resources import ResourceType
from ..storage.store import Version
from .api import Api
from .managed_fields import entries_of, misfit_elsewhere, type_of
from .pipeline import carry_out
from .update import copy_of
from .write import Write

JSON = dict[str, Any]


def apply(write: Write, config: Any) -> tuple[Version, bool]:
    """Apply a configuration to an object, or create the object from it. Return the version, and True if it is new."""
    api, resource, options = write.api, write.resource, write.options
    namespace, name, subresource = write.namespace, write.name, write.subresource
    config = _checked(resource, config)
    given_name = config["metadata"].get("name") or ""
    check_namespace(config["metadata"], namespace)
    api.admission.enter(resource, name, write.context)
    current = api.store.version(resource.storage, namespace, name)
    if current is None and subresource is not None:
        raise ApiError.not_found(resource.qualified, name)
    version = config["metadata"].pop("resourceVersion", None)
    uid = config["metadata"].pop("uid", None)
    if current is None and uid:
        why = f"uid mismatch: the provided object specified uid {uid}, and no existing object was found"
        raise ApiError.conflict(resource.qualified, name, why)
    object_type = type_of(api, resource)
    typed_config = _typed(resource, object_type, config)
    try:
        wanted = paths.owned(
            fields_of(object_type, {key: config[key] for key in config if key not in ("kind", "apiVersion")})
        )
    except DuplicateKey as twice:
        shown = paths.shown((str(twice),))
        raise _not_typed(resource, config, f"duplicate entries for key {shown}") from None
    in_vain = _only_own_part(config, resource, subresource)
    wanted = frozenset(path for path in wanted if _is_taken(path, api, resource, subresource))
    writer = Entry(options.field_manager, APPLY, resource.api_version, api.clock.seconds(), wanted, subresource or "")
    if current is None:
        _only_own_part(typed_config, resource, subresource)
        typed_config = typed.decode(resource, typed_config, applied=True)  # a status that is never absent is empty
        check_name({"name": given_name}, name)
        return carry_out(write.as_create().owning(managers.write([writer])), typed_config), True
    served = to_served(resource, current.obj)
    live = copy_of(served, current)
    live["metadata"].pop("managedFields", None)
    unlike = custom_misfit(resource.schema or {}, object_type, live, of_patch=False) if resource.custom else None
    if unlike:
        raise ApiError.unforeseen(f"failed to create typed live object ({_names(resource, live)}): {unlike}")
    entries = entries_of(api, resource, current)
    merged = merge(object_type, live, config)
    before = next((entry.fields for entry in entries if entry.same_writer(writer)), frozenset())
    others = [entry.fields for entry in entries if not entry.same_writer(writer)]
    kept = paths.prefixes(path for fields in [wanted, *others] for path in fields)
    there = paths.prefixes(
        fields_of(object_type, {key: merged[key] for key in merged if key not in ("kind", "apiVersion")})
    )
    merged = without(object_type, merged, _let_go(before, wanted) & there, kept)
    if unlike := misfit_elsewhere(api, resource, merged, entries):
        mine = next((entry.api_version for entry in entries if entry.same_writer(writer)), resource.api_version)
        what = "failed to convert new object"
        if mine != resource.api_version:
            what = "failed to prune fields: failed to convert merged object to last applied version"
        raise ApiError.unforeseen(f"{what}: {unlike}")
    changes = compare(object_type, live, merged)  # as it was said: 1000m is not 1, null is not absent
    merged = typed.decode(resource, merged, applied=True)
    by_kubectl = options.field_manager == kubectl.MANAGER
    free = kubectl.last_applied(object_type, live, resource.api_version) if by_kubectl else frozenset()
    dated = any(merge(object_type.child(key), live.get(key), value) != live.get(key) for key, value in in_vain.items())
    after = managers.after_apply(entries, writer, changes, options.force, free, dated and resource.custom)
    check_name({"name": given_name or name}, name)
    if by_kubectl:
        kubectl.follow(config, live, merged)
    merged["metadata"]["resourceVersion"] = version or served["metadata"]["resourceVersion"]
    if uid:
        merged["metadata"]["uid"] = uid
    return carry_out(write.owning(managers.write(after)), merged, current), False


def _let_go(before: Fields, wanted: Fields) -> set[Path]:
    """Return the fields that are removed if nobody else owns them or a part of them.

    These are the fields that the applier no longer wants, and the structs around them (`EnsureNamedFieldsAreMembers` of
    structured-merge-diff).
    """
    gone = before - wanted
    structs = {path for path in paths.prefixes(gone) if path[-1].startswith("f:")}
    return {*gone, *structs} - {("f:metadata",)}


def check_applied(resource: ResourceType, config: JSON) -> None:
    """Check a configuration that is not of a stored object: a Scale. Raise the same errors as `apply`."""
    name = api_types.type_of(resource.api_version, resource.kind)
    if name is not None:
        _typed(resource, built_in(name), _checked(resource, config))


def _checked(resource: ResourceType, config: Any) -> JSON:
    if config is not None and not isinstance(config, dict):
        into = f"cannot unmarshal {json_type(config)} into Go value of type map[string]interface {{}}"
        raise ApiError.bad_request(f"error decoding YAML: error unmarshaling JSON: while decoding JSON: json: {into}")
    given = config or {}
    kind, api_version = given.get("kind") or "", given.get("apiVersion") or ""
    if kind != resource.kind or api_version != resource.api_version:
        group, _, version = str(api_version).rpartition("/")
        raise ApiError.bad_request(f"invalid object type: {group}/{version}, Kind={kind}")
    metadata = given.get("metadata") or {}
    if not isinstance(metadata, dict):
        raise ApiError.bad_request("error decoding YAML: metadata must be a map")
    if metadata.get("managedFields") is not None:
        raise ApiError.bad_request("metadata.managedFields must be nil")
    return {**given, "metadata": dict(metadata)}


def _typed(resource: ResourceType, object_type: Type, config: JSON) -> JSON:
    """Return the configuration with the types of its kind. Raise 500 if it does not fit: the real server did not
    foresee it.
    """
    type_name = api_types.type_of(resource.api_version, resource.kind)
    if type_name is not None and not resource.custom and (why := misfit(type_name, object_type, config)):
        raise _not_typed(resource, config, why)
    if resource.custom and (why := custom_misfit(resource.schema or {}, object_type, config)):
        raise _not_typed(resource, config, why)
    try:
        return typed.decode(resource, config, "Strict", applied=True)
    except ApiError as refused:
        why = refused.message.partition(f" cannot be handled as a {resource.kind}: ")[2]
        kind = f"{resource.group}/{resource.version}, Kind={resource.kind}"
        what = f"{_names(resource, config)}) to proper version: unable to convert unstructured object to {kind}"
        raise ApiError.unforeseen(f"failed to convert new object ({what}: {why}") from None


def _not_typed(resource: ResourceType, config: JSON, why: str) -> ApiError:
    return ApiError.unforeseen(f"failed to create typed patch object ({_names(resource, config)}): {why}")


def _names(resource: ResourceType, config: JSON) -> str:
    metadata = config["metadata"]
    of = f"{resource.group}/{resource.version}, Kind={resource.kind}"
    return f"{metadata.get('namespace') or ''}/{metadata.get('name') or ''}; {of}"


def _is_taken(path: Path, api: Api, resource: ResourceType, subresource: str | None) -> bool:
    """Return True if the resource, or its status, accepts a value applied at that path (`GetResetFields`)."""
    names = [element.removeprefix("f:") for element in path[:2]]
    if names[0] == "spec" and api.strategy(resource).fixed_spec:
        return False
    if subresource is None:
        return names[0] != "status" or "status" not in resource.subresources
    if subresource not in _OF_STATUS:
        return True
    if names[0] == "metadata" and not resource.custom:
        return not any(names[1:] == [kept] for kept in api.strategy(resource).kept_by_status)
    return names[0] == "status"


_OF_STATUS = ("status", "approval")


def _only_own_part(config: JSON, resource: ResourceType, subresource: str | None) -> JSON:
    """Remove the part of the configuration that has no effect, and return it.

    Applied to the main resource the status has no effect; applied to the status only the status has.
    """
    others: list[str] = []
    if subresource == "status":
        others = [key for key in config if key not in ("kind", "apiVersion", "metadata", "status")]
    elif "status" in resource.subresources and "status" in config:
        others = ["status"]
    return {key: config.pop(key) for key in others}
