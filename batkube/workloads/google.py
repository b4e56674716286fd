"""Events of instances of Google's cluster-usage traces v3 of 2019 (lines of JSON).

https://github.com/google/cluster-data: the table ``instance_events``, as it is published, an event a line, or as
BigQuery exports it. An instance is a task of a job; its times are microseconds since the start of the trace.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import orjson

from batkube.batsim.input_file import quote
from batkube.workloads import machine_shares
from batkube.workloads.reader import Reader, Record
from batkube.workloads.source import Head, Source

JSON = dict[str, Any]

TYPES = (
    "SUBMIT", "QUEUE", "ENABLE", "SCHEDULE", "EVICT", "FAIL", "FINISH", "KILL", "LOST", "UPDATE_PENDING",
    "UPDATE_RUNNING",
)  # fmt: skip
"""The types of events; a line has the number of one, or its name."""
_ENDS = frozenset(("EVICT", "FAIL", "FINISH", "KILL", "LOST"))
_ALLOC_SETS = (1, "1", "ALLOC_SET")
SECOND = 1_000_000
AFTER_ALL = 2**63 - 1
"""The time of what happened after the end of the trace."""
SHAPE = ("time", "type", "collection_id", "instance_index")


@dataclass(slots=True)
class _Instance:
    submitted: int | None = None
    scheduled: int | None = None
    ended: int | None = None
    wants: JSON | None = None


class GoogleReader(Reader):
    """An instance is a pod: submitted as at first, and as long as its last run was."""

    name = "google"
    title = "events of instances of Google's traces of 2019 (lines of JSON)"

    def claims(self, head: Head) -> bool:
        """Tell whether the first line is an event of an instance."""
        lines = head.lines
        if not lines or not lines[0].startswith("{"):
            return False
        try:
            event = orjson.loads(lines[0])
        except orjson.JSONDecodeError:
            return False
        return isinstance(event, dict) and set(SHAPE) <= event.keys()

    def records(self, source: Source) -> Iterator[Record]:
        """Yield the instances by the time when they were submitted; the events may come in any order."""
        events = [event for line, text in source.lines() if text.strip() for event in _event(source, line, text)]
        events.sort(key=lambda event: event[0])
        instances: dict[tuple[int, int], _Instance] = {}
        for time, kind, key, wants in events:
            _note(instances.setdefault(key, _Instance()), time, kind, wants)
        found = sorted(instances.items(), key=lambda each: (each[1].submitted or 0, each[0]))
        for (collection, index), instance in found:
            if instance.scheduled is None or instance.ended is None:
                source.skip("were never scheduled, or had not ended, so that nobody knows how long they run")
            elif instance.ended <= instance.scheduled:
                source.skip("ended when they were scheduled")
            elif instance.wants is None:
                source.skip("ask for nothing that is known")
            else:
                submitted = instance.scheduled if instance.submitted is None else instance.submitted
                length = (instance.ended - instance.scheduled) / SECOND
                yield Record(f"{collection}-{index}", submitted / SECOND, length, wants=instance.wants)


def _note(instance: _Instance, time: int, kind: str, wants: JSON | None) -> None:
    instance.wants = wants or instance.wants
    if kind == "SUBMIT" and instance.submitted is None:
        instance.submitted = time
    elif kind == "SCHEDULE":
        instance.scheduled, instance.ended = time, None
    elif kind in _ENDS and instance.ended is None:
        instance.ended = time


def _event(source: Source, line: int, text: str) -> Iterator[tuple[int, str, tuple[int, int], JSON | None]]:
    """Yield the event of a line; none of an alloc set, which holds room for others and runs nothing."""
    try:
        event = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        raise source.error(line, f"not JSON: {error}") from None
    if not isinstance(event, dict):
        raise source.error(line, "expected an object with the fields of an event")
    if event.get("collection_type") in _ALLOC_SETS:
        source.skip("are of alloc sets, which hold room for other instances")
        return
    time = _whole(source, line, event, "time")
    instance = (_whole(source, line, event, "collection_id"), _whole(source, line, event, "instance_index"))
    kind = event.get("type")
    if kind not in TYPES:
        number = _whole(source, line, event, "type")
        if number >= len(TYPES):
            raise source.error(line, f"type: expected one of 0 to {len(TYPES) - 1}, not {number}")
        kind = TYPES[number]
    if time != AFTER_ALL:
        yield time, kind, instance, _wants(source, line, event)


def _whole(source: Source, line: int, event: JSON, name: str) -> int:
    """Return a whole number, which BigQuery writes as a text. A missing one is 0, as in protocol buffers."""
    value = event.get(name, 0)
    if isinstance(value, str) and value.isascii() and value.isdecimal() and len(value) < 20:
        value = int(value)
    if type(value) is not int or not 0 <= value <= AFTER_ALL:
        raise source.error(line, f"{name}: expected a whole number, not {quote(str(value))}")
    return value


def _wants(source: Source, line: int, event: JSON) -> JSON | None:
    request = event.get("resource_request")
    if not request:
        return None
    if not isinstance(request, dict):
        raise source.error(line, f"resource_request: expected an object, not {quote(str(request))}")
    cpu, memory = (_share(source, line, request, name) for name in ("cpus", "memory"))
    return {**machine_shares.wants(cpu, memory), "priority": _whole(source, line, event, "priority")}


def _share(source: Source, line: int, request: JSON, name: str) -> float:
    value = request.get(name, 0.0)
    if type(value) not in (int, float) or not 0 <= value <= 1:
        raise source.error(line, f"resource_request.{name}: expected a share of a machine from 0 to 1")
    return float(value)
