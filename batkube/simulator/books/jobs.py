"""Jobs as the simulator knows them."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from batkube.batsim.jobs import JobDescription, JobLife
from batkube.batsim.outputs import JobRecord
from batkube.batsim.profiles import Profile


@dataclass(slots=True, eq=False)
class SimulatedJob:
    """A job from its submission to its end."""

    id: str
    """``WORKLOAD!NAME``."""
    workload: str
    description: JobDescription
    elements: dict[str, Profile]
    """The job's profile and all that it is composed of, by name."""
    wire: dict[str, Any]
    """The job as JOB_SUBMITTED shows it."""
    life: JobLife = field(default_factory=JobLife)
    hosts: tuple[int, ...] = ()
    allocation: str = ""
    """The interval set of its hosts."""
    place: int = 0
    """The job's number in order of the starts, in which completions at one date are told."""
    inbox: "deque[str] | None" = None
    """The unread messages of the decision process to it (TO_JOB_MSG); None if there never was one."""
    kill_asked: bool = False
    announced: bool = False
    """True if its end is handled for the decision process: Batsim has forgotten the job."""
    metadata: str = ""
    consumed_energy: float | None = None
    """The joules of its hosts over its life; None if energy is not simulated."""
    on_completed: "Callable[[], None] | None" = None
    """The next step of its submitter, after the server has called it back."""

    profile: Profile = field(init=False)

    def __post_init__(self) -> None:
        self.profile = self.elements[self.description.profile]

    def receive(self, text: str) -> None:
        """Take a message of TO_JOB_MSG."""
        if self.inbox is None:
            self.inbox = deque()
        self.inbox.append(text)

    def record(self) -> JobRecord:
        """Return the row of jobs.csv for a job that is over."""
        return JobRecord.of(
            self.id,
            self.description,
            self.life,
            hosts=self.allocation,
            consumed_energy=self.consumed_energy,
            metadata=self.metadata,
        )
