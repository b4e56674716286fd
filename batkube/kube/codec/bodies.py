"""Request bodies: from bytes to objects, in JSON, YAML and protobuf, with the real server's error messages."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any

import orjson

from ..apimachinery.status import ApiError, quote
from ..schema import api_types
from ..schema.resources import ResourceType
from . import go_json, protobuf, raw_json, typed
from .go_json import json_type
from .negotiation import JSON_TYPE, PROTOBUF_TYPE, SERVED, YAML_TYPE, media_type
from .yaml_text import YamlError, first_document

JSON = dict[str, Any]

MAX_BODY = 3 * 1024 * 1024  # bytes, as the real server's limit for resource requests
MAX_ITEMS = 50_000  # in all lists of a body together; etcd's limit of 1.5 MB leaves the real server hardly more
MAX_DEPTH = 200  # of values within values; orjson writes 254, and there are lists and tables around objects
MAX_YAML = 1024 * 1024  # bytes; YAML takes ten times as long to read as JSON
_SHOWN = 30  # bytes of a body that an error shows
_LOOKED_THROUGH = 128 * 1024  # bytes of a body of which an error says what Go would
_GO_KIND = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'
_DELETE_OPTIONS = "DeleteOptions"
# What Go reads first of a body, as it prints that type.
_TYPE_META = r'struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }'


def decode(
    data: bytes,
    content_type: str,
    resource: ResourceType,
    subresource: str = "",
    validation: str = "Ignore",
    warnings: list[str] | None = None,
) -> JSON:
    """Return the object in a request body, as the server understands it: see `typed.decode`.

    Its kind is that of the resource, or of the objects that its subresource takes. The kind is filled in if the body
    does not have it.
    """
    wanted, api_version = resource.kind_of(subresource), resource.api_version_of(subresource)
    kind_type = media_type(content_type) if content_type else JSON_TYPE
    if kind_type == PROTOBUF_TYPE:
        return with_type_meta(_protobuf(data, wanted), data, wanted, api_version)
    twice: list[str] = []  # keys
    if kind_type == YAML_TYPE:
        parsed = _yaml(data, wanted, None if validation == "Ignore" else twice)
    elif kind_type == JSON_TYPE:
        parsed = _json(data, wanted, resource.custom)
    else:
        raise ApiError.unsupported_media_type(SERVED)
    if parsed is None:
        parsed = {}
    _check_extent(parsed, data)
    if not isinstance(parsed, dict):
        raise _unrecognised(
            wanted, data, f"json: cannot unmarshal {json_type(parsed)} into Go value of type {_TYPE_META}"
        )
    obj = with_type_meta(parsed, data, wanted, api_version, resource.custom and not subresource)
    if twice and validation == "Strict":
        twice = ["yaml: unmarshal errors:\n  " + "\n  ".join(twice)]
    elif validation != "Ignore" and kind_type == JSON_TYPE:
        twice = _duplicates(data, parsed)
    decoded = typed.decode(resource, obj, validation, warnings, (obj["apiVersion"], wanted), twice)
    if wanted in raw_json.RAW and kind_type == JSON_TYPE:
        raw_json.mark(decoded, wanted, data)
    return decoded


def with_type_meta(parsed: JSON, data: bytes, kind: str, api_version: str, custom: bool = False) -> JSON:
    """Return the object with its kind and version. Raise 400 if the object has others than the request is about."""
    given_kind, given_version = parsed.get("kind") or "", parsed.get("apiVersion") or ""
    for field, value in (("kind", given_kind), ("apiVersion", given_version)):
        if not isinstance(value, str):
            why = f"json: cannot unmarshal {json_type(value)} into Go struct field .{field} of type string"
            raise _unrecognised(kind, data, why)
    if custom:
        if not given_kind:
            why = f"Object 'Kind' is missing in '{data.decode('utf-8', 'replace')}' ({_shown(data)})"
            raise ApiError.bad_request(f"the object provided is unrecognized (must be of type {kind}): {why}")
        if given_version != api_version:
            raise ApiError.bad_request(
                f"the API version in the data ({given_version}) does not match the expected API version ({api_version})"
            )
        return parsed  # another kind is refused where the object is judged
    old_eviction = kind == "Eviction" and given_version == "policy/v1beta1"  # taken still
    if given_kind not in ("", kind) or not (given_version in ("", api_version) or old_eviction):
        given_kind, given_version = given_kind or kind, given_version or api_version
        why = _other_type(given_kind, given_version, kind, api_version)
        version = quote(given_version.rpartition("/")[2])
        raise ApiError.bad_request(f"{given_kind} in version {version} cannot be handled as a {kind}: {why}")
    return {**parsed, "kind": kind, "apiVersion": api_version}


def _check_extent(document: Any, data: bytes) -> None:
    """Raise 413 for a document with so many items in lists that checking them would delay all other requests.

    Raise 400 for a document so deep that it could not be written again.
    """
    if len(data) < 2 * MAX_ITEMS and data.count(b"{") + data.count(b"[") <= MAX_DEPTH and data.count(b"\n") < MAX_DEPTH:
        return  # an item has a byte at least, and a comma
    check_extent(document)


def check_extent(document: Any) -> None:
    """Check the extent of a decoded document in the same way."""
    depth, count, level = 0, 0, [document]
    while level:
        depth += 1
        if depth > MAX_DEPTH:
            raise ApiError.bad_request(f"json: exceeded max depth of {MAX_DEPTH}")
        below: list[Any] = []
        for value in level:
            if isinstance(value, list):
                count += len(value)
                below += value
            elif isinstance(value, dict):
                below += value.values()
            if count > MAX_ITEMS:
                raise ApiError.too_many_items(MAX_ITEMS)
        level = [value for value in below if isinstance(value, dict | list)]


def _other_type(given_kind: str, given_version: str, kind: str, api_version: str) -> str:
    """Return why an object of one type is not of another: the type does not exist, or nothing converts it."""
    given = api_types.type_of(given_version, given_kind)
    if given is None:
        what = f"no kind {quote(given_kind)} is registered for version {quote(given_version)}"
        return f'{what} in scheme "pkg/runtime/scheme.go:111"'
    group, _, _ = api_version.rpartition("/")
    internal = group.partition(".")[0] or "core"
    return f"converting ({given.rpartition('/')[2]}) to ({internal}.{kind}): unknown conversion"


def _keys(data: bytes) -> int:
    """Return the apparent number of keys. If a key is repeated, more were sent than were read."""
    return data.count(b'":')


def _duplicates(data: bytes, parsed: Any) -> list[str]:
    """Return the repeated keys in an object. The last one of each counts."""
    if _keys(data) == _keys(orjson.dumps(parsed)):
        return []
    pairs = json.loads(data, object_pairs_hook=_Pairs)
    return [f"duplicate field {quote(path)}" for path in _paths_twice(pairs, "")]


class _Pairs(list[tuple[str, Any]]):
    """An object with all keys as they were sent, repeated ones as well."""


def _paths_twice(value: Any, path: str) -> Iterator[str]:
    """Yield the paths of the repeated keys in an object."""
    if isinstance(value, _Pairs):
        seen: set[str] = set()
        for key, item in value:
            here = f"{path}.{key}" if path else key
            if key in seen:
                yield here
            seen.add(key)
            yield from _paths_twice(item, here)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _paths_twice(item, f"{path}[{index}]")


def decode_delete_options(data: bytes, content_type: str) -> JSON | None:
    """Return the DeleteOptions in the body of a DELETE; None if it has no body. kind and apiVersion may be absent."""
    if not data:
        return None
    kind_type = media_type(content_type) if content_type else JSON_TYPE
    if kind_type == PROTOBUF_TYPE:
        parsed: Any = _protobuf(data, _DELETE_OPTIONS)
    elif kind_type == YAML_TYPE:
        parsed = _yaml(data, _DELETE_OPTIONS)
    elif kind_type == JSON_TYPE:
        parsed = _options_json(data)
    else:
        raise ApiError.unsupported_media_type(SERVED)
    if parsed is None:
        return {}
    if not isinstance(parsed, dict):
        raise _no_kind(f"json: cannot unmarshal {go_json.json_type(parsed)} into Go value of type {_GO_KIND}")
    kind = parsed.get("kind") or _DELETE_OPTIONS
    if kind != _DELETE_OPTIONS:
        version = quote(str(parsed.get("apiVersion") or ""))
        raise ApiError.bad_request(
            f'no kind {quote(str(kind))} is registered for version {version} in scheme "pkg/runtime/scheme.go:111"'
        )
    _check_delete_options(parsed)
    return parsed


def _options_json(data: bytes) -> Any:
    why = None
    try:
        return _json(data, _DELETE_OPTIONS)
    except ApiError:
        why = _go_problem(data)
        if why is None:
            raise
    raise _no_kind(why)


def _no_kind(why: str) -> ApiError:
    return ApiError.bad_request(f"couldn't get version/kind; json parse error: {why}")


def _check_delete_options(options: JSON) -> None:
    for field, wanted, go_type in (
        ("gracePeriodSeconds", int, "int64"),
        ("orphanDependents", bool, "bool"),
        ("propagationPolicy", str, "v1.DeletionPropagation"),
        ("preconditions", dict, "v1.Preconditions"),
        ("dryRun", list, "[]string"),
    ):
        value = options.get(field)
        if value is not None and type(value) is not wanted:
            names = {bool: "bool", int: "number", float: "number", str: "string", list: "array", dict: "object"}
            into = f"Go struct field DeleteOptions.{field} of type {go_type}"
            raise ApiError.bad_request(f"json: cannot unmarshal {names[type(value)]} into {into}")


def decode_patch(data: bytes, complaint: str = "error decoding patch: ") -> tuple[Any, list[str]]:
    """Return the document of a patch in JSON, and its repeated keys. Raise 400 if it is malformed."""
    try:
        document = orjson.loads(data)
    except orjson.JSONDecodeError as error:
        raise ApiError.bad_request(f"{complaint}{_go_problem(data) or error}") from None
    _check_extent(document, data)
    return document, _duplicates(data, document)


def decode_apply(data: bytes, validation: str, warnings: list[str] | None) -> Any:
    """Return the applied configuration, which is in YAML. Raise 400 if it is malformed.

    The request's fieldValidation says if a repeated key is refused, warned of or ignored.
    """
    twice: list[str] = []
    try:
        document = _first_document(data, twice)
    except YamlError as error:
        raise ApiError.bad_request(f"error decoding YAML: error converting YAML to JSON: {error}") from None
    if twice and validation == "Strict":
        lines = "".join(f"\n  {each}" for each in twice)
        why = f"error converting YAML to JSON: yaml: unmarshal errors:{lines}"
        raise ApiError.bad_request(f"error strict decoding YAML: {why}")
    if warnings is not None and validation == "Warn":
        warnings.extend(twice)
    _check_extent(document, data)
    return document


def _protobuf(data: bytes, kind: str) -> JSON:
    """Return an object in protobuf. Its kind is known, but may not be the one that is wanted."""
    try:
        return protobuf.decode(data)
    except protobuf.ProtobufError as error:
        why = f"{error} ({_shown(data)})"
        raise ApiError.bad_request(f"the object provided is unrecognized (must be of type {kind}): {why}") from None


def _json(data: bytes, kind: str, custom: bool = False) -> Any:
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        pass
    why = _go_problem(data)
    if why is not None:
        raise _unrecognised(kind, data, why)
    try:  # numbers beyond 64 bits, halves of characters, no UTF-8: what orjson refuses and the real server reads
        return _sayable(json.loads(data.decode("utf-8", "replace")), custom)
    except (ValueError, OverflowError, RecursionError) as error:
        raise _unrecognised(kind, data, str(error)) from None


def _sayable(value: Any, custom: bool) -> Any:
    """Return the content of an unusual document as Go reads it: texts are Unicode, numbers are finite.

    The numbers of custom resources (`custom`) fit 64 bits or are floats. Raise ValueError if there is no such number.
    """
    if isinstance(value, dict):
        return {key: _sayable(item, custom) for key, item in value.items()}
    if isinstance(value, list):
        return [_sayable(item, custom) for item in value]
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"json: unsupported value: {value}")
    if isinstance(value, int) and custom and not -(1 << 63) <= value < 1 << 63:
        return float(value)
    return value


def _go_problem(data: bytes) -> str | None:
    """Return what is wrong with a text, in Go's words; None if nothing is, or if it is too large to check."""
    return go_json.problem(data) if len(data) <= _LOOKED_THROUGH else None


def _yaml(data: bytes, kind: str, twice: list[str] | None = None) -> Any:
    try:
        return _first_document(data, twice)
    except YamlError as error:
        raise ApiError.bad_request(
            f"the object provided is unrecognized (must be of type {kind}): {error} ({_shown(data)})"
        ) from None


def _first_document(data: bytes, warnings: list[str] | None = None) -> Any:
    if len(data) > MAX_YAML:
        if data.startswith(b"{"):  # kubectl applies JSON under this name
            return _json(data, "patch")
        raise ApiError.request_too_large(MAX_YAML)
    return first_document(data, warnings)


def _unrecognised(kind: str, data: bytes, why: str) -> ApiError:
    return ApiError.bad_request(
        f"the object provided is unrecognized (must be of type {kind}): couldn't get version/kind; "
        f"json parse error: {why} ({_shown(data)})"
    )


def _shown(data: bytes) -> str:
    """Return the beginning of a body, as text if it looks like JSON (`summarizeData` of k8s.io/apiserver)."""
    if not data:
        return "<empty>"
    start = data[:_SHOWN]
    text = start.decode("utf-8", "replace") if start.startswith(b"{") else start.hex()
    return text if len(data) <= _SHOWN else f"{text} ..."
