"""Typed objects: the results of Go's JSON decoder and encoder.

The real server reads every body into the Go type of its kind. So unknown fields disappear (with a warning, or an error
if the client asks for strictness). A value of another type is a 400. Empty optional fields vanish, and structs that are
not pointers are always present. `decode` does the same to plain dictionaries, by the table of `api_types`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

from ..apimachinery.go_values import go_json
from ..apimachinery.status import ApiError, quote
from ..schema import api_types
from ..schema.resources import ResourceType
from .custom_objects import drop_nulls, embedded, prune
from .embedded import not_strings
from .typed_values import (
    RAW,
    SCALARS,
    STRUCT_LIKE,
    TIMES,
    ZEROS,
    Mismatch,
    Notes,
    Read,
    Unfit,
    read_anything,
    read_string,
    unfit,
)

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Reader:
    """The reader of one field. `omits`: an empty value is not written. `zero` makes the value of an absent field."""

    name: str
    read: Read
    omits: bool
    zero: Callable[[], Any] | None
    embedded: str = ""  # the struct that the field is of, where that is embedded: errors name it


def decode(
    resource: ResourceType,
    obj: JSON,
    validation: str = "Ignore",
    warnings: list[str] | None = None,
    kind: tuple[str, str] | None = None,
    doubts: Sequence[str] = (),
    patched: bool = False,
    applied: bool = False,
) -> JSON:
    """Return the object as the server understands it. Custom resources are read by their schema.

    `validation` is the request's fieldValidation: unknown fields are dropped in silence (Ignore), with a warning
    (Warn), or refused (Strict). Raise 400 if a value does not fit its field.

    `kind` is the API version and the kind if the object is not of the resource's own kind, as a Binding of pods.
    `doubts` are more faults, reported with the unknown fields: a strict client is refused for them as well. `patched`:
    a patch made the object; patches sort keys. `applied`: an apply made the object, so that it fits its schema, and its
    nulls are meant.
    """
    api_version, name = kind or (resource.api_version, resource.kind)
    type_name = api_types.type_of(api_version, name)
    if resource.custom and kind in (None, (resource.api_version, resource.kind)):
        read, unknown = _custom(resource, obj, applied)
        found = [*doubts, *(f"unknown field {quote(path)}" for path in unknown)]
        _tell(name, api_version, found, validation, warnings)
        return read
    if type_name is None:
        return obj
    notes = Notes()
    try:
        result: JSON = _struct(type_name)(obj, "", notes)
    except Mismatch as mismatch:
        version = quote(api_version.rpartition("/")[2])
        raise ApiError.bad_request(f"{name} in version {version} cannot be handled as a {name}: {mismatch}") from None
    unknown = sorted(notes.unknown) if patched else notes.unknown
    found = [*doubts, *(f"unknown field {quote(path)}" for path in unknown)]
    _tell(name, api_version, found, validation, warnings)
    if (obj.get("metadata") or {}).get("managedFields") == []:  # says more than none: ownership is let go of
        result["metadata"]["managedFields"] = []
    return result


def _tell(kind: str, api_version: str, found: list[str], validation: str, warnings: list[str] | None) -> None:
    """Refuse the found faults or warn of them, as the request's fieldValidation demands."""
    if not found or validation == "Ignore":
        return
    if validation == "Strict":
        raise strict_error(kind, api_version, found)
    if warnings is not None:
        warnings.extend(found)


def _custom(resource: ResourceType, obj: JSON, applied: bool) -> tuple[JSON, list[str]]:
    """Return a custom resource and its unknown fields. Its metadata are typed, its schema is for all other fields."""
    metadata = obj.get("metadata")
    notes = Notes()
    unknown: list[str] = []
    read = _metadata(resource, metadata if metadata is not None else {}, "metadata", notes)
    result = {**obj, "metadata": read}
    schema = resource.schema
    if schema is not None and obj.get("kind") == resource.kind and not applied:
        unknown = prune(schema, result, root=True)
        drop_nulls(schema, result)
    if schema is not None:
        of_embedded = Notes()
        for inner, path in embedded(schema, result):
            if why := not_strings(inner, path):
                raise _unreadable(resource, why)
            if "metadata" in inner:
                at = f"{path}.metadata" if path else "metadata"
                inner["metadata"] = _metadata(resource, inner["metadata"], at, of_embedded, inner=True)
        unknown += sorted(of_embedded.unknown)
    return result, notes.unknown + unknown


def _metadata(resource: ResourceType, metadata: Any, path: str, notes: Notes, *, inner: bool = False) -> JSON:
    try:
        read: JSON = _struct("meta/v1.ObjectMeta")(metadata, path, notes)
    except Mismatch as mismatch:
        why = str(mismatch)
        if inner:
            why = why.replace("Go struct field . of type", "Go value of type")
            why = f"{path}: Invalid value: {go_json(metadata)}: {why}"
        raise _unreadable(resource, why) from None
    return read


def _unreadable(resource: ResourceType, why: str) -> ApiError:
    kind = resource.kind
    return ApiError.bad_request(f"{kind} in version {quote(resource.version)} cannot be handled as a {kind}: {why}")


def strict_error(kind: str, api_version: str, found: list[str]) -> ApiError:
    """Return the 400 for a request that fieldValidation=Strict refuses."""
    version = quote(api_version.rpartition("/")[2])
    problems = ", ".join(dict.fromkeys(found))
    return ApiError.bad_request(
        f"{kind} in version {version} cannot be handled as a {kind}: strict decoding error: {problems}"
    )


def empty(type_name: str) -> JSON:
    """Return the JSON that the server writes for an empty object of that type, with the lists that it shows as null."""
    result: JSON = {}
    for field in api_types.fields_of(type_name):
        if field.inline:
            result.update(empty(field.type))
        elif field.shape and not field.omit_empty:
            result[field.name] = None
        elif not field.pointer and not field.shape:
            if api_types.has_type(field.type) and not api_types.is_string_list(field.type):
                result[field.name] = empty(field.type)
            elif field.type in ZEROS and (not field.omit_empty or field.type in STRUCT_LIKE):
                result[field.name] = ZEROS[field.type]
            elif field.type in TIMES and not field.omit_zero:
                result[field.name] = None
    return result


@cache
def _struct(type_name: str) -> Read:
    readers = {reader.name: reader for reader in _readers(type_name)}
    always = tuple((reader.name, reader.zero) for reader in readers.values() if reader.zero is not None)
    has_type_meta = api_types.has_kind(type_name)

    def read(value: Any, path: str, notes: Notes) -> JSON:
        if not isinstance(value, dict):
            raise unfit(value, type_name.rpartition("/")[2])
        result: JSON = {}
        for key, item in value.items():
            reader = readers.get(key)
            if reader is None:
                if has_type_meta and key in ("kind", "apiVersion"):
                    result[key] = read_string(item, key, notes)
                else:
                    notes.unknown.append(f"{path}.{key}" if path else key)
                continue
            if item is None:
                continue
            try:
                read_item = reader.read(item, f"{path}.{key}" if path else key, notes)
            except Unfit as misfit:
                misfit.within(_go_name(type_name).rpartition(".")[2], reader.embedded + key)
                raise
            if read_item is None or (reader.omits and not read_item):
                continue
            result[key] = read_item
        for name, zero in always:
            if name not in result:
                result[name] = zero()
        return result

    return read


def _readers(type_name: str) -> list[_Reader]:
    readers: list[_Reader] = []
    for field in api_types.fields_of(type_name):
        if field.inline:
            embedded = f"{_go_name(field.type).rpartition('.')[2]}."
            readers.extend(replace(reader, embedded=embedded + reader.embedded) for reader in _readers(field.type))
            continue
        is_struct = api_types.has_type(field.type)
        read = _value(field.type)
        if field.shape == "list":
            read = _list(read, field.type)
        elif field.shape == "map":
            read = _map(read, field.type)
        # What is stored in protobuf is read again without empty lists and maps: they are as if they were absent.
        omits = (field.omit_empty or field.shape != "") and not field.pointer and not (is_struct and not field.shape)
        zero: Callable[[], Any] | None = None
        if field.shape and not field.omit_empty:
            zero = _constant(None)  # a nil slice or map
        elif field.name == "apiGroup" and field.pointer and not field.omit_empty:
            zero = _constant(None)  # of a reference; other pointers like it are given their defaults where absent
        elif not field.pointer and not field.shape:
            if is_struct:
                zero = _zero_struct(field.type)
            elif field.type in ZEROS and (not field.omit_empty or field.type in STRUCT_LIKE):
                zero = _constant(ZEROS[field.type])
            elif field.type in TIMES and not field.omit_zero:
                zero = _constant(None)
        if field.type in (*STRUCT_LIKE, RAW) and not field.shape:
            omits = False
        readers.append(_Reader(field.name, read, omits, zero))
    return readers


def _zero_struct(type_name: str) -> Callable[[], JSON]:
    return lambda: _struct(type_name)({}, "", Notes())


def _constant(value: Any) -> Callable[[], Any]:
    return lambda: value


def _value(type_name: str) -> Read:
    if api_types.is_string_list(type_name):
        return _list(read_string, "string")
    if api_types.has_type(type_name):
        return lambda value, path, notes: _struct(type_name)(value, path, notes)
    return SCALARS.get(type_name, read_anything)


def _list(read: Read, type_name: str) -> Read:
    def read_list(value: Any, path: str, notes: Notes) -> list[Any]:
        if not isinstance(value, list):
            raise unfit(value, f"[]{_go_name(type_name)}")
        return [
            read(item if item is not None else _null(type_name), f"{path}[{index}]", notes)
            for index, item in enumerate(value)
        ]

    return read_list


def _map(read: Read, type_name: str) -> Read:
    def read_map(value: Any, path: str, notes: Notes) -> JSON:
        if not isinstance(value, dict):
            raise unfit(value, f"map[string]{_go_name(type_name)}")
        return {
            key: read(item if item is not None else _null(type_name), f"{path}.{key}", notes)
            for key, item in value.items()
        }

    return read_map


def _null(type_name: str) -> Any:
    """Return the value of null as an item of a list or a map: the type's zero value."""
    return {} if api_types.has_type(type_name) else ZEROS.get(type_name)


def _go_name(type_name: str) -> str:
    return type_name.rpartition("/")[2]
