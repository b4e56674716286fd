"""A recorded Batsim, played again: it sends the recorded messages as long as the answers are the recorded ones."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import orjson

from batkube.batsim.allocation import parse_intervals
from batkube.batsim.batprotocol.codec import BatprotocolCodec, read_frame
from batkube.batsim.batprotocol.handshake import is_init
from batkube.batsim.codec import Codec, JsonCodec
from batkube.batsim.errors import ProtocolError, SimulatorError
from batkube.batsim.messages import Message
from batkube.batsim.recording import Exchange

JSON = dict[str, Any]

SHOWN = 300
"""The most characters of a decision that are shown."""


class AnsweredDifferently(SimulatorError):
    """An answer of ours differs from the recorded one. The text says where, and has both."""


class RecordingEnds(SimulatorError):
    """The recording is over before the simulation; up to there all was the same."""


class RecordedBatsim:
    """A Simulator. ``tolerance``: simulated seconds by which dates may differ."""

    def __init__(self, exchanges: Sequence[Exchange], *, tolerance: float) -> None:
        self.compared = 0
        """The number of answers that were as recorded."""
        self.difference: str | None = None
        """The place of an answer that was not as recorded, as a text."""
        self.ends_early: str | None = None
        """The place where the recording ends before the simulation, as a text."""
        self._exchanges: Iterator[Exchange] = iter(exchanges)
        self._tolerance = tolerance
        self._codec: Codec | None = None
        self._current: Exchange | None = None
        self._message: Message | None = None

    async def receive(self) -> Message:
        """Return the next recorded message. Raises RecordingEnds, and ProtocolError for one that cannot be read."""
        self._current = self._next()
        if self._codec is None:
            self._codec = JsonCodec()
            if is_init(self._current.sent):
                self._codec = BatprotocolCodec(self._current.sent)
                self._current = self._next()
        self._message = self._codec.decode(self._current.sent)
        return self._message

    async def send(self, reply: Message) -> None:
        """Compare the answer. Raises AnsweredDifferently, or RecordingEnds if no answer was recorded."""
        assert self._codec is not None
        assert self._current is not None
        assert self._message is not None
        if self._current.reply is None:
            self.ends_early = f"the recording ends with line {self._current.line}, a message without an answer"
            raise RecordingEnds(self.ends_early)
        ours = read_document(self._codec.encode(reply))
        recorded = read_document(self._current.reply)
        if why := first_difference(recorded, ours, self._tolerance):
            told = ", ".join(_told(event.type, event.data) for event in self._message.events)
            self.difference = f"line {self._current.line}: at {self._message.now:.6f} Batsim said {told}\n{why}"
            raise AnsweredDifferently(self.difference)
        self.compared += 1

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    def _next(self) -> Exchange:
        exchange = next(self._exchanges, None)
        if exchange is None:
            self.ends_early = "the recording ends before the simulation"
            raise RecordingEnds(self.ends_early)
        return exchange


def read_document(content: bytes) -> JSON | None:
    """Return a message as JSON, whatever its protocol; None if it is no message."""
    with suppress(orjson.JSONDecodeError):
        document = orjson.loads(content.rstrip(b"\0"))
        return document if isinstance(document, dict) else None
    with suppress(ProtocolError):
        return read_frame(content)
    return None


def first_difference(recorded: JSON | None, ours: JSON | None, tolerance: float) -> str | None:
    """Say where two answers differ, in two lines for a person; None if their decisions are the same, in one order."""
    if recorded is None or ours is None:
        return None if recorded == ours else "  recorded: what is no message\n  now:      a message"
    theirs, own = recorded.get("events"), ours.get("events")
    if not isinstance(theirs, list) or not isinstance(own, list):
        return None if theirs == own else f"  recorded: {_shown(recorded)}\n  now:      {_shown(ours)}"
    for index in range(max(len(theirs), len(own))):
        one, other = (events[index] if index < len(events) else None for events in (theirs, own))
        if not _same(one, other, tolerance):
            where = f"decision {index + 1}"
            return f"  {where} recorded: {_shown(one)}\n  {where} now:      {_shown(other)}"
    if not _same(recorded.get("now"), ours.get("now"), tolerance):
        return f"  recorded: now {recorded.get('now')}\n  now:      now {ours.get('now')}"
    return None


def _same(one: Any, other: Any, tolerance: float, name: str = "") -> bool:
    if isinstance(one, bool) or isinstance(other, bool):
        return one is other
    if isinstance(one, int | float) and isinstance(other, int | float):
        return abs(one - other) <= tolerance
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_same(one[key], other[key], tolerance, key) for key in one)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(_same(*pair, tolerance) for pair in zip(one, other, strict=True))
    if name in ("alloc", "host_allocation", "resources") and isinstance(one, str) and isinstance(other, str):
        try:
            return parse_intervals(one) == parse_intervals(other)
        except ValueError:
            return one == other
    return bool(one == other)


def _shown(event: Any) -> str:
    if event is None:
        return "nothing"
    if not isinstance(event, dict) or "timestamp" not in event:
        return _cut(str(event))
    kind = event.get("type") or event.get("event_type")
    data = event.get("data", event.get("event"))
    return _cut(f"{event['timestamp']} {kind} {data}")


def _told(kind: str, data: Any) -> str:
    job = getattr(data, "job_id", None)
    return f"{kind} of {job}" if job else kind


def _cut(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}..."
