"""The jobs of the workload: while they go on, so does what happens by schedule (CronJobs)."""

from batkube.bridge.job_control import JobControl
from batkube.bridge.time import SimulatedTime

LONGEST_WAIT = 86400.0
"""Simulated seconds for which the same jobs may wait, while none of the workload runs: they may wait for ever."""


class WorkloadWatch:
    """The jobs of Batsim's that wait or run."""

    def __init__(self, control: JobControl, time: SimulatedTime) -> None:
        self._control = control
        self._time = time
        self._waiting: tuple[str, ...] = ()
        self._since = 0.0

    def goes_on(self) -> bool:
        """Tell whether a job runs, or some wait that may still begin."""
        waiting = tuple(job.id for job in self._control.iter_waiting() if job.client is None)
        if self._control.runs_static_jobs or waiting != self._waiting:
            self._waiting, self._since = waiting, self._time.now
        return self._control.runs_static_jobs or (bool(waiting) and self._time.now < self._since + LONGEST_WAIT)
