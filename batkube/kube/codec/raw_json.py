"""The parts of objects that the real server keeps as bytes (`runtime.RawExtension`). There one more space
is a change.
"""

from __future__ import annotations

from typing import Any

import orjson

RAW = {"ControllerRevision": "data"}
"""The member with raw JSON, by kind, of those kinds in which a stored member is compared with a new one."""


class AsSent(dict[str, Any]):
    """A part of a body, if it was not sent as the server itself would write it: with spaces."""


def mark(obj: dict[str, Any], kind: str, data: bytes) -> None:
    """Record in an object how its raw part was sent; `data` is the JSON that the object was read from."""
    part = obj.get(RAW.get(kind, ""))
    if isinstance(part, dict) and orjson.dumps(orjson.loads(data)) != data.strip():
        obj[RAW[kind]] = AsSent(part)


def in_order(value: Any) -> Any:
    """Return the value as a strategic merge writes it: with its keys sorted."""
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value)}
    return [in_order(item) for item in value] if isinstance(value, list) else value
