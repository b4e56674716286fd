"""Trace files: where they are, and what of them counts."""

from pathlib import Path

import pytest

from batkube.batsim.profiles import TraceProfile, parse_profile
from batkube.batsim.traces import read_trace


def profile(trace: str = "t/traces.txt") -> TraceProfile:
    parsed = parse_profile("p", {"type": "smpi", "trace": trace})
    assert isinstance(parsed, TraceProfile)
    return parsed


def folder(path: Path, **files: str) -> Path:
    (path / "t").mkdir()
    for name, text in files.items():
        (path / "t" / f"{name}.txt").write_text(text)
    return path


def test_ranks_are_found_from_the_folder_of_the_list(tmp_path: Path) -> None:
    files = {"traces": "a.txt  \nb.txt", "a": "0 init\n0 compute 1e9\n", "b": "1 init\n"}
    trace = read_trace(profile(), folder(tmp_path, **files))
    assert [list(map(list, actions)) for actions in trace.ranks] == [[["init"], ["compute", "1e9"]], [["init"]]]


def test_comments_lines_of_other_ranks_and_a_last_line_without_end_do_not_count(tmp_path: Path) -> None:
    files = {"traces": "a.txt\n", "a": "# 0 no\n\n1 init\n0\tinit\n0 finalize"}
    assert [list(action) for action in read_trace(profile(), folder(tmp_path, **files)).ranks[0]] == [["init"]]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "cannot read"),
        ({"traces": ""}, "names no file"),
        ({"traces": "a.txt\n\n", "a": ""}, "line 2: is empty, expected the file of rank 1"),
        ({"traces": "gone.txt\n"}, "rank 0: cannot read"),
        ({"traces": "a.txt\n", "a": "0\n"}, "line 1: expected an action"),
    ],
)
def test_what_cannot_be_read_is_named(files: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=message):
        read_trace(profile(), folder(tmp_path, **files))
