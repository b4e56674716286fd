"""A file that a reader reads: its lines with their numbers, packed or not, and what was left out of it."""

import gzip
import zlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from batkube.batsim.workload import WorkloadError
from batkube.named_file import MAX_BYTES, open_named

HEAD = 1 << 16
"""The bytes of a file by which its format is known."""
LONGEST_LINE = 1 << 20
_GZIP = b"\x1f\x8b"
_MARK = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Head:
    """The beginning of a file, unpacked."""

    content: bytes
    complete: bool
    """True if that is all of it."""

    @property
    def text(self) -> str:
        """The text; what is not UTF-8 is replaced."""
        return self.content.removeprefix(_MARK).decode("utf-8", errors="replace")

    @property
    def lines(self) -> list[str]:
        """The lines that are not empty; one that goes on beyond the head is left out."""
        lines = self.text.splitlines()
        if not self.complete and len(lines) > 1:
            lines.pop()
        return [line for line in map(str.strip, lines) if line]

    @property
    def columns(self) -> list[str]:
        """The words of the first line, if that is the header of a table; else nothing that has a meaning."""
        lines = self.lines
        return [word.strip().strip('"') for word in lines[0].split(",")] if lines else []


class Source:
    """A file of a workload. Its methods raise WorkloadErrors, in a line with its name."""

    def __init__(self, path: Path) -> None:
        self.path = Path(path)
        self.skipped: Counter[str] = Counter()
        """The number of records that were left out, by reason."""
        self.taken = 0
        """The number of records that became jobs."""

    def error(self, line: int | None, text: str) -> WorkloadError:
        """Return the error that something is wrong in a line (in the file as a whole: None)."""
        where = f"{self.path}: line {line}" if line is not None else str(self.path)
        return WorkloadError(f"{where}: {text}")

    def skip(self, reason: str) -> None:
        """Leave a record out."""
        self.skipped[reason] += 1

    @property
    def left_out(self) -> str | None:
        """The records that were left out and why, in a line; None if there are none."""
        if not (total := self.skipped.total()):
            return None
        return f"{self.path}: {total} of {total + self.taken} records are left out: {self.reasons}"

    @property
    def reasons(self) -> str:
        """The reasons why records were left out, each with its number."""
        return ", ".join(f"{count} {reason}" for reason, count in self.skipped.most_common())

    def head(self) -> Head:
        """Return the beginning of the file."""
        with self._opened() as file:
            content = self._read(file, HEAD)
            return Head(content, complete=len(content) < HEAD)

    def lines(self, *, strict: bool = True) -> Iterator[tuple[int, str]]:
        """Yield the lines with their numbers from 1, their ends included.

        ``strict``: what is not UTF-8 is an error, and not replaced.
        """
        with self._opened() as file:
            number = 0
            while True:
                number += 1
                try:
                    line = file.readline(LONGEST_LINE)
                except (OSError, EOFError, zlib.error) as error:
                    raise self._unreadable(error, number) from None
                if not line:
                    return
                if len(line) == LONGEST_LINE:
                    raise self.error(number, f"is longer than {LONGEST_LINE} bytes")
                if number == 1:
                    line = line.removeprefix(_MARK)
                try:
                    yield number, line.decode("utf-8", errors="strict" if strict else "replace")
                except UnicodeDecodeError as error:
                    raise self.error(number, f"is not UTF-8: byte {error.start} is {line[error.start]:#04x}") from None

    def content(self) -> bytes:
        """Return all bytes, unpacked: for formats that cannot be read line by line."""
        with self._opened() as file:
            content = self._read(file, MAX_BYTES + 1)
        if len(content) > MAX_BYTES:
            raise self.error(None, f"is larger than {MAX_BYTES} bytes")
        return content.removeprefix(_MARK)

    def text(self) -> str:
        """Return the whole text."""
        content = self.content()
        try:
            return content.decode()
        except UnicodeDecodeError as error:
            raise self.error(None, f"is not UTF-8: byte {error.start} is {content[error.start]:#04x}") from None

    def _opened(self) -> IO[bytes]:
        try:
            file = open_named(self.path)
            if file.peek(len(_GZIP))[: len(_GZIP)] == _GZIP:
                return cast(IO[bytes], gzip.GzipFile(fileobj=file))
            return file
        except OSError as error:
            raise self._unreadable(error) from None

    def _read(self, file: IO[bytes], most: int) -> bytes:
        parts, size = [], 0
        try:
            while size < most and (part := file.read(min(most - size, 1 << 20))):
                parts.append(part)
                size += len(part)
        except (OSError, EOFError, zlib.error) as error:
            raise self._unreadable(error) from None
        return b"".join(parts)

    def _unreadable(self, error: Exception, line: int | None = None) -> WorkloadError:
        if isinstance(error, OSError) and error.strerror:
            return self.error(None, error.strerror)
        return self.error(line, f"cannot be unpacked: {error}")
