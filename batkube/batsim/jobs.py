"""Jobs: what they ask for, the states they go through, and what becomes of them.

The simulator and the bridge have the same jobs: each keeps a JobDescription and a JobLife, and beside them what only it
needs.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field, ValidationError, model_validator

from batkube.batsim.errors import ProtocolError
from batkube.batsim.input_file import FileObject, explain
from batkube.batsim.job_id import split_job_id

JSON = dict[str, Any]

MAX_DATE = 1e18
"""The largest date or length in seconds (30 billion years). A larger one is taken for a mistake."""
MAX_RESOURCES = 10_000_000


def job_name(value: object) -> object:
    """Return the name of a job for an id as in a file: a number becomes its digits."""
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value


def _not_empty(name: str) -> str:
    if not name:
        raise ValueError("must not be empty")
    return name


JobName = Annotated[str, BeforeValidator(job_name), AfterValidator(_not_empty)]
"""The name alone, without the workload."""


def _no_walltime(value: object) -> object:
    if value is None:
        raise ValueError("expected a number, -1 for none, or nothing at all, not null")
    return None if value == -1 and not isinstance(value, bool) else value


class JobDescription(FileObject):
    """A job as a workload file or Batsim describes it.

    Times are simulated seconds; members that Batsim does not know are in ``extra``.
    """

    id: JobName
    subtime: Annotated[float, Field(ge=-MAX_DATE, le=MAX_DATE, allow_inf_nan=False)]
    """The date of submission. Batsim submits a job with a negative date at 0."""
    res: Annotated[int, Field(ge=0, le=MAX_RESOURCES)]
    """The number of hosts; a job with 0 can be read and never run."""
    profile: str
    walltime: Annotated[
        Annotated[float, Field(gt=0, le=MAX_DATE, allow_inf_nan=False)] | None, BeforeValidator(_no_walltime)
    ] = None
    """The seconds after which the job is stopped; None (-1 in the file, or nothing) for never."""
    smpi_ranks_to_hosts_mapping: list[int] = Field(default_factory=list)
    """The number of the job's host that each rank of a trace is on; round robin if it is empty."""

    @model_validator(mode="after")
    def _ranks_on_hosts(self) -> "JobDescription":
        for rank, place in enumerate(self.smpi_ranks_to_hosts_mapping):
            if not 0 <= place < self.res:
                raise ValueError(f"smpi_ranks_to_hosts_mapping: rank {rank}: expected 0 to {self.res - 1}, not {place}")
        return self


def parse_job(raw: JSON) -> JobDescription:
    """Return the job that ``raw``, a JSON object with the bare id, describes. Raises ValueError, naming the member."""
    try:
        job = JobDescription.model_validate(raw)
    except ValidationError as error:
        raise ValueError(explain(error)) from None
    job._raw = raw
    return job


def submitted_job(job_id: str, raw: JSON) -> JobDescription:
    """Return the job of a JOB_SUBMITTED. Raises ProtocolError, naming job and member.

    Batsim prints six decimals: the walltime of a job without one is -1, that of a job with hardly any may be 0.
    """
    _, name = split_job_id(job_id)
    told = {**raw, "id": name}
    walltime = told.get("walltime")
    if walltime is None or (isinstance(walltime, int | float) and walltime <= 0):
        told.pop("walltime", None)
    try:
        return parse_job(told)
    except ValueError as error:
        raise ProtocolError(f"JOB_SUBMITTED of {job_id}: job.{error}: {raw}") from None


class JobState(StrEnum):
    """The states of a job, in Batsim's words. It only moves forward."""

    NOT_SUBMITTED = "NOT_SUBMITTED"
    SUBMITTED = "SUBMITTED"
    RUNNING = "RUNNING"
    COMPLETED_SUCCESSFULLY = "COMPLETED_SUCCESSFULLY"
    COMPLETED_FAILED = "COMPLETED_FAILED"
    COMPLETED_WALLTIME_REACHED = "COMPLETED_WALLTIME_REACHED"
    COMPLETED_KILLED = "COMPLETED_KILLED"
    REJECTED = "REJECTED"

    @property
    def completed(self) -> bool:
        """True if the job ran, and has ended."""
        return self in COMPLETED


COMPLETED = (
    JobState.COMPLETED_SUCCESSFULLY,
    JobState.COMPLETED_FAILED,
    JobState.COMPLETED_WALLTIME_REACHED,
    JobState.COMPLETED_KILLED,
)
"""The states of a job that ran, and has ended."""

_NEXT: dict[JobState, tuple[JobState, ...]] = {
    JobState.NOT_SUBMITTED: (JobState.SUBMITTED,),
    JobState.SUBMITTED: (JobState.RUNNING, JobState.REJECTED),
    JobState.RUNNING: COMPLETED,
}


@dataclass(slots=True)
class JobLife:
    """The course of a job so far. Dates are simulated seconds."""

    state: JobState = JobState.NOT_SUBMITTED
    starting_time: float | None = None
    finish_time: float | None = None
    return_code: int = 0
    """Batsim's return code, once the job has completed: 0, that of its profile, -1 or -2."""

    def move(self, state: JobState) -> None:
        """Go on to ``state``. Raises ValueError if that is not a step forward."""
        if state not in _NEXT.get(self.state, ()):
            raise ValueError(f"was {self.state} and cannot become {state}")
        self.state = state

    def complete(self, state: JobState, return_code: int, date: float) -> None:
        """End at ``date`` with one of the states of COMPLETED. Raises ValueError if the job does not run."""
        self.move(state)
        self.return_code = return_code
        self.finish_time = date


def _completed(state: JobState) -> JobState:
    if not state.completed:
        raise ValueError(f"expected one of {', '.join(COMPLETED)}")
    return state


StateWord = Annotated[JobState, Field(strict=False)]
"""A state in a message."""
CompletedState = Annotated[StateWord, AfterValidator(_completed)]
"""A state of a completed job in a message."""
