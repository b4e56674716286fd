"""Readers on texts at random: a workload, or an error of one line with the file's name; never another exception."""

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import tests.batsim.hypothesis_profile  # noqa: F401
from batkube.workloads.formats import BUILT_IN
from tests.workloads.documented import EXAMPLES
from tests.workloads.reading import refusal

WORDS = st.sampled_from(
    ["-1", "0", "5", "1e400", "nan", "", " ", ",", ";", "\n", '"', "{", "}", "[", "]", ":", "- ", "\x00", "é", "null"]
)
TEXTS = st.one_of(st.text(max_size=60), st.lists(WORDS, max_size=30).map("".join))

PACKED = st.binary(max_size=60).map(lambda rest: b"\x1f\x8b\x08" + rest)
"""Draw bytes that begin as those of a packed file."""


@st.composite
def spoilt(draw: Callable[[st.SearchStrategy[object]], object]) -> str:
    """An example of the document with a piece of it replaced."""
    text = draw(st.sampled_from([example.text for example in EXAMPLES]))
    assert isinstance(text, str)
    begin = draw(st.integers(0, len(text)))
    end = draw(st.integers(0, 12))
    piece = draw(TEXTS)
    assert isinstance(begin, int)
    assert isinstance(end, int)
    return f"{text[:begin]}{piece}{text[begin + end :]}"


def check(path: Path, name: str | None) -> None:
    """Read a file; an error must be of one line, and name the file."""
    why = refusal(path, name)
    if why is not None:
        assert "\n" not in why
        assert why.startswith((f"{path}: ", "workload: "))


@pytest.mark.parametrize("name", [None, *BUILT_IN])
@given(text=st.one_of(TEXTS, spoilt()))
def test_whatever_is_in_a_file(name: str | None, text: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.getbasetemp() / f"any-text-{name}"
    path.write_text(text, newline="")
    check(path, name)


@pytest.mark.parametrize("name", [None, *BUILT_IN])
@given(content=st.one_of(st.binary(max_size=80), PACKED))
def test_whatever_bytes_are_in_a_file(
    name: str | None, content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.getbasetemp() / f"any-bytes-{name}"
    path.write_bytes(content)
    check(path, name)
