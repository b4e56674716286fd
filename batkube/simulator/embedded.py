"""The embedded simulator: Batsim's side of the conversation, in process."""

from collections.abc import Iterable
from dataclasses import replace

from batkube.batsim.messages import Message, SimulationEnds
from batkube.batsim.outputs import JobRecord, Outage
from batkube.batsim.platform import Platform
from batkube.batsim.simulator import ProtocolError, SimulatorError
from batkube.batsim.workload import Workload
from batkube.simulator.begins import simulation_begins
from batkube.simulator.dates import is_later, nanoseconds, seconds
from batkube.simulator.decisions import Decisions
from batkube.simulator.engine import Engine
from batkube.simulator.errors import Deadlock, InvalidDecision
from batkube.simulator.options import Options
from batkube.simulator.records import job_records

SHOWN = 5
"""How many waiting jobs an error names."""


class EmbeddedSimulator:
    """A Simulator (see ``batkube.batsim.simulator``) that runs ``workloads`` on ``platform``.

    Dates are exact: with the default control latency of 0 a job submitted at 3 and started at once begins at 3, where
    Batsim, whose parts talk over the simulated network, has 3.000060. What is given by name is
    put on top of ``options``.

    Raises PlatformError where the platform has no master or too few hosts, WorkloadError for a job that only Batsim can
    run, and ExternalEventError for events that cannot be.
    """

    def __init__(
        self,
        platform: Platform,
        workloads: Iterable[Workload],
        options: Options | None = None,
        *,
        compute_sharing: bool = False,
        dynamic_jobs: bool = False,
        control_latency: float = 0.0,
    ) -> None:
        options = options or Options()
        options = replace(
            options,
            compute_sharing=compute_sharing or options.compute_sharing,
            dynamic_jobs=dynamic_jobs or options.dynamic_jobs,
            control_latency=control_latency or options.control_latency,
        )
        by_name = {workload.name: workload for workload in workloads}
        self._engine = Engine(platform, list(by_name.values()), options)
        self._decisions = Decisions(self._engine)
        self._latency = nanoseconds(options.control_latency)
        self._next: Message | None = Message(
            now=0.0, events=[simulation_begins(self._engine.resources, by_name, options)]
        )
        self._said = 0.0
        """The date of the last message."""
        self._asked = False
        self._over = False

    # The interface Simulator

    async def receive(self) -> Message:
        """The next message. Raises Deadlock when nothing can happen any more, though jobs wait."""
        return self.next_message()

    async def send(self, reply: Message) -> None:
        """Carry out the decisions of ``reply``. Raises InvalidDecision where Batsim would abort."""
        self.answer(reply)

    async def close(self) -> None:
        """Nothing to let go of."""

    # The same without asyncio

    def next_message(self) -> Message:
        """What ``receive`` returns: it never has to wait."""
        if self._asked:
            raise SimulatorError("the last message has not been answered yet")
        if self._over:
            raise SimulatorError("the simulation is over")
        message, self._next = self._next or self._run(), None
        self._said = message.now
        self._asked = True
        return message

    def _run(self) -> Message:
        """Let time go on until there is something to say."""
        engine = self._engine
        while not engine.outbox.events:
            if engine.finished and self._decisions.registration.over:
                self._over = True
                return Message(now=seconds(engine.now), events=[SimulationEnds(timestamp=seconds(engine.now))])
            date = engine.next_date
            if date is None:
                raise Deadlock(self._why_stuck())
            engine.advance(date)
        return engine.tell()

    def answer(self, reply: Message) -> None:
        """What ``send`` does."""
        if not self._asked:
            raise SimulatorError("there is no message to answer")
        self._asked = False
        if self._over:
            if reply.events:
                raise InvalidDecision(
                    f"invalid decision: {reply.events[0].type} in the answer to SIMULATION_ENDS, which takes none"
                )
            return
        self._decisions.registration.begin_reply()
        for index, event in enumerate(reply.events):
            if event.timestamp > reply.now:
                raise ProtocolError(
                    f"bad message: event {index} ({event.type}): timestamp {event.timestamp} is after now {reply.now}"
                )
            # Decisions take effect in their order, each at its date: one dated in the past at once.
            self._wait_until(event.timestamp)
            if self._latency:
                self._engine.advance(self._engine.now + self._latency)
            self._decisions.apply(index, event)
        self._wait_until(reply.now)

    def _wait_until(self, timestamp: float) -> None:
        if timestamp <= self._said:
            return
        date = nanoseconds(timestamp)
        if is_later(date, self._engine.now):
            self._engine.advance(date)

    def _why_stuck(self) -> str:
        waiting = self._engine.waiting_jobs()
        if not waiting:
            return "nothing can happen any more: dynamic jobs are enabled, and registration_finished was never said"
        names = ", ".join(job.id for job in waiting[:SHOWN])
        more = f" and {len(waiting) - SHOWN} more" if len(waiting) > SHOWN else ""
        return f"nothing can happen any more, and jobs wait that were neither started nor rejected: {names}{more}"

    # Results

    @property
    def records(self) -> list[JobRecord]:
        """The jobs that have ended so far, in order of completion and rejection."""
        return job_records(self._engine.ended)

    @property
    def nb_machines(self) -> int:
        """The number of hosts that jobs may use, storage included."""
        return len(self._engine.hosts)

    @property
    def outages(self) -> list[Outage]:
        """Which hosts were unavailable, and from when to when, as far as they have come back."""
        return [(host, seconds(begin), seconds(end)) for host, begin, end in self._engine.outages]
