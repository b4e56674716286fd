"""The workloads that a run is given, of whatever format, as Batsim's."""

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from batkube.batsim.platform import Host
from batkube.batsim.workload import Workload, parse_workload, read_workload
from batkube.bridge.errors import InputError
from batkube.kube.apimachinery.quantity import Quantity
from batkube.results.run import ImportedFile, input_file
from batkube.settings import RunSettings
from batkube.workloads.conversion import content_of
from batkube.workloads.formats import BATSIM
from batkube.workloads.packing import PODS, Packing
from batkube.workloads.reader import Reader
from batkube.workloads.source import Source


@dataclass(frozen=True)
class Imported:
    """A workload that was converted."""

    file: ImportedFile
    """The original."""
    warnings: list[str]


def read_given(
    path: Path, reader: Reader, name: str, settings: RunSettings, hosts: Iterable[Host]
) -> tuple[Workload, Imported | None]:
    """Return the workload in a file, to be called ``name``, and what it was converted from; None for Batsim's own.

    Raises WorkloadError, InputError and OSError.
    """
    source = Source(path)
    if reader.name == BATSIM and settings.reading.packing == PODS:
        return read_workload(path, name), None
    try:
        packing = Packing.parse(settings.reading.packing, _cores(hosts))
    except ValueError as error:
        raise InputError(str(error)) from None
    content = content_of(source, reader.records(source), packing)
    workload = parse_workload(content, name, source=str(path), path=path.absolute())
    file = input_file(path)
    imported = ImportedFile(
        path=file.path, sha256=file.sha256, format=reader.name, jobs=source.taken, skipped=dict(source.skipped)
    )
    return workload, Imported(imported, [line] if (line := source.left_out) else [])


def _cores(hosts: Iterable[Host]) -> int | None:
    """Return the cores that each host has at least."""
    found = [Quantity.parse(host.properties.get("core", str(host.cores))) for host in hosts]
    return max(int(min(found).value), 1) if found else None
