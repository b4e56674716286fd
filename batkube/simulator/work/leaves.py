"""The parts of a job that are played one at a time: a delay or a parallel task, each under the job's walltime."""

from collections.abc import Callable
from itertools import repeat
from typing import TYPE_CHECKING, Protocol

from batkube.batsim.profiles import DelayProfile, Profile
from batkube.event_queue import Entry
from batkube.simulator.controls.control import Time, Waiting
from batkube.simulator.sharing.tasks import Task
from batkube.simulator.time.event_queue import Rank

if TYPE_CHECKING:
    from batkube.simulator.work.execution import Execution

KILLED = -1
KILLED_IN_TASK = -2
"""The return codes of a killed job. Batsim's task returns its own; of other jobs the actor is killed."""
AT_WALLTIME = -1
REQUESTS_OF_A_TASK = 3
"""The number of requests that an actor makes to SimGrid before it starts a parallel task: flops, bytes, hosts."""


def nothing() -> None:
    """Do nothing, for a request of SimGrid without effect on the simulated hosts."""


class Leaf(Protocol):
    """A part of an execution that is made of its profile and ends by ``execution.leaf_ended``."""

    @property
    def in_task(self) -> bool:
        """True while it is a parallel task: a kill cancels only the task, and the job's actor goes on."""
        ...

    def start(self) -> None: ...

    def stop(self) -> int:
        """Stop for a kill of the job, and return the job's return code."""
        ...

    def progress(self) -> float | None:
        """Return how much is done, from 0 to 1; None if Batsim does not know."""
        ...


def sleep(
    execution: "Execution", duration: Time, then: Callable[[], None], woken: Callable[[], None] = nothing
) -> Waiting | None:
    """Sleep, then go on with ``then``; if the walltime comes first, end there (``do_delay_task``).

    ``woken`` is called first in both cases.
    """
    control, left = execution.machinery.control, execution.remaining

    def go_on() -> None:
        if left > 0:
            execution.remaining = left - duration
        then()

    def stop() -> None:
        execution.remaining = 0
        execution.leaf_ended(AT_WALLTIME)

    if left == 0:
        woken()
        stop()
        return None
    if left < 0 or duration < left:
        rest, rank, then_on = duration, Rank.DELAY, go_on
    else:
        rest, rank, then_on = left, Rank.WALLTIME, stop

    def wake() -> None:
        woken()
        execution.machinery.tasks.changes_on([execution.placement.host])
        then_on()

    return control.wait(rest, rank, wake)


class DelayLeaf:
    """A delay."""

    in_task = False

    def __init__(self, profile: DelayProfile, execution: "Execution") -> None:
        self._profile = profile
        self._execution = execution
        self._control = execution.machinery.control
        self._entry: Waiting | None = None
        self._began: Time = 0
        """The date at which it fell asleep."""

    def start(self) -> None:
        self._began = self._control.now()
        self._entry = sleep(self._execution, self._control.time(self._profile.delay), self._end)

    def _end(self) -> None:
        self._execution.leaf_ended(self._profile.ret)

    def stop(self) -> int:
        if self._entry is not None:
            self._entry.cancel()
        return KILLED

    def progress(self) -> float:
        return min(1.0, (self._control.now() - self._began) / self._control.time(self._profile.delay))


class PacedDelayLeaf(DelayLeaf):
    """A delay that is work: it takes longer while its host is slow, where Batsim's take as long on any host."""

    def __init__(self, profile: DelayProfile, execution: "Execution") -> None:
        super().__init__(profile, execution)
        self._slowness = execution.machinery.slowness
        self._host = execution.placement.host.name
        self._whole: Time = self._control.time(profile.delay)
        self._done: Time = 0
        """The work that was done when it went on at its present speed, as the time that it takes at full speed."""
        self._speed = 1.0

    def start(self) -> None:
        self._speed = self._slowness.speed(self._host)
        self._slowness.begin(self._host, self)
        self._sleep()

    def set_speed(self, speed: float) -> None:
        """Go on at another speed from now on; the walltime counts on as before."""
        if self._entry is not None:
            self._entry.cancel()
        if self._execution.remaining > 0:
            self._execution.remaining -= self._control.now() - self._began
        self._done, self._speed = min(self._work_done(), self._whole), speed
        self._sleep()

    def _sleep(self) -> None:
        self._began = self._control.now()
        rest = self._whole - self._done
        rest = rest if self._speed == 1.0 else rest / self._speed
        self._entry = sleep(self._execution, rest, self._end, self._over)

    def _work_done(self) -> Time:
        passed = self._control.now() - self._began
        return self._done + (passed if self._speed == 1.0 else passed * self._speed)

    def _over(self) -> None:
        self._slowness.end(self._host, self)

    def stop(self) -> int:
        self._over()
        return super().stop()

    def progress(self) -> float:
        return min(1.0, self._work_done() / self._whole)


class TaskLeaf:
    """A parallel task. One that ends at the walltime is done."""

    def __init__(self, profile: Profile, execution: "Execution") -> None:
        self._profile = profile
        self._execution = execution
        self._task: Task | None = None
        self._alarm: Entry | None = None
        self._over = False
        self._began: Time = 0
        self.in_task = False

    def start(self) -> None:
        self._execution.machinery.control.in_turn(repeat(nothing, REQUESTS_OF_A_TASK), self._begin)

    def _begin(self) -> None:
        if not self._over:
            self.in_task = True
            self._execution.machinery.control.in_turn(iter([self._run]), self._wait)

    def _run(self) -> None:
        if not self._over:
            machinery = self._execution.machinery
            self._began = machinery.control.now()
            self._task = machinery.tasks.start(self._execution.demand(), machinery.now(), self._done)

    def _wait(self) -> None:
        if not self._over and self._execution.remaining >= 0:
            self._execution.machinery.control.in_turn(iter([self._set_alarm]), nothing)

    def _set_alarm(self) -> None:
        if not self._over:
            control = self._execution.machinery.control
            self._alarm = control.after(self._execution.remaining, Rank.WALLTIME, self._interrupted)

    def _done(self) -> None:
        self._clear()
        if self._over:
            return
        if self._alarm is not None:
            self._execution.remaining -= self._execution.machinery.control.now() - self._began
        self._execution.machinery.control.resume(lambda: self._execution.leaf_ended(self._profile.ret))

    def _interrupted(self) -> None:
        self._over = True
        # No actor waits for the task any longer, but it takes its share as long as the job's actor lives.
        self._execution.left_over = self._clear
        self._execution.machinery.control.resume(lambda: self._execution.leaf_ended(AT_WALLTIME))

    def stop(self) -> int:
        self._over = True
        self._clear()
        return KILLED_IN_TASK if self.in_task else KILLED

    def _clear(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
        if self._task is not None:
            self._execution.machinery.tasks.stop(self._task)

    def progress(self) -> float | None:
        if not self.in_task:
            return None
        return self._task.progress(self._execution.machinery.now()) if self._task is not None else 0.0
