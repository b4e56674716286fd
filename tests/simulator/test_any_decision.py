"""Whatever a decision process says and when it says it: the simulator keeps its promises, and comes to an end.

Platforms, workloads and outages are those of the random experiments (``tests/mixes``); decisions are drawn at random,
good ones and such as Batsim aborts on.
"""

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batkube.batsim import messages as m
from batkube.batsim.allocation import format_intervals, parse_intervals
from batkube.batsim.errors import ProtocolError
from batkube.simulator.conversation.errors import Deadlock, InvalidDecision, SimulationAborted
from batkube.simulator.embedded import EmbeddedSimulator
from tests.mixes.mix import Mix, mix
from tests.mixes.playing import embedded

MOST_MESSAGES = 3000
"""More than any of these simulations has to say: one that goes on beyond would go on for ever."""
SOON = 0.05
"""Seconds that a call is ahead at least: longer than all decisions of a reply take."""


@dataclass
class Anything:
    """A decision process that says anything. What it says wrong it says with the probability ``wrong``."""

    mix: Mix
    chance: random.Random
    wrong: float
    waiting: dict[str, int] = field(default_factory=dict)
    running: dict[str, tuple[int, ...]] = field(default_factory=dict)
    ended: list[str] = field(default_factory=list)
    lost: set[int] = field(default_factory=set)
    calls: int = 0

    def hear(self, event: m.Event) -> None:
        match event:
            case m.JobSubmitted():
                self.waiting[event.data.job_id] = event.data.job["res"]
            case m.JobCompleted():
                assert parse_intervals(event.data.alloc) == self.running.pop(event.data.job_id)
                self.ended.append(event.data.job_id)
            case m.Notify() if event.data.resources is not None:
                hosts = set(parse_intervals(event.data.resources))
                self.lost = self.lost - hosts if event.data.type.endswith("_available") else self.lost | hosts

    def answer(self, message: m.Message) -> m.Message:
        for event in message.events:
            self.hear(event)
        now, said = message.now, list[m.Event]()
        if self.chance.random() < 0.3 and self.calls < 50:
            self.calls += 1
            said.append(call(now, now + SOON + self.chance.choice((0.0, 1.0, 30.0))))
        for job, size in list(self.waiting.items()):
            if (decision := self._place(job, size, now)) is not None:
                said.append(decision)
                del self.waiting[job]
        if self.running and self.chance.random() < 0.1:
            said.append(kill(now, self.chance.choice(list(self.running))))
        if self.chance.random() < self.wrong:
            said.insert(self.chance.randint(0, len(said)), self._wrong(now))
        return m.Message(now=now + self.chance.choice((0, 0, 0, 0.3, 20)), events=said)

    def _place(self, job: str, size: int, now: float) -> m.Event | None:
        hosts = len(self.mix.site.machines)
        if not 0 < size <= hosts or self.chance.random() < 0.05:
            return m.RejectJob(timestamp=now, data=m.RejectJobData(job_id=job))
        taken = set() if self.mix.sharing else {host for held in self.running.values() for host in held}
        free = [host for host in range(hosts) if host not in taken and host not in self.lost]
        # A host may be lost that Batsim has not told of yet: nobody can know.
        if len(free) < size or self.mix.outages:
            return None if self.lost or len(free) < size else self._start(job, free[:size], now)
        return self._start(job, self.chance.sample(free, size), now)

    def _start(self, job: str, hosts: list[int], now: float) -> m.Event:
        self.running[job] = tuple(sorted(hosts))
        storages = {name: hosts_ + index for index, name in enumerate(self.mix.site.storages)
                    for hosts_ in (len(self.mix.site.machines),)}  # fmt: skip
        data = m.ExecuteJobData(job_id=job, alloc=format_intervals(hosts), storage_mapping=storages or None)
        return m.ExecuteJob(timestamp=now, data=data)

    def _wrong(self, now: float) -> m.Event:
        """Something on which Batsim aborts, nearly always."""
        job = self.chance.choice([*self.mix.jobs, "w0!nobody", "w7!x"])
        makers: list[Callable[[], m.Event]] = [
            lambda: m.ExecuteJob(timestamp=now, data=m.ExecuteJobData(job_id=job, alloc=self.chance.choice(ALLOCS))),
            lambda: m.RejectJob(timestamp=now, data=m.RejectJobData(job_id=job)),
            lambda: kill(now, job),
            lambda: call(now, now - self.chance.choice((0, 1e-6, 5))),
            lambda: m.ExecuteJob(
                timestamp=now, data=m.ExecuteJobData(job_id=job, alloc="0-1", mapping={"0": 7, "1": 0})
            ),
            lambda: m.SetResourceState(timestamp=now, data=m.ResourceStateData(resources="0", state="9")),
            lambda: m.RegisterJob(timestamp=now, data=m.RegisterJobData(job_id="w0!new", job={"id": "w0!new"})),
            lambda: m.Notify(timestamp=now, data=m.NotifyData(type="registration_finished")),
        ]
        return self.chance.choice(makers)()


ALLOCS = ("0", "0-1", "0 2", "999", "", "3-1", "0-40", "1,2")


def kill(now: float, job: str) -> m.Event:
    return m.KillJob(timestamp=now, data=m.KillJobData(job_ids=[job]))


def call(now: float, date: float) -> m.Event:
    return m.CallMeLater(timestamp=now, data=m.CallMeLaterData(timestamp=date))


def play(made: Mix, seed: int, wrong: float, *, exact: bool) -> tuple[list[m.Message], EmbeddedSimulator, str]:
    """All that the simulator says, and how it ends: ``over``, ``stuck`` or why it refuses to go on."""
    with TemporaryDirectory() as folder:
        simulator = embedded(made, made.write(Path(folder)), exact=exact)
    process = Anything(made, random.Random(seed), wrong)
    said: list[m.Message] = []
    while len(said) < MOST_MESSAGES:
        try:
            message = simulator.next_message()
        except Deadlock:
            return said, simulator, "stuck"
        except SimulationAborted as error:
            return said, simulator, str(error)
        said.append(message)
        if isinstance(message.events[0], m.SimulationEnds):
            simulator.answer(m.Message(now=message.now, events=[]))
            return said, simulator, "over"
        try:
            simulator.answer(process.answer(message))
        except (InvalidDecision, ProtocolError, SimulationAborted) as error:
            return said, simulator, str(error)
    pytest.fail(f"no end after {MOST_MESSAGES} messages")


def check(made: Mix, said: list[m.Message], simulator: EmbeddedSimulator) -> None:
    """The promises."""
    assert [message.now for message in said] == sorted(message.now for message in said)
    submitted: set[str] = set()
    completed: set[str] = set()
    for message in said:
        dates = [event.timestamp for event in message.events]
        assert dates == sorted(dates)
        assert dates[0] >= 0
        assert dates[-1] <= message.now
        for event in message.events:
            if isinstance(event, m.JobSubmitted):
                assert event.data.job_id not in submitted
                submitted.add(event.data.job_id)
            elif isinstance(event, m.JobCompleted):
                assert event.data.job_id in submitted - completed
                completed.add(event.data.job_id)
    records = simulator.records
    ids = [f"{record.workload_name}!{record.job_id}" for record in records]
    assert len(ids) == len(set(ids))
    assert set(ids) <= made.jobs.keys()
    spans: dict[int, list[tuple[float, float]]] = {}
    for record in records:
        if record.starting_time is None or record.finish_time is None:
            continue
        assert record.starting_time <= record.finish_time
        for host in parse_intervals(record.allocated_resources):
            spans.setdefault(host, []).append((record.starting_time, record.finish_time))
    for held in spans.values() if not made.sharing else ():
        held.sort()
        assert all(before[1] <= after[0] for before, after in pairwise(held))


seeds = st.integers(1, 5000)


@settings(max_examples=40)
@given(seeds, seeds, st.booleans())
def test_good_decisions_are_never_refused(seed: int, decisions: int, exact: bool) -> None:
    made = mix(seed)
    said, simulator, end = play(made, decisions, 0.0, exact=exact)
    check(made, said, simulator)
    if not made.outages:
        assert end == "over"
        assert len(simulator.records) == len(made.jobs)


@settings(max_examples=40)
@given(seeds, seeds, st.booleans())
def test_any_decision_is_carried_out_or_refused_in_words(seed: int, decisions: int, exact: bool) -> None:
    made = mix(seed)
    said, simulator, end = play(made, decisions, 0.15, exact=exact)
    check(made, said, simulator)
    assert end in ("over", "stuck") or "invalid decision" in end or "Batsim would abort" in end, end
    assert len(end.splitlines()) <= 2
