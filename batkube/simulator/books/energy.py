"""Joules of hosts, counted as SimGrid's plugin ``host_energy`` counts them.

A meter is read when something happens on its host: a task or a delay ends there, a task of a single executor starts,
the pstate changes, or Batsim asks (at the start and end of each job, of all hosts). The time since the last reading is
charged at the load that the host has now. So if the load has changed in between without a reading, all of that time
counts at the new load. This is so when a task passes from its latency to its work, or follows a delay on several hosts.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain

from batkube.batsim.power import HostPower, PstateKind
from batkube.batsim.topology import Host
from batkube.event_queue import Action
from batkube.simulator.books.jobs import SimulatedJob
from batkube.simulator.books.pstate_changes import PstateChanges
from batkube.simulator.sharing.infrastructure import Cpu
from batkube.simulator.time.clock import Clock
from batkube.simulator.time.dates import SECOND

Usage = Callable[[Cpu], float]
"""The flops per second that tasks now take of a host."""


class Meter:
    """Counts the joules of a host, and knows its pstate."""

    __slots__ = ("cpu", "energy", "last", "power", "pstate")

    def __init__(self, cpu: Cpu, power: HostPower) -> None:
        self.cpu = cpu
        self.power = power
        self.pstate = cpu.host.pstate
        self.energy = 0.0
        self.last = 0
        """The date of the last reading, in picoseconds."""

    def read(self, now: int, usage: Usage) -> float:
        """Return the joules so far."""
        if self.last < now:
            self.energy += self._watts(usage) * ((now - self.last) / SECOND)
            self.last = now
        return self.energy

    @property
    def kind(self) -> PstateKind:
        """The kind of the present pstate."""
        return self.power.kinds[self.pstate]

    def _watts(self, usage: Usage) -> float:
        cpu = self.cpu
        # A host without speed counts as fully loaded.
        load = min(1.0, usage(cpu) / cpu.speed / cpu.cores) if cpu.speed > 0 else 1.0
        watts = self.power.ranges[self.pstate]
        return watts.epsilon + load * (watts.full - watts.epsilon) if load > 0 else watts.idle


class Energy:
    """The meters of all numbered hosts, and the rows of ``consumed_energy.csv``."""

    def __init__(self, cpus: Sequence[Cpu], powers: Sequence[HostPower], clock: Clock, usage: Usage) -> None:
        self.meters = [Meter(cpu, power) for cpu, power in zip(cpus, powers, strict=True)]
        """The meters by host number."""
        self.changes = PstateChanges(clock, (meter.pstate for meter in self.meters))
        self._by_host: Mapping[str, Meter] = {meter.cpu.host.name: meter for meter in self.meters}
        self._clock = clock
        self._usage = usage
        self._before: dict[SimulatedJob, float] = {}
        self._first: float | None = None
        self._last = -1.0
        self.rows: list[tuple[int, float, str, float]] = []
        """Date, joules of all hosts, kind (s: a job starts, e: it ends, p: pstates), least watts of all hosts."""

    def touch(self, hosts: Iterable[Host]) -> None:
        """Read the meters of these hosts: something happens on them."""
        now = self._clock.now
        for host in hosts:
            meter = self._by_host.get(host.name)
            if meter is not None:
                meter.read(now, self._usage)

    @property
    def total(self) -> float:
        """The joules so far of all hosts except the master."""
        now = self._clock.now
        return sum(meter.read(now, self._usage) for meter in self.meters)

    @property
    def of_jobs(self) -> float:
        """The joules from the first submission to the end of the last job, as in ``schedule.csv``."""
        return self._last - (-1.0 if self._first is None else self._first)

    @property
    def begun(self) -> bool:
        """True if static jobs have come."""
        return self._first is not None

    def readings(self, hosts: Sequence[int]) -> Iterator[Action]:
        """Yield, one after the other, the readings that are due now: of these hosts, then of all."""
        now = self._clock.now
        for meter in chain((self.meters[number] for number in hosts), self.meters):
            if meter.last < now:
                yield partial(meter.read, now, self._usage)

    def submitted(self) -> None:
        """Note that static jobs come."""
        if self._first is None:
            self._first = self.total

    def job_started(self, job: SimulatedJob) -> None:
        """Note that a job has come to its hosts."""
        self._before[job] = self._consumed(job)
        self.record("s")

    def job_ended(self, job: SimulatedJob) -> None:
        """Note that a job has left its hosts. All that they consumed during its life is charged to it."""
        job.consumed_energy = self._consumed(job) - self._before.pop(job)
        self._last = self.record("e")

    def _consumed(self, job: SimulatedJob) -> float:
        now = self._clock.now
        return sum(self.meters[number].read(now, self._usage) for number in job.hosts)

    def record(self, what: str) -> float:
        """Add a row, and return the joules of all hosts."""
        total = self.total
        least = sum(meter.power.ranges[meter.pstate].epsilon for meter in self.meters)
        self.rows.append((self._clock.now, total, what, least))
        return total

    def set_pstate(self, number: int, pstate: int) -> Cpu:
        """Let the host go on in another pstate."""
        meter = self.meters[number]
        meter.read(self._clock.now, self._usage)
        meter.pstate = pstate
        meter.cpu.set_speed(meter.cpu.host.speeds[pstate])
        return meter.cpu
