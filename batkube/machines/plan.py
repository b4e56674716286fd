"""The plan for machines in a run: all that its options say, put together."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from batkube.batsim.external_events import (
    AVAILABLE,
    UNAVAILABLE,
    ExternalEvent,
    ExternalEventError,
    check_external_events,
    read_external_events,
)
from batkube.batsim.input_file import read_text
from batkube.batsim.machine_events import Course, MachineEvents, Span
from batkube.batsim.platform import Resources
from batkube.bridge.drains import Drain
from batkube.bridge.errors import InputError
from batkube.bridge.speeds import Slowdown
from batkube.machines.event_file import Scene, is_event_file, read_event_file
from batkube.machines.failures import Failures
from batkube.startup.errors import StartupError


@dataclass(frozen=True)
class MachinePlan:
    """The plan of a run."""

    courses: dict[str, list[Course]]
    """The outages of each host, by its name."""
    drains: list[Drain] = field(default_factory=list)
    slowdowns: list[Slowdown] = field(default_factory=list)
    others: list[ExternalEvent] = field(default_factory=list)
    """External events of types that Batsim does not know."""
    endless: bool = False
    """True if failures go on for ever."""

    def events(self, resources: Resources) -> MachineEvents:
        """Return the events, with the numbers that a simulator has for its hosts."""
        numbers = {host.name: number for number, host in enumerate(resources.compute)}
        return MachineEvents({numbers[host]: courses for host, courses in self.courses.items()})


def is_planned(paths: Iterable[Path], failures: Sequence[Failures]) -> bool:
    """Tell whether the options say more than Batsim's own files of events."""
    return bool(failures) or any(is_event_file(_text(path)) for path in paths)


def read_plan(
    paths: Iterable[Path], failures: Sequence[Failures], scene: Scene, *, seed: int, keep_unknown: bool
) -> MachinePlan:
    """Read what is said of machines. Raises InputError.

    ``keep_unknown``: files of Batsim's may have events of types that it does not know.
    """
    plan = MachinePlan({}, endless=any(one.lasts is None for one in failures))
    try:
        for path in paths:
            if is_event_file(_text(path)):
                _take_entries(plan, path, scene)
            else:
                _take_events(plan, read_external_events(path, keep_unknown=keep_unknown), scene)
    except (StartupError, ExternalEventError) as error:
        raise InputError(str(error)) from None
    for number, one in enumerate(failures):
        try:
            found = one.courses(scene.places, seed=seed, name=str(number))
        except ValueError as error:
            raise InputError(f"--failures: {error}") from None
        for host, course in found.items():
            plan.courses.setdefault(host, []).append(course)
    return plan


def _text(path: Path) -> str:
    try:
        return read_text(path)
    except ValueError as error:
        raise InputError(f"{path}: {error}") from None


def _take_entries(plan: MachinePlan, path: Path, scene: Scene) -> None:
    for entry in read_event_file(path, scene):
        nodes = tuple(place.node for place in entry.places)
        if entry.drain is not None:
            plan.drains.extend(Drain(begin, end, nodes) for begin, end in entry.spans())
        if entry.speed is not None:
            plan.slowdowns.extend(Slowdown(begin, end, nodes, entry.speed) for begin, end in entry.spans())
        for place in entry.places if entry.down is not None else ():
            plan.courses.setdefault(place.host, []).append(entry.spans)


def _take_events(plan: MachinePlan, events: list[ExternalEvent], scene: Scene) -> None:
    """Take the events of a file of Batsim's. Raises ExternalEventError."""
    places = scene.places.all
    check_external_events(events, len(places))
    spans: dict[str, list[Span]] = {}
    for event in events:
        for number in event.hosts:
            found = spans.setdefault(places[number].host, [])
            if event.type == UNAVAILABLE:
                found.append((event.timestamp, float("inf")))
            elif event.type == AVAILABLE:
                found[-1] = (found[-1][0], event.timestamp)
        if event.type not in (UNAVAILABLE, AVAILABLE):
            plan.others.append(event)
    for host, found in spans.items():
        plan.courses.setdefault(host, []).append(_Spans(found))


class _Spans:
    """The Course of a host that is known already."""

    def __init__(self, spans: list[Span]) -> None:
        self._spans = spans

    def __call__(self) -> Iterator[Span]:
        return iter(self._spans)
