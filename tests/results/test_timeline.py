"""The cluster as step functions: cases by hand, and the agreement with the pods at any date."""

from itertools import pairwise
from math import inf

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batkube.results.nodes import Node, NodeChange
from batkube.results.pods import PodRecord
from batkube.results.series import NodeSeriesRow, SeriesRow
from batkube.results.timeline import PodTimes, Timeline

GIB = 1 << 30
NODES = [Node("a", "a", 4.0, 8 * GIB, 0), Node("b", "b", 2.0, 8 * GIB, 1)]


def pod(
    name: str,
    created: float,
    bound: float | None = None,
    started: float | None = None,
    ended: float | None = None,
    node: str = "a",
    cpu: float = 1.0,
) -> PodRecord:
    return PodRecord(
        name, "default", f"w!{name}", "s", node=node if bound is not None else "", created_time=created,
        bound_time=bound, starting_time=started, finish_time=ended, cpu=cpu, memory=GIB,
    )  # fmt: skip


def play(
    pods: list[PodRecord], changes: list[NodeChange] | None = None, end: float = 100.0
) -> tuple[list[SeriesRow], list[NodeSeriesRow], Timeline]:
    times = PodTimes(node.node for node in NODES)
    for one in pods:
        times.add(one)
    timeline = Timeline(times, NODES, changes or [], end)
    rows, nodes = [], []
    for row, of_nodes in timeline.play():
        rows += [row] if row else []
        nodes += of_nodes
    return rows, nodes, timeline


def test_pods_wait_hold_and_run() -> None:
    rows, nodes, timeline = play([pod("x", 5, 10, 12, 30, cpu=3), pod("y", 5, 12, 12, 20, node="b", cpu=0.5)])
    shown = [
        (row.time, row.waiting_pods, row.running_pods, row.queued_cpu, row.queued_work, row.cpu_requested, row.cpu_used)
        for row in rows
    ]
    assert shown == [
        (0, 0, 0, 0, 0, 0, 0),
        (5, 2, 0, 3.5, 3 * 18 + 0.5 * 8, 0, 0),
        (10, 2, 0, 3.5, 58, 3, 0),
        (12, 0, 2, 0, 0, 3.5, 3.5),
        (20, 0, 1, 0, 0, 3, 3),
        (30, 0, 0, 0, 0, 0, 0),
    ]
    # Free cores on a and b: 4 and 2, 1 and 2, 1 and 1.5, 1 and 2.
    assert [row.fragmentation for row in rows] == pytest.approx([1 / 3, 1 / 3, 1 / 3, 0.4, 1 / 3, 1 / 3])
    assert [(row.time, row.node, row.pods, row.cpu_requested) for row in nodes if row.time] == [
        (10, "a", 1, 3), (12, "b", 1, 0.5), (20, "b", 0, 0), (30, "a", 0, 0),
    ]  # fmt: skip
    a, b = timeline.node_rows()
    assert (a.up_seconds, a.busy_seconds, a.pods, a.cpu_requested_seconds) == (100, 20, 1, 60)
    assert a.cpu_utilization == pytest.approx(60 / 400)
    assert (b.busy_seconds, b.cpu_requested_seconds, b.gpu_utilization) == (8, 4, 0)
    assert a.gpu_utilization is None


def test_a_node_that_goes_takes_what_it_offers_and_holds_with_it() -> None:
    changes = [NodeChange(20, "a", False), NodeChange(50, "a", True)]
    rows, nodes, timeline = play([pod("x", 0, 0, 0, 25, cpu=3)], changes)
    assert [(row.time, row.nodes_up, row.cpu_allocatable, row.cpu_requested, row.running_pods) for row in rows] == [
        (0, 2, 6, 3, 1), (20, 1, 2, 0, 1), (25, 1, 2, 0, 0), (50, 2, 6, 0, 0),
    ]  # fmt: skip
    assert [(row.time, row.up, row.pods) for row in nodes if row.node == "a"] == [
        (0, True, 1), (20, False, 1), (25, False, 0), (50, True, 0),
    ]  # fmt: skip
    a = timeline.node_rows()[0]
    assert (a.up_seconds, a.busy_seconds, a.failures) == (70, 20, 1)
    assert a.cpu_utilization == pytest.approx(60 / (4 * 70))


def test_pods_that_never_start_wait_to_their_end_or_that_of_the_run() -> None:
    rows, _, _ = play([pod("gone", 1, ended=7), pod("held", 2, 3, ended=9), pod("left", 4)])
    assert [(row.time, row.waiting_pods, row.cpu_requested) for row in rows] == [
        (0, 0, 0), (1, 1, 0), (2, 2, 0), (3, 2, 1), (4, 3, 1), (7, 2, 1), (9, 1, 0),
    ]  # fmt: skip
    assert all(row.queued_work == 0 for row in rows)


def test_what_takes_no_time_leaves_no_row_but_counts() -> None:
    rows, nodes, timeline = play([pod("x", 5, 5, 5, 5)])
    assert ([row.time for row in rows], [row.time for row in nodes]) == ([0], [0, 0])
    assert timeline.node_rows()[0].pods == 1


dates = st.integers(0, 12).map(float)


@st.composite
def any_pod(draw: st.DrawFn) -> PodRecord:
    """Return a pod in any stage of its life, its dates often the same."""
    made = sorted(draw(st.lists(dates, min_size=4, max_size=4)))
    stages = draw(st.integers(1, 4))
    created = made[0]
    bound, started, ended = (date if number < stages else None for number, date in enumerate(made[1:], start=1))
    if draw(st.booleans()) and ended is None:
        ended = made[3]
    cpu = draw(st.sampled_from([0.1, 0.25, 1.0, 3.0]))
    return pod("p", created, bound, started, ended, node=draw(st.sampled_from("ab")), cpu=cpu)


@settings(max_examples=200, deadline=None)
@given(st.lists(any_pod(), max_size=8))
def test_at_any_date_the_rows_agree_with_the_pods(pods: list[PodRecord]) -> None:
    rows, nodes, timeline = play(pods, end=13.0)
    assert [row.time for row in rows] == sorted({row.time for row in rows})
    for date in (step / 2 for step in range(26)):
        row = [row for row in rows if row.time <= date][-1]

        def ended(one: PodRecord) -> float:
            return inf if one.finish_time is None else one.finish_time

        def started(one: PodRecord) -> float:
            return inf if one.starting_time is None else one.starting_time

        waiting = [one for one in pods if one.created_time <= date < min(started(one), ended(one))]
        running = [one for one in pods if started(one) <= date < ended(one)]
        bound = [one for one in pods if one.bound_time is not None and one.bound_time <= date < ended(one)]
        assert (row.waiting_pods, row.running_pods) == (len(waiting), len(running))
        assert row.queued_cpu == pytest.approx(sum(one.cpu for one in waiting))
        assert row.cpu_used == pytest.approx(sum(one.cpu for one in running))
        assert row.cpu_requested == pytest.approx(sum(one.cpu for one in bound))
        for node in "ab":
            of_node = [row for row in nodes if row.node == node and row.time <= date][-1]
            assert of_node.pods == sum(one.node == node for one in bound)
    ended_rows = [*rows, SeriesRow(13.0, *[0] * 15)]
    area = sum(row.cpu_requested * (after.time - row.time) for row, after in pairwise(ended_rows))
    assert area == pytest.approx(sum(row.cpu_requested_seconds for row in timeline.node_rows()))
