"""The JSON form of batprotocol."""

from typing import Any

import orjson

from batkube.batsim.batprotocol.document import Document, complete
from batkube.batsim.errors import ProtocolError

_QUOTED = 60


def read_text(content: bytes, *, strict: bool = False) -> Document:
    """Return the message in ``content``. Batsim ends its own with a NUL byte. Raises ProtocolError."""
    try:
        raw = orjson.loads(content.removesuffix(b"\0"))
    except orjson.JSONDecodeError as error:
        quoted = content[:_QUOTED].decode(errors="replace")
        raise ProtocolError(f"not a message: invalid JSON: {error}: {quoted!r}") from None
    return complete(raw, strict=strict)


def write_text(document: Document) -> bytes:
    """Return ``document`` as JSON. Raises ProtocolError if the schema does not allow it."""
    complete(document, strict=True)
    return orjson.dumps(document)


def write_text_as_batsim(document: Document) -> bytes:
    """Return ``document`` as Batsim writes it: dates and other numbers with 12 decimals, and a NUL byte at the end."""
    return orjson.dumps(_spelled(complete(document, strict=True))) + b"\0"


def _spelled(value: Any) -> Any:
    if isinstance(value, float):
        return orjson.Fragment(_decimals(value))
    if isinstance(value, dict):
        return {key: _spelled(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_spelled(member) for member in value]
    return value


def _decimals(value: float) -> str:
    text = f"{value:.12f}".rstrip("0")
    return f"{text}0" if text.endswith(".") else text
