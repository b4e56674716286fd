"""``events.jsonl``: everything that happened, in order. Its hash is the fingerprint of the run."""

import hashlib
import logging
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import orjson

CHUNK = 8192
"""The number of bytes that are written at once."""

log = logging.getLogger(__name__)


class EventLog:
    """Appends one JSON object on each line: ``time`` (simulated seconds), ``event``, and the event's details.

    Only simulated things are written, so that the same run gives the same bytes.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.count = 0
        self._hash = hashlib.sha256()
        self._file = path.open("wb")
        self._lines: list[bytes] = []
        """The lines that are not in the file yet, and their bytes:"""
        self._size = 0

    def write(self, time: float, event: str, **details: Any) -> None:
        """Record that ``event`` happened at ``time``."""
        if log.isEnabledFor(logging.INFO):
            log.info("%.3f %s %s", time, event, " ".join(f"{key}={value}" for key, value in details.items()))
        found = {"time": round(float(time), 6), "event": event, **details}
        line = orjson.dumps(found, option=orjson.OPT_APPEND_NEWLINE)
        self.count += 1
        self._lines.append(line)
        self._size += len(line)
        if self._size >= CHUNK:
            self._write_out()

    def _write_out(self) -> None:
        text = b"".join(self._lines)
        self._lines.clear()
        self._size = 0
        if not text:
            return
        self._hash.update(text)
        try:
            self._file.write(text)
        except OSError as error:
            error.filename = str(self.path)
            raise

    @property
    def sha256(self) -> str:
        """The hash of all that was written so far."""
        self._write_out()
        return self._hash.hexdigest()

    def close(self) -> None:
        """Write out what is buffered. Closing twice does nothing."""
        try:
            self._write_out()
            self._file.close()
        except OSError as error:
            error.filename = str(self.path)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
