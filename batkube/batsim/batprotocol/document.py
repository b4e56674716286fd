"""Documents: messages of batprotocol as plain dictionaries, checked against the schema.

The form is that of batprotocol's JSON: tables are objects, enumerations are names, and a union ``x`` has the name of
its table beside it, ``x_type``.
"""

import math
from typing import Any

from batkube.batsim.batprotocol.schema import ENUMS, SCALARS, TABLES, UNIONS, Field
from batkube.batsim.errors import ProtocolError

Document = dict[str, Any]

ROOT = "Message"
MAX_DEPTH = 64
"""The deepest nesting of tables. Deeper messages are refused."""
_LIMITS = {"uint32": 2**32 - 1, "uint64": 2**64 - 1}
_QUOTED = 60
_UNKNOWN_MEMBERS_OF_EVENTS = "Event"
"""The union of which Batsim may send members that are not in the schema: events of a later version."""


def complete(raw: object, *, strict: bool) -> Document:
    """Return a message with all defaults of the schema filled in; absent members without a default stay absent.

    ``strict``: read as Batsim does, which refuses what is not in the schema. Else members and events of a later version
    are let pass: the members are dropped, the events kept without content. Raises ProtocolError, naming the member.
    """
    return _table(raw, ROOT, "", strict, MAX_DEPTH)


def _table(raw: object, name: str, where: str, strict: bool, depth: int) -> Document:
    if not isinstance(raw, dict):
        raise _error(where, f"expected an object ({name})", raw)
    if depth == 0:
        raise _error(where, f"has more than {MAX_DEPTH} objects in one another", "...")
    content: Document = {}
    known: set[str] = set()
    for field in TABLES[name]:
        path = f"{where}.{field.name}" if where else field.name
        known.add(field.name)
        if field.type in UNIONS:
            known.add(f"{field.name}_type")
            _union(raw, field, path, content, strict, depth)
            continue
        value = raw.get(field.name)
        if value is None:
            if field.required:
                raise _error(path, "is missing", raw)
            if _has_default(field):
                content[field.name] = field.default
        elif field.many:
            if not isinstance(value, list):
                raise _error(path, "expected a list", value)
            content[field.name] = [
                _single(item, field.type, f"{path}[{index}]", strict, depth) for index, item in enumerate(value)
            ]
        else:
            content[field.name] = _single(value, field.type, path, strict, depth)
    if strict and (unknown := raw.keys() - known):
        raise _error(where, f"{name} has no member {min(unknown)!r}", raw)
    return content


def _union(raw: Document, field: Field, path: str, content: Document, strict: bool, depth: int) -> None:
    kind, value = raw.get(f"{field.name}_type"), raw.get(field.name)
    if kind in (None, "NONE"):
        if field.required or value is not None:
            raise _error(f"{path}_type", "is missing", raw)
        return
    if kind not in UNIONS[field.type]:
        if strict or field.type != _UNKNOWN_MEMBERS_OF_EVENTS or not isinstance(kind, str):
            raise _error(f"{path}_type", f"expected one of {', '.join(UNIONS[field.type])}", kind)
        content[f"{field.name}_type"] = kind
        return
    content[f"{field.name}_type"] = kind
    content[field.name] = _table(value, kind, path, strict, depth - 1)


def _single(value: object, kind: str, path: str, strict: bool, depth: int) -> Any:
    if kind in TABLES:
        return _table(value, kind, path, strict, depth - 1)
    if kind in ENUMS:
        if value not in ENUMS[kind]:
            raise _error(path, f"expected one of {', '.join(ENUMS[kind])}", value)
        return value
    match kind:
        case "string":
            if isinstance(value, str):
                return value
            raise _error(path, "expected a text", value)
        case "bool":
            if isinstance(value, bool):
                return value
            raise _error(path, "expected true or false", value)
        case "double":
            if isinstance(value, int | float) and not isinstance(value, bool) and _finite(value):
                return float(value)
            raise _error(path, "expected a number", value)
        case _:
            if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _LIMITS[kind]:
                return value
            raise _error(path, f"expected a whole number from 0 to {_LIMITS[kind]}", value)


def _has_default(field: Field) -> bool:
    return not field.many and (field.type in SCALARS or field.type in ENUMS)


def _finite(value: float) -> bool:
    try:
        return math.isfinite(value)
    except OverflowError:
        return False


def _error(where: str, reason: str, value: object) -> ProtocolError:
    quoted = repr(value)
    if len(quoted) > _QUOTED:
        quoted = f"{quoted[: _QUOTED - 3]}..."
    return ProtocolError(f"bad message: {where or 'the whole'}: {reason}: {quoted}")
