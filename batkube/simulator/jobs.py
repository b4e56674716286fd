"""Jobs as the simulator knows them."""

from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any

from batkube.batsim.messages import CompletedState
from batkube.batsim.profiles import Profile
from batkube.batsim.workload import Job

if TYPE_CHECKING:
    from batkube.simulator.agenda import Entry
    from batkube.simulator.execution import Execution


class JobState(Enum):
    """Where a job stands. It only moves forward."""

    NOT_SUBMITTED = auto()
    SUBMITTED = auto()
    RUNNING = auto()
    COMPLETED = auto()
    REJECTED = auto()


@dataclass(slots=True, eq=False)
class SimulatedJob:
    """A job from its submission to its end. Dates are nanoseconds."""

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
    start: int = 0
    finish: int = 0
    place: int = 0
    """Counts the starts: completions at one date are told in this order."""
    final_state: CompletedState | None = None
    execution: "Execution | None" = None
    walltime: "Entry | None" = None
    kill_asked: bool = False
    announced: bool = False
    """Its completion has been told: Batsim forgets such a job."""
    metadata: str = ""

    @property
    def profile(self) -> Profile:
        return self.elements[self.job.profile]
