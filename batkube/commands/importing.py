"""``batkube import``: a workload in another format, or a cluster as a platform of SimGrid's."""

from collections.abc import Iterable, Iterator

from batkube.batsim.platform import PlatformError
from batkube.batsim.workload import WorkloadError
from batkube.commands.errors import tell
from batkube.named_file import write_named
from batkube.platforms.given import read_given_platform
from batkube.settings import BAD_INPUT, FINISHED
from batkube.workloads.formats import reader_for
from batkube.workloads.packing import Packing
from batkube.workloads.reader import Record
from batkube.workloads.settings import ImportSettings
from batkube.workloads.source import Source
from batkube.workloads.writers import WRITERS, format_to_write


def main(settings: ImportSettings) -> int:
    """Convert; the exit code."""
    try:
        if settings.workload is None:
            return _platform(settings)
        return _workload(settings, Source(settings.workload))
    except (WorkloadError, PlatformError, OSError, ValueError) as error:
        tell(error)
        return BAD_INPUT


def _workload(settings: ImportSettings, source: Source) -> int:
    name = format_to_write(settings.out, settings.to)
    reader = reader_for(source, settings.reading.format)
    packing = Packing.parse(settings.reading.packing, None)
    if settings.out.exists() and settings.out.samefile(source.path):
        raise WorkloadError(f"{settings.out}: is the workload itself")
    records = map(packing.packed, _within(settings, source, reader.records(source)))
    try:
        warnings = WRITERS[name](settings.out, source, records)
    except WorkloadError:
        settings.out.unlink(missing_ok=True)  # half a workload is none
        raise
    for line in (source.left_out, *warnings):
        if line:
            tell(line)
    print(f"{settings.out}: {source.taken} jobs ({reader.name} to {name})")
    return FINISHED


def _within(settings: ImportSettings, source: Source, records: Iterable[Record]) -> Iterator[Record]:
    """Yield what is submitted between the two times, counted from the first."""
    for record in records:
        if record.submit < settings.begin or (settings.until is not None and record.submit >= settings.until):
            source.skip("are submitted before --from, or not before --until")
            continue
        record.submit -= settings.begin
        yield record


def _platform(settings: ImportSettings) -> int:
    given = read_given_platform(settings.platform, settings.add_nodes)
    if given.text is None:
        raise PlatformError(f"{settings.platform[0]}: is a platform of SimGrid's already")
    write_named(settings.out, given.text)
    for line in given.warnings:
        tell(line)
    print(f"{settings.out}: {len(given.platform.hosts) - 1} hosts")
    return FINISHED
