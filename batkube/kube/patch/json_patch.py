"""JSON patch (RFC 6902) as the real server applies it, with the library gopkg.in/evanphx/json-patch.v4.

That library is less strict than the RFC, and so is this module: `replace` of a missing key adds it, an absent value is
null, negative indices count from the end, a path without a leading slash loses its first segment.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import orjson

from ..apimachinery.status import ApiError, quote
from ..codec.go_json import json_type

JSON = dict[str, Any]

MAX_OPERATIONS = 10_000
MAX_COPIED = 3 * 1024 * 1024  # bytes of JSON, by all `copy` of a patch (k8s.io/apiserver, JSONPatchMaxCopyBytes)
_INDEX = re.compile(r"[+-]?[0-9]+", re.ASCII)
_REFUSED = "the server rejected our request due to an error in our request"
_ABSENT: Any = object()


class _Failed(Exception):
    """An operation that cannot be applied: the whole patch is refused."""


def check_operations(patch: Any) -> list[str]:
    """Return the doubtful parts of the operations of a patch: unknown fields. Raise 400 if it is not a list of
    operations.

    (The function is not called for clients that want unknown fields to be ignored.)
    """
    if patch is None:
        return []
    if not isinstance(patch, list):
        raise _not_a_patch(patch, "Go value of type []handlers.jsonPatchOp")
    doubts = []
    for index, operation in enumerate(patch):
        if operation is None:
            continue
        if not isinstance(operation, dict):
            raise _not_a_patch(operation, "Go value of type handlers.jsonPatchOp")
        for key, value in operation.items():
            if key in ("op", "path", "from"):
                if value is not None and not isinstance(value, str):
                    raise _not_a_patch(value, f"Go struct field jsonPatchOp.{key} of type string")
            elif key != "value":
                doubts.append(f"unknown field {quote(f'[{index}].{key}')}")
    return doubts


def _not_a_patch(value: Any, into: str) -> ApiError:
    return ApiError.bad_request(f"error decoding patch: json: cannot unmarshal {json_type(value)} into {into}")


def apply(obj: JSON, patch: Any) -> JSON:
    """Return the object after the operations of the patch; `obj` is not changed.

    Raise 400 if the patch is not a list of operations, 413 if there are too many, 422 if one of them fails (a `test`
    too).
    """
    if patch is None:
        return obj
    if not isinstance(patch, list) or not all(isinstance(operation, dict | None) for operation in patch):
        wrong, into = patch, "jsonpatch.Patch"
        if isinstance(patch, list):
            wrong, into = next(each for each in patch if not isinstance(each, dict | None)), "jsonpatch.Operation"
        raise ApiError.bad_request(f"json: cannot unmarshal {json_type(wrong)} into Go value of type {into}")
    if len(patch) > MAX_OPERATIONS:
        most = f"The allowed maximum operations in a JSON patch is {MAX_OPERATIONS}, got {len(patch)}"
        raise ApiError(413, "RequestEntityTooLarge", f"Request entity too large: {most}")
    document: Any = obj
    copied = 0
    for operation in patch:
        try:
            if operation is None:
                raise _Failed
            if operation.get("op") == "copy":
                copied += _size(_get(*_holder(document, _pointer(operation, "from"))))
                if copied > MAX_COPIED:
                    raise _Failed
            document = _apply_one(document, operation)
        except _Failed:
            raise ApiError.unprocessable(_REFUSED) from None
    if not isinstance(document, dict):
        raise ApiError.unprocessable(_REFUSED)
    return document


def _apply_one(document: Any, operation: JSON) -> Any:
    kind = operation.get("op")
    path = _pointer(operation, "path")
    value = operation.get("value")
    if kind == "add":
        return _changed(document, path, lambda holder, key: _add(holder, key, value))
    if kind == "replace":
        return value if path == "" else _changed(document, path, lambda holder, key: _replace(holder, key, value))
    if kind == "remove":
        return _changed(document, path, _remove)
    if kind == "test":
        found = document if path == "" else _get(*_holder(document, path))
        if not _equal(found, value):
            raise _Failed
        return document
    if kind in ("move", "copy"):
        source = _pointer(operation, "from")
        moved = _get(*_holder(document, source))
        if kind == "move":
            document = _changed(document, source, _remove)
        return _changed(document, path, lambda holder, key: _add(holder, key, moved))
    raise _Failed


def _size(value: Any) -> int:
    try:
        return len(orjson.dumps(value))
    except TypeError:  # too deep to be written
        raise _Failed from None


def _pointer(operation: JSON, name: str) -> str:
    pointer = operation.get(name)
    if not isinstance(pointer, str):
        raise _Failed
    return pointer


def _segments(path: str) -> list[str]:
    """Return the keys of a path. The text before the first slash is not a key."""
    segments = path.split("/")[1:]
    if not segments:
        raise _Failed
    return [segment.replace("~1", "/").replace("~0", "~") if "~" in segment else segment for segment in segments]


def _holder(document: Any, path: str) -> tuple[Any, str]:
    """Return the map or list that contains the path's last segment, and that segment."""
    *parents, key = _segments(path)
    holder = document
    for parent in parents:
        holder = _get(holder, parent)
    if not isinstance(holder, dict | list):
        raise _Failed
    return holder, key


def _changed(document: Any, path: str, change: Callable[[Any, str], None]) -> Any:
    """Return a copy of the document, changed at the path. Only the parts on the path are copied."""
    *parents, key = _segments(path)
    root = holder = _copied(document)
    for parent in parents:
        child = _copied(_get(holder, parent))
        if isinstance(holder, list):
            holder[_index(parent, len(holder))] = child
        else:
            holder[parent] = child
        holder = child
    change(holder, key)
    return root


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return dict(value)
    if isinstance(value, list):
        return list(value)
    raise _Failed


def _get(holder: Any, key: str) -> Any:
    if isinstance(holder, dict):
        return holder.get(key)
    if isinstance(holder, list):
        return holder[_index(key, len(holder))]
    raise _Failed


def _add(holder: Any, key: str, value: Any) -> None:
    if isinstance(holder, dict):
        holder[key] = value
    elif key == "-":
        holder.append(value)
    else:
        holder.insert(_index(key, len(holder) + 1), value)


def _replace(holder: Any, key: str, value: Any) -> None:
    if isinstance(holder, dict):
        holder[key] = value
    else:
        holder[_index(key, len(holder))] = value


def _remove(holder: Any, key: str) -> None:
    if isinstance(holder, dict):
        if holder.pop(key, _ABSENT) is _ABSENT:
            raise _Failed
    else:
        del holder[_index(key, len(holder))]


def _index(key: str, length: int) -> int:
    if not _INDEX.fullmatch(key):
        raise _Failed
    index = int(key)
    if not -length <= index < length:
        raise _Failed
    return index + length if index < 0 else index


def _equal(left: Any, right: Any) -> bool:
    """Return True if both are equal as JSON: 1 is not true and not 1.0."""
    return orjson.dumps(left, option=orjson.OPT_SORT_KEYS) == orjson.dumps(right, option=orjson.OPT_SORT_KEYS)
