"""The jobs of the workload: while they go on, so does what happens by schedule (CronJobs)."""

from batkube.bridge.job_control import JobControl
from batkube.bridge.registration import Registration
from batkube.bridge.time import SimulatedTime
from batkube.bridge.vigil import Vigil

LONGEST_WAIT = 86400.0
"""Simulated seconds for which the same jobs may wait, while none of the workload runs: they may wait for ever."""


class WorkloadWatch:
    """The jobs of Batsim's that are to come, wait or run."""

    def __init__(self, control: JobControl, registration: Registration, time: SimulatedTime) -> None:
        self.to_come = True
        """True if Batsim may still submit jobs of its workloads."""
        self._control = control
        self._registration = registration
        self._time = time
        self._vigil = Vigil()

    def goes_on(self) -> bool:
        """Tell whether a job is to come or runs, or some wait that may still begin, or the user wants it anyway."""
        if self.to_come or self._registration.goes_on:
            return True
        runs = self._control.runs_static_jobs
        waiting = tuple(job.id for job in self._control.iter_waiting() if job.client is None)
        waited = self._vigil.length(waiting, self._time.now, begins=runs)
        return runs or (bool(waiting) and waited < LONGEST_WAIT)
