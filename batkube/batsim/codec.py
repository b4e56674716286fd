"""Messages as bytes: one UTF-8 JSON text each, as they travel."""

from typing import Any

import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from batkube.batsim.errors import ProtocolError
from batkube.batsim.messages import Message

_MESSAGE = TypeAdapter(Message)
_QUOTED = 80
"""Characters of an offending value that an error quotes."""


def decode(text: bytes) -> Message:
    """The message that ``text`` says. Raises ProtocolError, naming event, member and value."""
    try:
        return _MESSAGE.validate_json(text)
    except ValidationError as error:
        raise ProtocolError(_explain(error, text)) from None


def encode(message: Message) -> bytes:
    """``message`` for Batsim, numbers in their shortest exact form: it compares the dates it is sent with its own."""
    return _MESSAGE.dump_json(message, by_alias=True, exclude_none=True)


def encode_as_batsim(message: Message) -> bytes:
    """``message`` in Batsim's own spelling: every float with six decimals, also inside jobs and profiles."""
    return orjson.dumps(_spelled(_MESSAGE.dump_python(message, by_alias=True, exclude_none=True)))


def _spelled(value: Any) -> Any:
    if isinstance(value, float):
        return orjson.Fragment(f"{value:.6f}")
    if isinstance(value, dict):
        return {key: _spelled(member) for key, member in value.items()}
    if isinstance(value, list):
        return [_spelled(member) for member in value]
    return value


def _explain(error: ValidationError, text: bytes) -> str:
    first = error.errors(include_url=False)[0]
    path = list(first["loc"])
    reason = first["msg"].removeprefix("Value error, ")
    if first["type"] == "json_invalid":
        return f"not a message: {reason}: {_quoted(text.decode(errors='replace'))}"
    if path[:1] != ["events"] or len(path) < 2:
        where = f"member {path[0]!r}" if path else "the whole"
        return f"not a message: {where}: {reason}: {_quoted(first['input'])}"
    event = _event_type(text, int(path[1]))
    # Behind the index come pydantic's names for the union and its member, then the members of the JSON text.
    members = [part for part in path[2:] if not (isinstance(part, str) and (part == event or "[" in part))]
    where = f"event {path[1]} ({event})" + (f": {'.'.join(map(str, members))}" if members else "")
    return f"bad message: {where}: {reason}: {_quoted(first['input'])}"


def _event_type(text: bytes, index: int) -> str:
    event = from_json(text)["events"][index]
    name = event.get("type", "no type") if isinstance(event, dict) else "no object"
    return str(name)


def _quoted(value: object) -> str:
    quoted = repr(value)
    return quoted if len(quoted) <= _QUOTED else f"{quoted[: _QUOTED - 3]}..."
