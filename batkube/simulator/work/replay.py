"""A job that replays traces: an actor for each rank, on a host of the job, and the job's own actor that waits for them.

The rules are those of ``execute_task`` in Batsim's ``jobs_execution.cpp``: a rank that has ended its trace sends four
bytes to the host of the job's actor, one rank after the other; the job ends when the last bytes have come.
"""

from collections import deque
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, repeat
from typing import TYPE_CHECKING, Protocol

from batkube.batsim.profiles import Flow, TraceProfile
from batkube.batsim.topology import Host
from batkube.batsim.traces import Action
from batkube.event_queue import Entry
from batkube.simulator.controls.control import Time, Waiting
from batkube.simulator.sharing.parallel_task import demand
from batkube.simulator.sharing.tasks import Task
from batkube.simulator.time.event_queue import Rank
from batkube.simulator.work.leaves import AT_WALLTIME, KILLED, nothing

if TYPE_CHECKING:
    from batkube.simulator.work.execution import Execution

FAREWELL = 4.0
"""The bytes that a rank sends when it has ended its trace."""


class Player(Protocol):
    """Plays the actions of one rank, and calls the function that it was made with when it has ended."""

    def start(self) -> None: ...


class Work:
    """The tasks and sleeps of a job's ranks, so that they can be stopped."""

    def __init__(self, execution: "Execution") -> None:
        self._execution = execution
        self._tasks: dict[Task, None] = {}
        self._entries: dict[Waiting, None] = {}
        self.stopped = False

    def task(
        self, hosts: Sequence[Host], flops: Sequence[float], flows: Sequence[Flow], then: Callable[[], None]
    ) -> None:
        """Run a parallel task; its actor goes on with ``then``."""
        machinery = self._execution.machinery
        asked = demand(hosts, flops, flows, machinery.infrastructure)

        def ended() -> None:
            del self._tasks[task]
            machinery.tasks.stop(task)
            machinery.control.resume(then)

        task = machinery.tasks.start(asked, machinery.now(), ended)
        self._tasks[task] = None

    def sleep(self, duration: int, then: Callable[[], None]) -> None:
        """Sleep so many picoseconds, then go on."""

        def woken() -> None:
            del self._entries[entry]
            then()

        entry = self._execution.machinery.control.sleep(duration, Rank.DELAY, woken)
        self._entries[entry] = None

    def stop(self) -> None:
        """Stop all tasks and sleeps."""
        self.stopped = True
        for task in self._tasks:
            self._execution.machinery.tasks.stop(task)
        for entry in self._entries:
            entry.cancel()
        self._tasks.clear()
        self._entries.clear()


class ReplayLeaf:
    """Replays traces until all ranks have ended, or until the walltime."""

    in_task = False

    def __init__(self, profile: TraceProfile, execution: "Execution") -> None:
        self._profile = profile
        self._execution = execution
        self.work = Work(execution)
        self.actions: Sequence[Sequence[Action]] = execution.machinery.traces.of(execution.job.workload, profile).ranks
        self.hosts = [execution.placement.executors[place] for place in self._places()]
        """The hosts by rank."""
        self._waiting: deque[int] = deque()
        """The ranks that have ended their trace and wait to say so."""
        self._left = len(self.actions)
        self._killed = False
        self._alarm: Entry | None = None
        self._began: Time = 0

    def _places(self) -> Sequence[int]:
        job = self._execution.job.description
        ranks = len(self.actions)
        return job.smpi_ranks_to_hosts_mapping or [rank % job.res for rank in range(ranks)]

    def player(self, rank: int, through: Callable[[], None]) -> Player:
        """Return the player of a rank."""
        raise NotImplementedError

    def heard(self, rank: int) -> None:
        """Note that the job has heard that a rank has ended: the rank's actor is gone."""

    def start(self) -> None:
        control = self._execution.machinery.control
        players = [self.player(rank, partial(self._through, rank)) for rank in range(len(self.actions))]
        # The job's actor looks up the mailbox of its ranks, and makes them.
        made = (partial(control.resume, player.start) for player in players)
        control.in_turn(chain([nothing], made), self._listen)

    def _listen(self) -> None:
        """Wait for the next rank, at most until the walltime."""
        if self.work.stopped:
            return
        control = self._execution.machinery.control
        self._began = control.now()
        if self._execution.remaining >= 0:
            control.in_turn(iter([nothing, self._set_alarm]), nothing)

    def _set_alarm(self) -> None:
        if not self.work.stopped:
            control = self._execution.machinery.control
            self._alarm = control.after(self._execution.remaining, Rank.WALLTIME, self._interrupted)

    def _through(self, rank: int) -> None:
        if self.work.stopped:
            return
        self._waiting.append(rank)
        if len(self._waiting) == 1:
            self._hear()

    def _hear(self) -> None:
        hosts = [self.hosts[self._waiting[0]], self._execution.placement.host]
        self.work.task(hosts, [0.0, 0.0], [(0, 1, FAREWELL)], self._heard)

    def _heard(self) -> None:
        if self.work.stopped:
            return
        self.heard(self._waiting.popleft())
        self._left -= 1
        if self._alarm is not None:
            self._alarm.cancel()
            self._execution.remaining -= self._execution.machinery.control.now() - self._began
        if not self._left:
            self._clear()
            self._execution.leaf_ended(self._profile.ret)
            return
        self._listen()
        if self._waiting:
            self._hear()

    def _interrupted(self) -> None:
        self._clear()
        control = self._execution.machinery.control
        # The job's actor kills the ranks' actors, one after the other.
        killed = repeat(nothing, self._left)
        control.resume(lambda: control.in_turn(killed, self._end))

    def _end(self) -> None:
        if not self._killed:
            self._execution.leaf_ended(AT_WALLTIME)

    def stop(self) -> int:
        self._killed = True
        self._clear()
        return KILLED

    def _clear(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        self.work.stop()

    def progress(self) -> float | None:
        """Return None: Batsim does not know."""
        return None
