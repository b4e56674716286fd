"""Recorded decisions played again on the embedded simulator.

Real Batsim tells of events a few microseconds to milliseconds after they happen, because its parts talk over the
simulated network; the embedded simulator tells at once. So a decision is played by its date, and never before it: the
date of the reply that carried it, or its own timestamp where that was later. Whenever the simulator says something, the
decisions due by then are sent, in the recorded order; and it is asked to call (CALL_ME_LATER) at the date of the next
one, so that no decision waits for an event. What was recorded as said at the very beginning is said at the beginning.

Dates are left alone but for one thing: a kill of jobs whose completion was told already is dropped, since the embedded
simulator, which tells sooner, would refuse it as Batsim does.
"""

import csv
from dataclasses import dataclass
from pathlib import Path

from batkube.batsim import messages as m
from batkube.batsim.codec import decode
from batkube.batsim.control_latency import control_latency as message_latency
from batkube.batsim.platform import read_platform
from batkube.batsim.routing import Router
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.standalone.batsim4 import Inputs, parse_arguments, read_inputs
from tests.batsim.transcripts import Scenario

SAME = 1e-6
"""Seconds: dates that Batsim prints alike."""


@dataclass
class Decision:
    """A recorded decision."""

    date: float
    event: m.Event
    first: bool
    """True if it answered SIMULATION_BEGINS."""


def recorded(scenario: Scenario) -> list[Decision]:
    """All decisions of a run, in order."""
    decisions = []
    for index, (sent, reply) in enumerate(scenario.dialogue):
        now = decode(sent).now
        for event in decode(reply).events if reply else ():
            decisions.append(Decision(max(now, event.timestamp), event, index == 0))
    return decisions


def inputs(scenario: Scenario) -> Inputs:
    """Return what the run was given, by its command line."""
    folder = scenario.folder
    arguments = [str(folder / word) if (folder / word).is_file() else word for word in scenario.command[1:]]
    return read_inputs(parse_arguments(arguments))


def control_latency(scenario: Scenario) -> float:
    """Seconds that each message between the parts of Batsim takes on the master: one byte over its own route."""
    read = read_platform(next(scenario.folder.glob("*.xml")))
    command = scenario.command
    master = read.resources(master=command[command.index("-m") + 1]) if "-m" in command else read.resources()
    assert master.master is not None
    return message_latency(Router(read), master.master.name, master.master.name)


class Replay:
    """A decision process that says what was recorded."""

    def __init__(self, decisions: list[Decision], latency: float) -> None:
        self._decisions = decisions
        self._latency = latency
        self._began = False
        self._gone: set[str] = set()
        self._asked = -1.0

    def answer(self, message: m.Message) -> m.Message:
        """The reply."""
        self._gone |= {event.data.job_id for event in message.events if isinstance(event, m.JobCompleted)}
        said: list[m.Event] = []
        while self._decisions and self._due(self._decisions[0], message.now):
            if event := self._playable(self._decisions.pop(0).event, message.now):
                said.append(event)
        self._began = True
        if self._decisions and self._decisions[0].date not in (self._asked, message.now):
            self._asked = self._decisions[0].date
            # Batsim takes decisions one control latency after the other, this one too: a call must be later than that.
            soonest = message.now + (len(said) + 1) * self._latency + SAME
            call = m.CallMeLaterData(timestamp=max(self._asked, soonest))
            said.append(m.CallMeLater(timestamp=message.now, data=call))
        return m.Message(now=message.now, events=said)

    @property
    def done(self) -> bool:
        return not self._decisions

    def _due(self, decision: Decision, now: float) -> bool:
        return decision.date <= now + SAME and (self._began or decision.first)

    def _playable(self, event: m.Event, now: float) -> m.Event | None:
        if isinstance(event, m.CallMeLater) and event.data.timestamp <= now + SAME:
            return None
        if isinstance(event, m.KillJob):
            left = [job_id for job_id in event.data.job_ids if job_id not in self._gone]
            return m.KillJob(timestamp=now, data=m.KillJobData(job_ids=left)) if left else None
        return event.model_copy(update={"timestamp": now})


@dataclass
class Played:
    """A run played to its end."""

    simulator: EmbeddedSimulator
    messages: list[m.Message]
    """All that the simulator said."""


def replay(scenario: Scenario) -> Played:
    """Play a run again, to its end, with ideal dates. Raises the simulator's errors."""
    given = inputs(scenario)
    simulator = EmbeddedSimulator(given.platform, given.workloads, given.options)
    player = Replay(recorded(scenario), control_latency(scenario))
    played = Played(simulator, [])
    over = False
    while not over:
        message = simulator.next_message()
        played.messages.append(message)
        over = any(isinstance(event, m.SimulationEnds) for event in message.events)
        simulator.answer(m.Message(now=message.now, events=[]) if over else player.answer(message))
    assert player.done
    return played


def table(path: Path) -> dict[tuple[str, str], dict[str, str]]:
    """Batsim's jobs.csv by workload and job."""
    with path.open(encoding="utf-8", newline="") as file:
        return {(row["workload_name"], row["job_id"]): row for row in csv.DictReader(file)}
