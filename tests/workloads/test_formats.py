"""Formats are known by content, and never guessed."""

import gzip
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from batkube.batsim.workload import WorkloadError
from batkube.workloads import formats
from batkube.workloads.csv_table import CsvReader
from batkube.workloads.formats import BUILT_IN, GROUP, MANIFESTS, reader_for, readers
from batkube.workloads.source import Head, Source
from tests.workloads.documented import EXAMPLES, Example
from tests.workloads.reading import refusal, workload_of

ROOT = Path(__file__).parents[2]


class CopyReader(CsvReader):
    """Claims what the table of ours is, too."""

    name = "copy"


class OddReader(CsvReader):
    """Reads a format of another package."""

    name = "odd"

    def claims(self, head: Head) -> bool:
        """Tell whether it begins with a word of its own."""
        return head.text.startswith("odd")


def added(monkeypatch: pytest.MonkeyPatch, **points: str) -> None:
    """Have packages installed that add readers."""
    found = [EntryPoint(name, f"tests.workloads.test_formats:{value}", GROUP) for name, value in points.items()]
    monkeypatch.setattr(formats, "entry_points", lambda group: found)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_the_examples_of_the_document_are_known_and_read(example: Example, tmp_path: Path) -> None:
    path = tmp_path / "workload"
    path.write_text(example.text)
    assert reader_for(Source(path)).name == example.format
    if example.format == MANIFESTS:
        assert "no jobs" in str(refusal(path))
    else:
        assert workload_of(path)["jobs"]


def test_the_document_has_all_formats() -> None:
    text = (ROOT / "docs" / "workloads.md").read_text()
    assert [name for name in BUILT_IN if f"| `{name}` |" not in text] == []
    assert [name for name, reader in readers().items() if reader.name != name] == []


@pytest.mark.parametrize("content", ["", "  \n", "hello\n", "[]", "<xml/>", "a,b\n1,2\n"])
def test_a_file_of_no_format_is_an_error_that_names_the_option(content: str, tmp_path: Path) -> None:
    path = tmp_path / "what"
    path.write_text(content)
    with pytest.raises(WorkloadError, match=r"what: is .*--format NAME"):
        reader_for(Source(path))


def test_a_file_of_two_formats_is_not_guessed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(BUILT_IN, "copy", "tests.workloads.test_formats:CopyReader")
    path = tmp_path / "jobs"
    path.write_text("submit,duration\n0,1\n")
    with pytest.raises(WorkloadError, match="may be csv or copy: say which it is"):
        reader_for(Source(path))
    assert reader_for(Source(path), "copy").name == "copy"


def test_a_name_that_nobody_has_is_told_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match=r"--format nosuch: expected one of batsim, swf, csv"):
        reader_for(Source(tmp_path / "any"), "nosuch")


def test_packages_add_formats(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    added(monkeypatch, odd="OddReader")
    path = tmp_path / "jobs"
    path.write_text("odd\n")
    assert reader_for(Source(path)).name == reader_for(Source(path), "odd").name == "odd"


@pytest.mark.parametrize(
    ("name", "value", "error"),
    [
        ("swf", "OddReader", "there are two readers of a format 'swf'"),
        ("odd", "NoSuchReader", r"the reader of odd \(tests.workloads.test_formats:NoSuchReader\) cannot be loaded"),
        ("odd", "Path", r"the reader of odd \(.*\) is no batkube.workloads.reader.Reader"),
    ],
)
def test_a_package_that_does_not_fit_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, value: str, error: str
) -> None:
    added(monkeypatch, **{name: value})
    path = tmp_path / "jobs"
    path.write_text("odd\n")
    with pytest.raises(WorkloadError, match=error):
        reader_for(Source(path))


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    for path, why in (
        (tmp_path / "nowhere", "No such file"),
        (tmp_path, "Is a directory"),
        (Path("/dev/null"), "device"),
    ):
        with pytest.raises(WorkloadError, match=why):
            reader_for(Source(path))
    broken = tmp_path / "broken.gz"
    broken.write_bytes(gzip.compress(b"x" * 1000)[:20] + b"\xff" * 20)
    with pytest.raises(WorkloadError, match=r"broken\.gz: cannot be unpacked"):
        reader_for(Source(broken))
