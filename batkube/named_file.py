"""Files that users name, so that nothing waits for a pipe, or never ends.

What is read is a regular file: it may be read more than once (its hash goes into ``run.json``, Batsim reads it, too),
and a pipe cannot. What is written may be a pipe, as long as somebody reads.
"""

import errno
import io
import os
import stat
from pathlib import Path

MAX_BYTES = 1 << 30
"""The largest file in bytes that is read as a whole. Larger ones are refused unread."""
_LONGEST_LINE = 1 << 20
"""The bytes of a first line beyond which a file is taken to have none: it would not fit into memory."""
_KINDS = (
    (stat.S_ISFIFO, "is a pipe, and may be read more than once: write what comes out of it into a file"),
    (stat.S_ISSOCK, "is a socket"),
    (stat.S_ISCHR, "is a device"),
    (stat.S_ISBLK, "is a device"),
)


def open_named(path: Path) -> io.BufferedReader:
    """Open a file. Raises OSError, whose ``strerror`` says what is wrong: not there, not readable, no regular file."""
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)  # does not wait for one who writes
    try:
        mode = os.fstat(number).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if kind := next((words for is_one, words in _KINDS if is_one(mode)), None):
            raise OSError(errno.EINVAL, kind, str(path))
        return os.fdopen(number, "rb")
    except BaseException:
        os.close(number)
        raise


def create_named(path: Path) -> io.BufferedWriter:
    """Open a file to be written anew. Raises OSError, also for a pipe that nobody reads."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NONBLOCK
    try:
        number = os.open(path, flags, 0o666)
    except OSError as error:
        if error.errno == errno.ENXIO:
            raise OSError(errno.ENXIO, "is a pipe that nobody reads", str(path)) from None
        raise
    os.set_blocking(number, True)
    return os.fdopen(number, "wb")


def write_named(path: Path, text: str) -> None:
    """Write a text, in UTF-8. Raises OSError, which names the file."""
    try:
        with create_named(path) as file:
            file.write(text.encode())
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(path)) from None


def open_named_text(path: Path) -> io.TextIOWrapper:
    """Open a file as ``open_named`` does, in lines of text for the module csv: UTF-8, with or without a mark."""
    file = open_named(path)
    if len(head := file.read(_LONGEST_LINE)) == _LONGEST_LINE and b"\n" not in head:
        file.close()
        raise OSError(errno.EINVAL, f"has no line: {_LONGEST_LINE} bytes without an end of one", str(path))
    file.seek(0)
    return io.TextIOWrapper(file, encoding="utf-8-sig", newline="")


def read_named(path: Path) -> bytes:
    """Return all bytes of a file. Raises OSError, also where they are too many."""
    with open_named(path) as file:
        try:
            content = file.read(MAX_BYTES + 1)
        except OSError as error:
            raise OSError(error.errno, error.strerror, str(path)) from None
    if len(content) > MAX_BYTES:
        raise OSError(errno.EFBIG, f"is larger than {MAX_BYTES} bytes", str(path))
    return content


def read_named_text(path: Path) -> str:
    """Return the text of a file: UTF-8, with or without a byte order mark. Raises OSError, and ValueError."""
    content = read_named(path)
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"is not UTF-8: byte {error.start} is {content[error.start]:#04x}") from None
