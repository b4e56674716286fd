"""Parts of objects that the real server keeps as bytes (`runtime.RawExtension`), where a space more is a change."""

from __future__ import annotations

from typing import Any

import orjson

RAW = {"ControllerRevision": "data"}
"""Which member of which kind: where it is compared, once it is stored."""


class AsSent(dict[str, Any]):
    """Such a part, sent otherwise than the server itself would write it: with spaces."""


def mark(obj: dict[str, Any], kind: str, data: bytes) -> None:
    """Remember of an object how its raw part came; `data` is the JSON that it was read from."""
    part = obj.get(RAW.get(kind, ""))
    if isinstance(part, dict) and orjson.dumps(orjson.loads(data)) != data.strip():
        obj[RAW[kind]] = AsSent(part)


def in_order(value: Any) -> Any:
    """The value as a strategic merge writes it: with its keys in order."""
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value)}
    return [in_order(item) for item in value] if isinstance(value, list) else value
