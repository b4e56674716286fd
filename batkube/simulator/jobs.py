"""Jobs as the simulator knows them."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from batkube.batsim.messages import CompletedState
from batkube.batsim.profiles import Profile
from batkube.batsim.workload import Job

if TYPE_CHECKING:
    from batkube.simulator.execution import Execution


class JobState(Enum):
    """The state of a job. It only moves forward."""

    NOT_SUBMITTED = auto()
    SUBMITTED = auto()
    RUNNING = auto()
    COMPLETED = auto()
    REJECTED = auto()


@dataclass(slots=True, eq=False)
class SimulatedJob:
    """A job from its submission to its end. Dates are picoseconds."""

    id: str
    """``WORKLOAD!NAME``."""
    workload: str
    job: Job
    elements: dict[str, Profile]
    """Its profile and all it is composed of, by name."""
    wire: dict[str, Any]
    """The job as JOB_SUBMITTED shows it."""
    state: JobState = JobState.NOT_SUBMITTED
    hosts: tuple[int, ...] = ()
    allocation: str = ""
    """The interval set of its hosts."""
    start: float = 0.0
    finish: float = 0.0
    place: int = 0
    """The job's number in order of the starts, in which completions at one date are told."""
    final_state: CompletedState | None = None
    return_code: int = -1
    """Batsim's return code, also for a job that is killed before it has one."""
    execution: "Execution | None" = None
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
        self.profile = self.elements[self.job.profile]

    def receive(self, text: str) -> None:
        """Take a message of TO_JOB_MSG."""
        if self.inbox is None:
            self.inbox = deque()
        self.inbox.append(text)
