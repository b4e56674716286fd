"""Recorded exchanges with a simulator: a message on each line, in order, as a text file or gzipped (``.gz``).

``{"dir": "batsim->edc" | "edc->batsim", "msg": ...}``; "edc", the external decision component, is us. Messages are the
bytes that went over the socket, number spelling included. A message that is no JSON text has its bytes in ``base64``
(and its content in ``msg``, if that is known), or stands in ``raw``.
"""

import base64
import gzip
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import orjson

from batkube.batsim.batprotocol.codec import read_frame
from batkube.batsim.codec import encode, encode_as_batsim
from batkube.batsim.endpoint import Direction
from batkube.batsim.errors import ProtocolError
from batkube.batsim.messages import Message
from batkube.batsim.simulator import Simulator
from batkube.named_file import create_named, open_named

FROM_BATSIM: Direction = "batsim->edc"
TO_BATSIM: Direction = "edc->batsim"


class RecordingError(ValueError):
    """A recording that cannot be used. The text, one line, names file and line."""


class Recorder:
    """Writes an exchange down. ``note`` fits Endpoint's ``on_exchange``.

    Messages noted before ``begin`` are kept: the place of the file may be known only after the first message.
    """

    def __init__(self) -> None:
        self._early: list[bytes] = []
        self._file: IO[bytes] | None = None

    def begin(self, path: Path) -> None:
        """Write into ``path`` from now on. Raises OSError."""
        path.parent.mkdir(parents=True, exist_ok=True)
        # No date and no name are in the file: the same exchange gives the same bytes.
        file = create_named(path)
        opened = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if path.suffix == ".gz" else file
        self._file = cast(IO[bytes], opened)
        for line in self._early:
            self._file.write(line)
        self._early.clear()

    def note(self, direction: Direction, content: bytes) -> None:
        """Write a message down."""
        line = b'{"dir":"%s",%s}\n' % (direction.encode(), _said(content))
        if self._file is None:
            self._early.append(line)
        else:
            self._file.write(line)

    def end(self) -> None:
        """Close the file; later notes belong to another one. It may be called twice."""
        if self._file is not None:
            raw = getattr(self._file, "fileobj", None)
            self._file.close()
            if raw is not None:
                raw.close()
        self._file = None


class RecordedSimulator:
    """A Simulator in process, whose exchange is written down as if it went over a socket."""

    def __init__(self, simulator: Simulator, recorder: Recorder) -> None:
        self.simulator = simulator
        self._recorder = recorder

    async def receive(self) -> Message:
        message = await self.simulator.receive()
        self._recorder.note(FROM_BATSIM, encode_as_batsim(message))
        return message

    async def send(self, reply: Message) -> None:
        self._recorder.note(TO_BATSIM, encode(reply))
        await self.simulator.send(reply)

    async def close(self) -> None:
        await self.simulator.close()


@dataclass(frozen=True)
class Exchange:
    """A message of Batsim's and its answer."""

    line: int
    """The line of the message in the file, from 1."""
    sent: bytes
    reply: bytes | None
    """The answer; None if the recording ends before it."""


def read_recording(path: Path) -> list[Exchange]:
    """Return all exchanges of a file. Raises RecordingError."""
    exchanges: list[Exchange] = []
    try:
        for number, line in _lines(path):
            try:
                direction, content = _heard(line)
            except ValueError as error:
                raise RecordingError(f"{path}: line {number}: {error}") from None
            if direction == FROM_BATSIM:
                exchanges.append(Exchange(number, content, None))
            elif exchanges and exchanges[-1].reply is None:
                exchanges[-1] = Exchange(exchanges[-1].line, exchanges[-1].sent, content)
            else:
                raise RecordingError(f"{path}: line {number}: answers no message of Batsim's")
    except OSError as error:
        raise RecordingError(f"{path}: {error.strerror or error}") from None
    except EOFError as error:
        raise RecordingError(f"{path}: {error}") from None
    if not exchanges:
        raise RecordingError(f"{path}: has no messages")
    return exchanges


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with open_named(path) as raw:
        packed = raw.read(2) == b"\x1f\x8b"
        raw.seek(0)
        with gzip.GzipFile(fileobj=raw) if packed else raw as file:
            for number, line in enumerate(file, start=1):
                if line.strip():
                    yield number, line.strip()


def _said(content: bytes) -> bytes:
    text = content.rstrip(b"\0")
    with suppress(orjson.JSONDecodeError):
        orjson.loads(text)
        # Batsim 5 writes over several lines; a line break is never within a JSON string.
        return b'"msg":' + b" ".join(line.strip() for line in text.splitlines())
    packed = b'"base64":"%s"' % base64.b64encode(content)
    with suppress(ProtocolError):
        return b'"msg":%s,%s' % (orjson.dumps(read_frame(content)), packed)
    with suppress(UnicodeDecodeError):
        return b'"raw":' + orjson.dumps(content.decode())
    return packed


def _heard(line: bytes) -> tuple[Direction, bytes]:
    said: Any = orjson.loads(line)
    if not isinstance(said, dict) or said.get("dir") not in (FROM_BATSIM, TO_BATSIM):
        raise ValueError(f'expected an object whose "dir" is "{FROM_BATSIM}" or "{TO_BATSIM}"')
    direction: Direction = said["dir"]
    if isinstance(said.get("base64"), str):
        return direction, base64.b64decode(said["base64"])
    if isinstance(said.get("raw"), str):
        return direction, said["raw"].encode()
    if "msg" not in said:
        raise ValueError('has neither "msg" nor "base64" nor "raw"')
    own = b'{"dir":"%s","msg":' % direction.encode()
    if line.startswith(own):  # in Batsim's own spelling
        return direction, line[len(own) : -1]
    return direction, orjson.dumps(said["msg"])
