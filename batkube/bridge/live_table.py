"""The states of jobs and hosts as Batsim knows them, kept to refuse decisions that would make it abort.

Batsim answers an invalid decision with SIGABRT, and the simulation is lost. A decision that this table refuses is a
fault of the bridge; it ends the run with the reason, before Batsim sees it.
"""

from batkube.batsim import messages as m
from batkube.batsim.allocation import parse_intervals
from batkube.batsim.jobs import COMPLETED, JobState
from batkube.bridge.errors import InvariantBroken

_HOW = {
    JobState.SUBMITTED: "was submitted and not started",
    JobState.RUNNING: "was started",
    JobState.REJECTED: "was rejected",
    **dict.fromkeys(COMPLETED, "has completed, and Batsim has told so"),
}


class LiveTable:
    """The jobs from their submission to their end, and the hosts that can take none at the moment."""

    def __init__(self) -> None:
        self.exclusive = True
        """True if a host takes one job at a time (Batsim without ``--enable-compute-sharing``)."""
        self._states: dict[str, JobState] = {}
        self._hosts_of: dict[str, tuple[int, ...]] = {}
        self._users: dict[int, int] = {}
        """The number of jobs on each host."""
        self._closed: dict[int, str] = {}

    @property
    def running(self) -> int:
        """The number of jobs that were started and whose completion Batsim has not told."""
        return len(self._hosts_of)

    # Batsim's messages

    def submitted(self, job_id: str) -> None:
        """Note JOB_SUBMITTED."""
        self._states[job_id] = JobState.SUBMITTED

    def completed(self, job_id: str, state: JobState) -> None:
        """Note JOB_COMPLETED: Batsim forgets the job with this message."""
        if self._states.get(job_id) is JobState.RUNNING:
            for host in self._hosts_of.pop(job_id):
                self._users[host] -= 1
        self._states[job_id] = state

    def forget(self, job_id: str) -> None:
        """Forget a job that is over, of which nothing more will be said."""
        self._states.pop(job_id, None)

    def close_host(self, number: int, why: str) -> None:
        """Let the host take no job from now on: it is ``unavailable``, ``asleep`` ..."""
        self._closed[number] = why

    def open_host(self, number: int) -> None:
        """Let the host take jobs again."""
        self._closed.pop(number, None)

    # Decisions for Batsim

    def check(self, decision: m.Event) -> None:
        """Note a decision that is about to be sent. Raises InvariantBroken if Batsim would abort on it."""
        match decision:
            case m.ExecuteJob():
                self._execute(decision.data)
            case m.RejectJob():
                self._expect("REJECT_JOB", decision.data.job_id, JobState.SUBMITTED)
                self._states[decision.data.job_id] = JobState.REJECTED
            case m.KillJob():
                for job_id in decision.data.job_ids:
                    self._expect("KILL_JOB", job_id, JobState.RUNNING)

    def _execute(self, data: m.ExecuteJobData) -> None:
        self._expect("EXECUTE_JOB", data.job_id, JobState.SUBMITTED)
        hosts = parse_intervals(data.alloc)
        users, closed = self._users, self._closed
        for host in hosts:
            if why := closed.get(host):
                raise _would_abort("EXECUTE_JOB", data.job_id, f"host {host} is {why}")
            if self.exclusive and users.get(host):
                raise _would_abort("EXECUTE_JOB", data.job_id, f"host {host} is in use, and hosts are not shared")
        self._states[data.job_id] = JobState.RUNNING
        self._hosts_of[data.job_id] = hosts
        for host in hosts:
            users[host] = users.get(host, 0) + 1

    def _expect(self, what: str, job_id: str, state: JobState) -> None:
        found = self._states.get(job_id)
        if found is not state:
            raise _would_abort(what, job_id, f"the job {_HOW[found] if found else 'was never submitted'}")


def _would_abort(what: str, job_id: str, why: str) -> InvariantBroken:
    return InvariantBroken(f"{what} of {job_id} would make Batsim abort: {why}")
