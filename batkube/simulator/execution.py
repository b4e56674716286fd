"""A job that runs: its profile played element by element on its hosts."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from batkube.batsim.messages import LeafProgress, Progress, SequenceProgress
from batkube.batsim.platform import Host
from batkube.batsim.profiles import ComposedProfile, DelayProfile, Profile
from batkube.batsim.routing import Router
from batkube.simulator.agenda import Agenda, Entry, Rank
from batkube.simulator.bottleneck import Task, Tasks
from batkube.simulator.dates import SECOND, nanoseconds
from batkube.simulator.parallel_task import Demand, Work, demand, storages, work

KILLED_IN_DELAY = -1
KILLED_IN_TASK = -2
"""Return codes of a killed job, by what was running."""


class Machinery:
    """What executions share."""

    def __init__(self, agenda: Agenda, router: Router, clock: Callable[[], int]) -> None:
        self.agenda = agenda
        self.router = router
        self.now = clock
        self.tasks = Tasks(agenda)


class _Sequence:
    """A composed profile under way."""

    __slots__ = ("index", "profile")

    def __init__(self, profile: ComposedProfile) -> None:
        self.profile = profile
        self.index = 0
        """Counts over all repetitions."""

    @property
    def element(self) -> str:
        return self.profile.seq[self.index % len(self.profile.seq)]

    @property
    def finished(self) -> bool:
        return self.index >= len(self.profile.seq) * self.profile.repeat


@dataclass(slots=True)
class Placement:
    """Where a job runs."""

    executors: Sequence[Host]
    """The host of each."""
    storages: Mapping[str, Host] = field(default_factory=dict)
    """By the name that profiles call them."""
    io: tuple[Sequence[Host], Work] | None = None
    """Hosts and work of an additional I/O job, which is part of every parallel task."""


class Execution:
    """Plays ``profile``, whose elements are in ``profiles``, and calls ``on_end`` with the return code.

    Construction starts nothing: ``start`` does.
    """

    def __init__(
        self,
        profile: Profile,
        profiles: Mapping[str, Profile],
        placement: Placement,
        machinery: Machinery,
        on_end: Callable[[int], None],
    ) -> None:
        self._profile = profile
        self._profiles = profiles
        self._placement = placement
        self._machinery = machinery
        self._on_end = on_end
        self._sequences: list[_Sequence] = []
        self._leaf = profile
        self._began = 0
        self._delay: Entry | None = None
        self._task: Task | None = None
        self._demands: dict[str, Demand] = {}

    def prepare(self) -> None:
        """Work out what the parallel tasks ask for. Raises PlatformError where the platform has no route for one."""
        placement = self._placement
        for name, profile in self._profiles.items():
            if isinstance(profile, (DelayProfile, ComposedProfile)):
                continue
            executors = list(placement.executors)
            flops, flows = work(profile, len(executors))
            executors += [placement.storages[storage] for storage in storages(profile)]
            if placement.io is not None:
                hosts, (io_flops, io_flows) = placement.io
                first = len(executors)
                executors += hosts
                flops = [*flops, *io_flops]
                flows = flows + [(first + source, first + to, amount) for source, to, amount in io_flows]
            self._demands[name] = demand(executors, flops, flows, self._machinery.router)

    def certainly_shorter(self, walltime: int) -> bool:
        """Whether it will last less than so many nanoseconds, whatever else runs: it is nothing but a shorter delay."""
        return isinstance(self._profile, DelayProfile) and nanoseconds(self._profile.delay) < walltime

    def start(self) -> None:
        """Begin, now. After ``prepare``."""
        self._play(self._profile)

    def _play(self, profile: Profile) -> None:
        while isinstance(profile, ComposedProfile):
            self._sequences.append(_Sequence(profile))
            profile = self._profiles[profile.seq[0]]
        machinery = self._machinery
        now = machinery.now()
        self._leaf = profile
        self._began = now
        if isinstance(profile, DelayProfile):
            self._delay = machinery.agenda.add(now + nanoseconds(profile.delay), Rank.DELAY, self._leaf_ends)
        else:
            self._task = machinery.tasks.start(self._demands[profile.name], now, self._leaf_ends)

    def _leaf_ends(self) -> None:
        self._clear()
        code = self._leaf.ret
        while self._sequences:
            sequence = self._sequences[-1]
            sequence.index += 1
            if code == 0 and not sequence.finished:
                self._play(self._profiles[sequence.element])
                return
            self._sequences.pop()
            code = code or sequence.profile.ret
        self._on_end(code)

    def stop(self) -> int:
        """End it before its time; the return code."""
        code = KILLED_IN_TASK if self._task is not None else KILLED_IN_DELAY
        self._clear()
        return code

    def _clear(self) -> None:
        if self._delay is not None:
            self._delay.cancel()
            self._delay = None
        if self._task is not None:
            self._machinery.tasks.stop(self._task)
            self._task = None

    def progress(self) -> Progress:
        """How far it is, as JOB_KILLED tells it."""
        now = self._machinery.now()
        if self._task is not None:
            done = self._task.progress(now)
        elif isinstance(self._leaf, DelayProfile):
            done = min(1.0, (now - self._began) / (self._leaf.delay * SECOND))
        else:
            done = 1.0
        tree: Progress = LeafProgress(profile_name=self._leaf.name, progress=done)
        for sequence in reversed(self._sequences):
            tree = SequenceProgress(
                profile_name=sequence.profile.name, current_task_index=sequence.index, current_task=tree
            )
        return tree
