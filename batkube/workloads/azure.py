"""Microsoft's *Azure Trace for Packing 2020* (a SQLite database): virtual machines, and when they were there.

https://github.com/Azure/AzurePublicDataset/blob/master/AzureTracesForPacking2020.md: the table ``vm`` has a row a
request, with times in days; ``vmType`` says which share of a machine a type takes, on each machine that has it.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from typing import TYPE_CHECKING, Any
from urllib.parse import quote as url_quote

from batkube.batsim.input_file import quote
from batkube.batsim.jobs import MAX_DATE
from batkube.workloads import machine_shares
from batkube.workloads.reader import Reader, Record
from batkube.workloads.source import Head, Source

if TYPE_CHECKING:
    import sqlite3

JSON = dict[str, Any]

DAY = 86_400.0
LONGEST = 90.0
"""The days after which the trace tells no end: a machine without one was still there."""
_MAGIC = b"SQLite format 3\x00"
_TYPES = "SELECT vmTypeId, machineId, core, memory FROM vmType ORDER BY vmTypeId, machineId"
_VMS = "SELECT vmId, tenantId, vmTypeId, priority, starttime, endtime FROM vm ORDER BY starttime, vmId"


class AzureReader(Reader):
    """A virtual machine is a pod: submitted at ``starttime``, and there until ``endtime``."""

    name = "azure"
    title = "Azure's trace for packing of 2020 (SQLite)"

    def claims(self, head: Head) -> bool:
        """Tell whether it is a database that names the table of types."""
        return head.content.startswith(_MAGIC) and b"vmType" in head.content

    def records(self, source: Source) -> Iterator[Record]:
        """Yield the machines by their start. Those that were there at the start of the trace come at 0."""
        import sqlite3  # readers are loaded to tell formats apart

        if not source.head().content.startswith(_MAGIC):
            raise source.error(None, "expected a SQLite database")
        try:
            with closing(sqlite3.connect(f"file:{url_quote(str(source.path))}?mode=ro&immutable=1", uri=True)) as trace:
                trace.text_factory = lambda text: text.decode(errors="replace")
                types = _types(source, trace)
                for row in trace.execute(_VMS):
                    record = _record(source, types, *row)
                    if record is not None:
                        yield record
        except sqlite3.Error as error:
            raise source.error(None, f"SQLite: {error}") from None


def _types(source: Source, trace: "sqlite3.Connection") -> dict[Any, JSON]:
    """Return what each type asks for: its shares of the machine that most types are for, else of its first one."""
    rows = trace.execute(_TYPES).fetchall()
    usual = next((machine for machine, _ in Counter(machine for _, machine, _, _ in rows).most_common(1)), None)
    found: dict[Any, JSON] = {}
    for kind, machine, core, memory in rows:
        if not all(isinstance(share, int | float) and 0 <= share <= 1 for share in (core, memory)):
            raise source.error(None, f"vmType {quote(str(kind))}: expected shares of a machine from 0 to 1")
        if kind not in found or machine == usual:
            found[kind] = machine_shares.wants(core, memory)
    return found


def _record(
    source: Source, types: dict[Any, JSON], vm: Any, tenant: Any, kind: Any, priority: Any, start: Any, end: Any
) -> Record | None:
    where = f"vm {quote(str(vm))}"
    if kind not in types:
        raise source.error(None, f"{where}: vmTypeId: no vmType is {quote(str(kind))}")
    if priority not in (0, 1):
        raise source.error(None, f"{where}: priority: expected 0 (high) or 1 (low), not {quote(str(priority))}")
    end = LONGEST if end is None else end
    for name, days in (("starttime", start), ("endtime", end)):
        if not (isinstance(days, int | float) and abs(days * DAY) <= MAX_DATE):
            raise source.error(None, f"{where}: {name}: expected a number of days, not {quote(str(days))}")
    submit = round(max(start, 0.0) * DAY, 6)
    duration = round(end * DAY - submit, 6)
    if duration <= 0:
        source.skip("ended when they were started, or before the trace begins")
        return None
    wants = {**types[kind], "user": str(tenant), "priority": 1 - priority}
    return Record(str(vm), submit, duration, wants=wants)
