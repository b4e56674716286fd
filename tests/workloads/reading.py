"""Reading texts as if they were files, for the tests of readers."""

from pathlib import Path
from typing import Any

from batkube.batsim.workload import WorkloadError, parse_workload
from batkube.workloads.conversion import content_of
from batkube.workloads.formats import reader_for
from batkube.workloads.packing import Packing
from batkube.workloads.reader import Record
from batkube.workloads.source import Source

JSON = dict[str, Any]


def records_of(path: Path, name: str | None = None) -> list[Record]:
    """All records of a file, by the reader that claims it or has the name."""
    source = Source(path)
    return list(reader_for(source, name).records(source))


def refusal(path: Path, name: str | None = None) -> str | None:
    """Return why a file is refused as a workload; None where it is read."""
    try:
        workload_of(path, name)
    except WorkloadError as error:
        return str(error)
    return None


def workload_of(path: Path, name: str | None = None, packing: str = "pods", cores: int | None = None) -> JSON:
    """The content of Batsim's workload, which Batsim takes."""
    source = Source(path)
    content = content_of(source, reader_for(source, name).records(source), Packing.parse(packing, cores))
    parse_workload(content)
    return content
