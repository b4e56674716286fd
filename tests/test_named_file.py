"""Files that users name: regular ones are read, nothing else is waited for, a byte order mark is no part of them."""

import contextlib
import os
import socket
from pathlib import Path

import pytest

from batkube import named_file
from batkube.named_file import create_named, open_named, open_named_text, read_named, read_named_text, write_named
from batkube.results.result import load
from batkube.startup.model import read_startup


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    """A named pipe at whose other end is nobody."""
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.mark.parametrize("reading", [open_named, open_named_text, read_named, read_named_text])
def test_what_is_no_regular_file_is_refused_at_once(reading: object, pipe: Path, tmp_path: Path) -> None:
    assert callable(reading)
    with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(tmp_path):  # a path of it must be short
        made.bind("socket")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loop").symlink_to("loop")
    for name, why in {
        "pipe": "is a pipe, and may be read more than once",
        "folder": "Is a directory",
        "/dev/null": "is a device",
        "/dev/zero": "is a device",
        "socket": "No such device or address",
        "loop": "Too many levels of symbolic links",
        "nosuch": "No such file or directory",
        "x" * 300: "File name too long",
    }.items():
        with pytest.raises(OSError, match=why) as raised:
            reading(tmp_path / name)
        assert str(raised.value.filename) == str(tmp_path / name)


def test_a_pipe_with_one_who_writes_is_refused_too(pipe: Path) -> None:
    end = os.open(pipe, os.O_RDWR)
    try:
        with pytest.raises(OSError, match="write what comes out of it into a file"):
            open_named(pipe)
    finally:
        os.close(end)


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "large"
    path.write_bytes(b"a" * 11)
    monkeypatch.setattr(named_file, "MAX_BYTES", 10)
    with pytest.raises(OSError, match="is larger than 10 bytes") as raised:
        read_named(path)
    assert raised.value.filename == str(path)
    path.write_bytes(b"a" * 10)
    assert read_named(path) == b"a" * 10


def test_a_table_without_lines_is_refused_before_it_fills_the_memory(tmp_path: Path) -> None:
    path = tmp_path / "jobs.csv"
    with path.open("wb") as file:
        file.truncate(1 << 40)  # it takes no room
    with pytest.raises(OSError, match="has no line: 1048576 bytes without an end of one"):
        open_named_text(path)


def test_a_byte_order_mark_is_no_part_of_a_file(tmp_path: Path) -> None:
    table, model = tmp_path / "jobs.csv", tmp_path / "startup.yaml"
    table.write_text("\ufeffjob_id,workload_name,submission_time,final_state,starting_time,finish_time\na,w,0,x,1,2\n")
    assert [job.id for job in load(table).job_rows] == ["w!a"]
    model.write_text("\ufeffstarted: 4\n")
    assert read_startup(model).started is not None
    model.write_bytes("started: 4 # für alle\n".encode("latin-1"))
    with pytest.raises(ValueError, match=r"startup.yaml: is not UTF-8: byte 14 is 0xfc"):
        read_startup(model)


def test_a_pipe_is_written_if_somebody_reads(pipe: Path) -> None:
    with pytest.raises(OSError, match="is a pipe that nobody reads") as raised:
        write_named(pipe, "lost")
    assert raised.value.filename == str(pipe)
    end = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        write_named(pipe, "told")
        assert os.read(end, 10) == b"told"
        with create_named(pipe) as file:
            assert os.get_blocking(file.fileno())
    finally:
        os.close(end)


def test_a_full_disk_is_told_with_the_name() -> None:
    with pytest.raises(OSError, match="No space left on device") as raised:
        write_named(Path("/dev/full"), "much")
    assert raised.value.filename == "/dev/full"
