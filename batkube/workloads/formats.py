"""The known formats: batkube's own, and those of packages that are installed."""

from importlib.metadata import EntryPoint, entry_points

from batkube.workloads.reader import FormatError, Reader
from batkube.workloads.source import Source

GROUP = "batkube.workload_readers"
"""The entry points by which packages add formats."""
BATSIM, MANIFESTS = "batsim", "manifests"
BUILT_IN = {
    BATSIM: "batkube.workloads.batsim_json:BatsimReader",
    "swf": "batkube.workloads.swf:SwfReader",
    "csv": "batkube.workloads.csv_table:CsvReader",
    "openb": "batkube.workloads.openb:OpenbReader",
    "knavigator": "batkube.workloads.knavigator:KnavigatorReader",
    "kueue": "batkube.workloads.kueue:KueueReader",
    "simkube": "batkube.workloads.simkube:SimkubeReader",
    MANIFESTS: "batkube.workloads.manifests:ManifestsReader",
    "google": "batkube.workloads.google:GoogleReader",
    "azure": "batkube.workloads.azure:AzureReader",
}
"""Our readers by the names of their formats."""


def readers() -> dict[str, Reader]:
    """Return our readers by name."""
    return {name: _made(EntryPoint(name, value, GROUP)) for name, value in BUILT_IN.items()}


def added_readers() -> dict[str, Reader]:
    """Return those of packages by name. Raises FormatError for one that cannot be loaded, or has a name of ours.

    To look for them takes a tenth of a second.
    """
    found: dict[str, Reader] = {}
    for point in sorted(entry_points(group=GROUP)):
        if point.name in found or point.name in BUILT_IN:
            raise FormatError(f"there are two readers of a format {point.name!r}: one is {point.value}")
        found[point.name] = _made(point)
    return found


def reader_for(source: Source, name: str | None = None) -> Reader:
    """Return the reader for a file: the one with the name, else the only one that claims it. Raises WorkloadError.

    The readers of packages are asked where none of ours claims it.
    """
    known = readers()
    if name in known:
        return known[name]
    if name is not None:
        known |= added_readers()
        if name not in known:
            raise FormatError(f"--format {name}: expected one of {', '.join(known)}")
        return known[name]
    head = source.head()
    claiming = [reader for reader in known.values() if reader.claims(head)]
    if not claiming:
        added = added_readers()
        known |= added
        claiming = [reader for reader in added.values() if reader.claims(head)]
    if len(claiming) == 1:
        return claiming[0]
    if claiming:
        names = " or ".join(reader.name for reader in claiming)
        raise FormatError(f"{source.path}: may be {names}: say which it is (--format)")
    what = "is empty" if not head.content else f"is in none of the formats {', '.join(known)}"
    raise FormatError(f"{source.path}: {what}; --format NAME tells what is wrong for one of them")


def _made(point: EntryPoint) -> Reader:
    try:
        reader = point.load()()
    except Exception as error:
        raise FormatError(f"the reader of {point.name} ({point.value}) cannot be loaded: {error}") from None
    if not isinstance(reader, Reader):
        raise FormatError(f"the reader of {point.name} ({point.value}) is no {Reader.__module__}.{Reader.__name__}")
    return reader
