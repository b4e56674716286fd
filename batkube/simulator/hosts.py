"""The hosts as jobs see them: up or down, and who is on them."""

from dataclasses import dataclass, field

from batkube.batsim.platform import Host, Resources


@dataclass(slots=True, eq=False)
class SimulatedHost:
    """A host that takes jobs."""

    number: int
    """Batsim's."""
    host: Host
    storage: bool
    available: bool = True
    jobs: dict[str, None] = field(default_factory=dict)
    """Ids of the jobs on it, in the order in which they came."""


class Hosts:
    """All numbered hosts. Raises ValueErrors that say why a host cannot be had."""

    def __init__(self, resources: Resources, *, compute_sharing: bool, storage_sharing: bool = True) -> None:
        self.all = [
            SimulatedHost(number, host, storage=number >= len(resources.compute))
            for number, host in enumerate(resources.numbered)
        ]
        self._shared = {False: compute_sharing, True: storage_sharing}

    def __len__(self) -> int:
        return len(self.all)

    def check(self, numbers: tuple[int, ...]) -> None:
        """Refuse hosts that are not there."""
        if numbers and numbers[-1] >= len(self.all):
            raise ValueError(f"there is no host {numbers[-1]}: hosts are numbered 0 to {len(self.all) - 1}")

    def take(self, job_id: str, numbers: tuple[int, ...]) -> None:
        """Put a job on hosts."""
        self.check(numbers)
        for number in numbers:
            host = self.all[number]
            if not host.available:
                raise ValueError(f"host {number} ({host.host.name}) is unavailable")
            if host.jobs and not self._shared[host.storage]:
                raise ValueError(f"host {number} ({host.host.name}) is busy with {next(iter(host.jobs))}")
        for number in numbers:
            self.all[number].jobs[job_id] = None

    def release(self, job_id: str, numbers: tuple[int, ...]) -> None:
        """Take a job off its hosts."""
        for number in numbers:
            del self.all[number].jobs[job_id]

    def set_available(self, numbers: tuple[int, ...], available: bool) -> None:
        """Hosts go or come; jobs on them run on."""
        for number in numbers:
            self.all[number].available = available
