"""Messages as bytes. Protocol 3 and 4: one UTF-8 JSON text each. Protocol 5 is in batkube.batsim.batprotocol."""

from typing import Any, Protocol

import orjson
from pydantic import TypeAdapter, ValidationError
from pydantic_core import from_json

from batkube.batsim.errors import ProtocolError
from batkube.batsim.messages import Event, JobCompleted, JobSubmitted, Message

_MESSAGE = TypeAdapter(Message)
_AS_THEY_ARE = frozenset({str, int, bool, type(None)})
_QUOTED = 80
"""The most characters of an offending value that an error quotes."""


class Codec(Protocol):
    """Turns the bytes of one simulation into messages, and replies into bytes."""

    @property
    def protocol(self) -> str:
        """The version and form: ``v4``, ``v5-json``, ``v5-binary``."""
        ...

    def decode(self, content: bytes) -> Message:
        """Return Batsim's message. Raises ProtocolError."""
        ...

    def encode(self, message: Message) -> bytes:
        """Return the answer to Batsim as bytes. Raises ProtocolError if this version does not know a decision."""
        ...


class JsonCodec:
    """The Codec of protocol 3 and 4. It keeps nothing between messages."""

    protocol = "v4"

    def decode(self, content: bytes) -> Message:
        return decode(content)

    def encode(self, message: Message) -> bytes:
        return encode(message)


def decode(text: bytes) -> Message:
    """Return the message in ``text``. Raises ProtocolError, naming event, member and value."""
    try:
        return _MESSAGE.validate_json(text)
    except ValidationError as error:
        raise ProtocolError(_explain(error, text)) from None


def encode(message: Message) -> bytes:
    """Return ``message`` for Batsim, with numbers in their shortest exact form: Batsim compares dates with its own."""
    return _MESSAGE.dump_json(message, by_alias=True, exclude_none=True)


def encode_as_batsim(message: Message) -> bytes:
    """Return ``message`` in Batsim's own spelling: every float with six decimals, also inside jobs and profiles."""
    events = b",".join([_event_as_batsim(event) for event in message.events])
    return b'{"now":%.6f,"events":[%b]}' % (message.now, events)


def _event_as_batsim(event: Event) -> bytes:
    # The two most frequent events are written directly.
    if type(event) is JobCompleted and not event.data.model_extra:
        completed = event.data
        return (
            b'{"timestamp":%.6f,"type":"JOB_COMPLETED","data":{"job_id":%b,"job_state":"%b","return_code":%d,"alloc":%b}}'
            % (
                event.timestamp,
                orjson.dumps(completed.job_id),
                completed.job_state.encode(),
                completed.return_code,
                orjson.dumps(completed.alloc),
            )
        )
    if type(event) is JobSubmitted and event.data.profile is None and not event.data.model_extra:
        job = orjson.dumps(_spelled(event.data.job))
        job_id = orjson.dumps(event.data.job_id)
        return b'{"timestamp":%.6f,"type":"JOB_SUBMITTED","data":{"job_id":%b,"job":%b}}' % (
            event.timestamp,
            job_id,
            job,
        )
    return orjson.dumps(_spelled(event.model_dump(by_alias=True, exclude_none=True)))


def _spelled(value: Any) -> Any:
    kind = type(value)
    if kind is float:
        return orjson.Fragment(b"%.6f" % value)
    if kind is dict:
        return {key: member if type(member) in _AS_THEY_ARE else _spelled(member) for key, member in value.items()}
    if kind is list:
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
    # After the index come pydantic's names for the union and its member, then the members of the JSON text.
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
