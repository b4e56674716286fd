"""Promises of the embedded simulator that hold for any workload and any decisions."""

import itertools
import random
from collections.abc import Iterable
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from batkube.batsim import messages as m
from batkube.batsim.allocation import format_intervals, parse_intervals
from batkube.batsim.codec import encode_as_batsim
from batkube.batsim.workload import Workload
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.options.simulator_options import SimulatorOptions
from tests.simulator.cluster import job, platform, workload

HOSTS = 4

PROFILES: dict[str, dict[str, Any]] = {
    "short": {"type": "delay", "delay": 0.37},
    "failing": {"type": "delay", "delay": 2, "ret": 3},
    "nothing": {"type": "parallel_homogeneous", "cpu": 0, "com": 0},
    "work": {"type": "parallel_homogeneous", "cpu": 3e9, "com": 0},
    "total": {"type": "parallel_homogeneous_total", "cpu": 7e9, "com": 0},
    "sequence": {"type": "composed", "seq": ["short", "work", "nothing"], "repeat": 3},
}

jobs = st.lists(
    st.builds(
        lambda subtime, profile, res, walltime: {
            "subtime": subtime,
            "profile": profile,
            "res": res,
            **({} if walltime is None else {"walltime": walltime}),
        },
        st.sampled_from([0, 0, 1, 2.5, 7.25, 1e-3, 100]) | st.floats(-3, 200).map(lambda date: round(date, 3)),
        st.sampled_from(["d10", *PROFILES]),
        st.integers(1, HOSTS + 1),
        st.none() | st.sampled_from([0.37, 3, 10, 12.5]),
    ),
    max_size=12,
)


def build(members: Iterable[dict[str, Any]]) -> Workload:
    return workload(*(job(f"j{index}", **of) for index, of in enumerate(members)), **PROFILES)


class Chance:
    """A decision process that does anything allowed, as a seed has it."""

    def __init__(self, seed: int, sharing: bool) -> None:
        self._random = random.Random(seed)
        self._sharing = sharing
        self._queue: list[tuple[str, int]] = []
        self._running: dict[str, tuple[int, ...]] = {}
        self._started: set[str] = set()

    def answer(self, message: m.Message) -> m.Message:
        for event in message.events:
            if isinstance(event, m.JobSubmitted):
                self._queue.append((event.data.job_id, event.data.job["res"]))
            elif isinstance(event, m.JobCompleted):
                assert parse_intervals(event.data.alloc) == self._running.pop(event.data.job_id)
        now = message.now + self._random.choice([0, 0, 0, 0.5, 30])
        said: list[m.Event] = []
        for job_id, wanted in list(self._queue):
            if wanted > HOSTS:
                said.append(m.RejectJob(timestamp=message.now, data=m.RejectJobData(job_id=job_id)))
                self._queue.remove((job_id, wanted))
            elif (hosts := self._hosts(wanted)) is not None:
                assert job_id not in self._started
                self._started.add(job_id)
                self._running[job_id] = hosts
                self._queue.remove((job_id, wanted))
                data = m.ExecuteJobData(job_id=job_id, alloc=format_intervals(hosts))
                said.append(m.ExecuteJob(timestamp=message.now, data=data))
        if self._running and self._random.random() < 0.2:
            kill = m.KillJobData(job_ids=[self._random.choice(list(self._running))])
            said.append(m.KillJob(timestamp=message.now, data=kill))
        if self._random.random() < 0.2 and message.events[0].type != "REQUESTED_CALL":
            call = m.CallMeLaterData(timestamp=message.now + self._random.choice([0.1, 40]))
            said.append(m.CallMeLater(timestamp=message.now, data=call))
        return m.Message(now=now, events=said)

    def _hosts(self, wanted: int) -> tuple[int, ...] | None:
        taken = set() if self._sharing else {host for hosts in self._running.values() for host in hosts}
        free = [host for host in range(HOSTS) if host not in taken]
        return tuple(sorted(self._random.sample(free, wanted))) if len(free) >= wanted else None


def play(load: Workload, seed: int, sharing: bool) -> tuple[list[m.Message], EmbeddedSimulator]:
    """A whole simulation: all messages of the simulator."""
    simulator = EmbeddedSimulator(platform(HOSTS), [load], SimulatorOptions(compute_sharing=sharing))
    player = Chance(seed, sharing)
    said = []
    while True:
        message = simulator.next_message()
        said.append(message)
        if isinstance(message.events[0], m.SimulationEnds):
            simulator.answer(m.Message(now=message.now, events=[]))
            return said, simulator
        simulator.answer(player.answer(message))


@settings(max_examples=150)
@given(jobs, st.integers(0, 10**6), st.booleans())
def test_every_job_ends_once_no_host_is_used_twice_and_no_date_goes_back(
    members: list[dict[str, Any]], seed: int, sharing: bool
) -> None:
    load = build(members)
    said, simulator = play(load, seed, sharing)
    records = simulator.records

    assert sorted(record.job_id for record in records) == sorted(load.jobs)
    dates = [date for message in said for date in (*(event.timestamp for event in message.events), message.now)]
    assert all(event.timestamp <= message.now for message in said for event in message.events)
    assert [message.now for message in said] == sorted(message.now for message in said)
    assert min(dates) >= 0

    busy: dict[int, list[tuple[float, float]]] = {}
    for record in records:
        wanted = load.jobs[record.job_id]
        if record.starting_time is None or record.finish_time is None:
            assert wanted.res > HOSTS
            continue
        assert max(0.0, wanted.subtime) <= record.starting_time <= record.finish_time
        if wanted.walltime is not None:
            assert record.finish_time - record.starting_time <= wanted.walltime + 1e-9
        for host in parse_intervals(record.allocated_resources):
            busy.setdefault(host, []).append((record.starting_time, record.finish_time))
    if not sharing:
        for spans in busy.values():
            spans.sort()
            assert all(before[1] <= after[0] for before, after in itertools.pairwise(spans))


@settings(max_examples=50)
@given(jobs, st.integers(0, 10**6), st.booleans())
def test_the_same_input_gives_the_same_messages(members: list[dict[str, Any]], seed: int, sharing: bool) -> None:
    first, second = (play(build(members), seed, sharing)[0] for _ in range(2))
    assert [encode_as_batsim(message) for message in first] == [encode_as_batsim(message) for message in second]


@settings(max_examples=50)
@given(jobs, st.integers(0, 10**6))
def test_each_job_is_told_of_once_in_the_order_of_its_life(members: list[dict[str, Any]], seed: int) -> None:
    said, _ = play(build(members), seed, False)
    submitted: set[str] = set()
    completed: set[str] = set()
    for event in (event for message in said for event in message.events):
        if isinstance(event, m.JobSubmitted):
            assert event.data.job_id not in submitted
            submitted.add(event.data.job_id)
        elif isinstance(event, m.JobCompleted):
            assert event.data.job_id in submitted
            assert event.data.job_id not in completed
            completed.add(event.data.job_id)
    assert len(submitted) == len(members)
