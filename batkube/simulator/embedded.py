"""The embedded simulator: Batsim's side of the conversation, in process."""

from collections.abc import Iterable
from dataclasses import replace

from batkube.batsim.messages import Message, SimulationEnds
from batkube.batsim.outputs import JobRecord
from batkube.batsim.platform import Platform, PlatformError
from batkube.batsim.simulator import SimulatorError
from batkube.batsim.workload import Workload
from batkube.simulator.books.books import Books
from batkube.simulator.conversation.conversation import converse
from batkube.simulator.conversation.errors import Deadlock, InvalidDecision, SimulationAborted
from batkube.simulator.options.simulator_options import SimulatorOptions
from batkube.simulator.server.engine import Engine

SHOWN = 5
"""The most waiting jobs that an error names."""


class EmbeddedSimulator:
    """A Simulator (see ``batkube.batsim.simulator``) that runs ``workloads`` on ``platform``.

    Dates are ideal: a job submitted at 3 and started at once begins at 3, where Batsim, whose parts talk over the
    simulated network, has 3.000060. With the option ``exact`` they are Batsim's. Arguments given by name are put on top
    of ``options``.

    Raises PlatformError if the platform has no master or too few hosts, WorkloadError for a job that only Batsim can
    run, and ExternalEventError for impossible events.
    """

    def __init__(
        self,
        platform: Platform,
        workloads: Iterable[Workload],
        options: SimulatorOptions | None = None,
        *,
        compute_sharing: bool = False,
        dynamic_jobs: bool = False,
    ) -> None:
        options = options or SimulatorOptions()
        options = replace(
            options,
            compute_sharing=compute_sharing or options.compute_sharing,
            dynamic_jobs=dynamic_jobs or options.dynamic_jobs,
        )
        by_name = {workload.name: workload for workload in workloads}
        # To Batsim a workflow is a workload without jobs, which come at run time.
        by_name |= {flow.name: Workload(flow.name, {}, {}, path=flow.path) for flow in options.workflows}
        self._engine = Engine(platform, by_name, options)
        self._conversation = converse(self._engine, by_name)
        self._asked = False
        self._over = False

    # The interface Simulator

    async def receive(self) -> Message:
        """Return the next message. Raises Deadlock if nothing can happen any more, though jobs wait."""
        return self.next_message()

    async def send(self, reply: Message) -> None:
        """Carry out the decisions of ``reply``. Raises InvalidDecision where Batsim would abort."""
        self.answer(reply)

    async def close(self) -> None:
        """Do nothing: there is nothing to close."""

    # What Batsim cannot do

    def add_host(self, name: str, cores: int, speed: float = 1.0) -> int:
        """Take in a host that the platform does not have; return its number, the next one.

        It is ``speed`` times as fast as the first one of the platform.
        """
        return self._engine.add_host(name, cores, speed)

    def set_speed(self, number: int, speed: float) -> None:
        """Let a host go on at this share of its speed: tasks, and the processes of pods that clients make."""
        self._engine.set_speed(number, speed)

    # The same without asyncio

    @property
    def over(self) -> bool:
        """True if the last message was SIMULATION_ENDS."""
        return self._over

    def next_message(self) -> Message:
        """Return the next message, as ``receive`` does, which never has to wait."""
        if self._asked:
            raise SimulatorError("the last message has not been answered yet")
        if self._over:
            raise SimulatorError("the simulation is over")
        try:
            message = self._conversation.next_message()
        except (ValueError, PlatformError) as error:
            raise SimulationAborted(f"Batsim would abort: {error}") from None
        if message is None:
            raise Deadlock(self._why_stuck())
        self._over = type(message.events[0]) is SimulationEnds
        self._asked = True
        return message

    def answer(self, reply: Message) -> None:
        """Carry out the decisions of ``reply``, as ``send`` does."""
        if not self._asked:
            raise SimulatorError("there is no message to answer")
        self._asked = False
        if self._over:
            if reply.events:
                raise InvalidDecision(
                    f"invalid decision: {reply.events[0].type} in the answer to SIMULATION_ENDS, which takes none"
                )
            return
        try:
            self._conversation.answer(reply)
        except (ValueError, PlatformError) as error:
            raise SimulationAborted(f"Batsim would abort: {error}") from None

    def _why_stuck(self) -> str:
        waiting = self._engine.waiting_jobs()
        if not waiting and self._engine.server.registration_over():
            return "nothing can happen any more, and a workflow or a trace waits for what will never come"
        if not waiting:
            return "nothing can happen any more: dynamic jobs are enabled, and registration_finished was never said"
        names = ", ".join(job.id for job in waiting[:SHOWN])
        more = f" and {len(waiting) - SHOWN} more" if len(waiting) > SHOWN else ""
        return f"nothing can happen any more, and jobs wait that were neither started nor rejected: {names}{more}"

    # Results

    @property
    def records(self) -> list[JobRecord]:
        """The jobs that have ended so far, in order of completion and rejection."""
        return [job.record() for job in self._engine.server.ended]

    @property
    def books(self) -> Books:
        """The records of machines and energy so far."""
        return self._engine.books

    @property
    def nb_machines(self) -> int:
        """The number of hosts that jobs may use, storage included."""
        return len(self._engine.hosts)
