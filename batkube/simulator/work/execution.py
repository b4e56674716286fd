"""A job that runs: its profile is played element by element on its hosts."""

from collections.abc import Callable, Mapping
from typing import Any

from batkube.batsim.messages import LeafProgress, Progress, SequenceProgress
from batkube.batsim.platform import Resources
from batkube.batsim.profiles import ComposedProfile, DelayProfile, Profile, RecvProfile, SendProfile, TraceProfile
from batkube.simulator.books.jobs import SimulatedJob
from batkube.simulator.controls.control import Control, Time
from batkube.simulator.sharing.infrastructure import Infrastructure
from batkube.simulator.sharing.parallel_task import Demand, demand
from batkube.simulator.sharing.tasks import Tasks
from batkube.simulator.time.clock import Clock
from batkube.simulator.time.event_queue import SimulatedEvents
from batkube.simulator.work.additional_io import merged_work
from batkube.simulator.work.job_messages import RecvLeaf, SendLeaf
from batkube.simulator.work.job_traces import JobTraces
from batkube.simulator.work.leaves import KILLED_IN_TASK, DelayLeaf, Leaf, PacedDelayLeaf, TaskLeaf
from batkube.simulator.work.placement import Placement
from batkube.simulator.work.slowness import Slowness
from batkube.simulator.work.smpi import Mpi, SmpiLeaf
from batkube.simulator.work.usage_trace import UsageTraceLeaf

LEAST_FLOPS = 1e-10
"""Batsim lets a storage host compute fewer flops than this."""
WALLTIME_REACHED = -1
"""The return code of what was being played at the walltime."""

LEAVES: dict[type[Profile], Callable[[Any, "Execution"], Leaf]] = {
    DelayProfile: lambda profile, execution: (PacedDelayLeaf if execution.is_paced else DelayLeaf)(profile, execution),
    SendProfile: SendLeaf,
    RecvProfile: RecvLeaf,
    TraceProfile: lambda profile, execution: (SmpiLeaf if profile.smpi else UsageTraceLeaf)(profile, execution),
}
"""The leaves that play the profiles; all other profiles are parallel tasks."""


class Machinery:
    """The parts that executions share."""

    def __init__(
        self,
        queue: SimulatedEvents,
        infrastructure: Infrastructure,
        clock: Clock,
        tasks: Tasks,
        control: Control,
        resources: Resources,
        traces: JobTraces,
        slowness: Slowness,
    ) -> None:
        self.hosts = resources.numbered
        self.storage = frozenset(host.name for host in resources.storage)
        """The names of the hosts that store, and compute nothing."""
        self.queue = queue
        self.infrastructure = infrastructure
        self.clock = clock
        self.tasks = tasks
        self.control = control
        self.traces = traces
        self.slowness = slowness
        self.mpi = Mpi()

    def now(self) -> int:
        return self.clock.now


class _Sequence:
    """A composed profile that is being played."""

    __slots__ = ("index", "io", "profile")

    def __init__(self, profile: ComposedProfile, io: Profile | None) -> None:
        self.profile = profile
        self.io = io
        """The sequence of the additional I/O job that goes with it."""
        self.index = 0
        """The number of the element, counted over all repetitions."""

    def next(self) -> bool:
        """Go on to the element after the one that has ended; tell whether there is another one."""
        self.index += 1
        return self.index < len(self.profile.seq) * self.profile.repeat

    @property
    def element(self) -> str:
        return self.profile.seq[self.index % len(self.profile.seq)]

    def progress(self, element: Progress) -> Progress:
        return SequenceProgress(profile_name=self.profile.name, current_task_index=self.index, current_task=element)


class _Received:
    """The profile that a ``recv`` profile has chosen to play."""

    __slots__ = ("profile",)

    def __init__(self, profile: RecvProfile) -> None:
        self.profile = profile

    def next(self) -> bool:
        """Return False: it is a single profile."""
        return False

    def progress(self, element: Progress) -> Progress:
        raise ValueError(f"Batsim aborts on a kill of what a recv profile plays ({self.profile.name!r})")


class Execution:
    """Plays the profile of a job; calls ``on_end`` with the return code, and ``on_message`` with messages of the job.

    ``profiles``: the profiles of the job's workload, from which a ``recv`` profile chooses. Construction starts
    nothing: ``start`` does.
    """

    def __init__(
        self,
        job: SimulatedJob,
        placement: Placement,
        machinery: Machinery,
        *,
        on_end: Callable[[int], None],
        on_message: Callable[[Any], None],
        profiles: Mapping[str, Profile],
    ) -> None:
        self.job = job
        self.placement = placement
        self.machinery = machinery
        self.on_message = on_message
        self.remaining: Time = -1
        """The rest of the walltime, messages not counted; below 0 if there is none (``remaining_time``)."""
        self.left_over: Callable[[], None] | None = None
        """Stops what was being played at the walltime."""
        self._on_end = on_end
        self._all_profiles = profiles
        self._frames: list[_Sequence | _Received] = []
        self._leaf: Leaf | None = None
        self._playing = job.profile
        self._playing_io: Profile | None = None
        self._demands: dict[tuple[str, str | None], Demand] = {}

    @property
    def is_paced(self) -> bool:
        """True if its delays are work, on one host: the process of a pod."""
        return len(self.placement.numbers) == 1 and self.machinery.slowness.paces(self.job.workload)

    @property
    def deadline(self) -> int | None:
        """The date of the walltime, if what is played now goes on until then."""
        if self.remaining < 0:
            return None
        return self.machinery.now() + self.machinery.control.picoseconds(self.remaining)

    def prepare(self) -> None:
        """Compute the demands of the parallel tasks. Raises ValueError, and PlatformError if a route is missing."""
        if self.placement.io is not None:
            self._prepare_with_io(self.job.profile, self.placement.io.profile, set())
            return
        for profile in self.job.elements.values():
            if profile.is_task:
                self._demand(profile, None)

    def _prepare_with_io(self, profile: Profile, io: Profile, done: set[tuple[str, str]]) -> None:
        if (profile.name, io.name) in done:
            return
        done.add((profile.name, io.name))
        if profile.elements:
            for index, name in enumerate(profile.elements):
                element = self._io_element(io, index)
                assert element is not None
                self._prepare_with_io(self.job.elements[name], element, done)
        elif profile.is_task:
            self._demand(profile, io)

    def _io_element(self, io: Profile | None, index: int) -> Profile | None:
        return None if io is None or self.placement.io is None else self.placement.io.element(io, index)

    def demand(self) -> Demand:
        """Return the demand of the parallel task that is played."""
        return self._demand(self._playing, self._playing_io)

    def _demand(self, profile: Profile, io: Profile | None) -> Demand:
        key = (profile.name, io.name if io is not None else None)
        if key not in self._demands:
            self._demands[key] = self._work_out(profile, io)
        return self._demands[key]

    def _work_out(self, profile: Profile, io: Profile | None) -> Demand:
        placement = self.placement
        if io is None or placement.io is None:
            executors = list(placement.executors)
            flops, flows = profile.work(len(executors))
            executors += [placement.storages[storage] for storage in profile.storages]
        else:
            numbers, (flops, flows) = merged_work(profile, placement.numbers, io, placement.io.hosts)
            executors = [self.machinery.hosts[number] for number in numbers]
        for host, amount in zip(executors, flops, strict=True):
            if amount > LEAST_FLOPS and host.name in self.machinery.storage:
                raise ValueError(f"some computation ({amount:g}) is assigned to the storage host {host.name}")
        return demand(executors, flops, flows, self.machinery.infrastructure)

    def start(self) -> None:
        """Begin now. To be called after ``prepare``."""
        walltime = self.job.description.walltime
        if walltime is not None:
            self.remaining = self.machinery.control.time(walltime)
        io = self.placement.io
        self._play(self.job.profile, None if io is None else io.profile)

    def _play(self, profile: Profile, io: Profile | None) -> None:
        while isinstance(profile, ComposedProfile):
            self._frames.append(_Sequence(profile, io))
            profile, io = self._element(self._frames[-1])
        self._playing, self._playing_io = profile, io
        self._leaf = LEAVES.get(type(profile), TaskLeaf)(profile, self)
        self._leaf.start()

    def _element(self, sequence: "_Sequence | _Received") -> tuple[Profile, Profile | None]:
        assert isinstance(sequence, _Sequence)
        return self.job.elements[sequence.element], self._io_element(sequence.io, sequence.index)

    def play_instead(self, profile: RecvProfile, name: str) -> None:
        """Go on with another profile in place of a ``recv`` profile."""
        chosen = self._all_profiles.get(name)
        if chosen is None:
            raise ValueError(f"job {self.job.id}: profile {profile.name!r}: there is no profile {name!r} any more")
        if chosen.elements:
            raise ValueError(f"job {self.job.id}: Batsim crashes on {name!r}, a composed profile chosen by a recv one")
        self._frames.append(_Received(profile))
        self._play(chosen, None)

    def leaf_ended(self, code: int) -> None:
        """Go on after what was played last has ended with a return code. A leaf calls this, as the job's actor."""
        self._leaf = None
        while self._frames:
            frame = self._frames[-1]
            if code == 0 and frame.next():
                self._play(*self._element(frame))
                return
            self._frames.pop()
            code = code or frame.profile.ret
        self._on_end(code)

    @property
    def in_task(self) -> bool:
        """True if a parallel task is under way."""
        return self._leaf is not None and self._leaf.in_task

    def stop(self) -> int:
        """End it before its time, and return the return code."""
        assert self._leaf is not None
        return self._leaf.stop()

    def cancel(self) -> None:
        """End the parallel task that is under way: the job's actor goes on without it."""
        self.machinery.control.end(self.stop, lambda: self.leaf_ended(KILLED_IN_TASK))

    def close(self) -> None:
        """End what the job's actor, which does not exist any more, has left over."""
        if self.left_over is not None:
            self.left_over()

    def progress(self) -> Progress:
        """Return its progress, as JOB_KILLED tells it. Raises ValueError where Batsim aborts."""
        assert self._leaf is not None
        done = self._leaf.progress()
        name = self._playing.name
        tree: Progress = (
            SequenceProgress(profile_name=name, current_task_index=-1)
            if done is None
            else LeafProgress(profile_name=name, progress=done)
        )
        for frame in reversed(self._frames):
            tree = frame.progress(tree)
        return tree
