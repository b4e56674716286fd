"""Outages by a plan are told by the exact simulator as those of a file are, which real Batsims have shown."""

from collections.abc import Iterator
from typing import Any

from batkube.batsim.machine_events import MachineEvents, Span
from tests.bridge.world import outage
from tests.simulator.cluster import Game, job, workload

PLAN = [(1.0, 4.0), (6.0, 9.0)]


def spans() -> Iterator[Span]:
    return iter(PLAN)


def told(**options: Any) -> list[tuple[float, str]]:
    """Return all that is said until the only job comes."""
    game = Game(workload(job("a", 20)), exact=True, **options)
    said: list[tuple[float, str]] = []
    while "submitted w0!a" not in [what for _, what in said]:
        said += game.then()
    return said


def test_a_plan_is_told_as_a_file_of_events() -> None:
    by_file = told(external_events=[event for begin, end in PLAN for event in outage(1, begin, end)])
    by_plan = told(machine_events=MachineEvents({1: [spans]}))
    assert by_plan == by_file
    assert by_plan[-2][1] == "no_more_external_event_to_occur"
