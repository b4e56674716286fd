"""Jobs of several pods, under schedulers that bind pod by pod.

Two such jobs can each hold a part of the nodes that both need, and wait for one another for ever. When nothing else
can happen the younger one gives way, as a gang scheduler's permit time-out would have it: its pods are deleted and come
again when another job has ended.
"""

from batkube.bridge.job_control import JobControl
from batkube.bridge.jobs import Job
from batkube.bridge.time import SimulatedTime
from batkube.results.events import EventLog


class Gangs:
    """Takes jobs off their nodes, and brings them back."""

    def __init__(self, control: JobControl, time: SimulatedTime, events: EventLog) -> None:
        self._control = control
        self._time = time
        self._events = events
        self._parked: list[Job] = []

    def give_way(self) -> bool:
        """Take the youngest of several partly bound jobs off its nodes; False where there are not several."""
        partly = [job for job in self._control.waiting() if 0 < len(job.nodes) < len(job.pods)]
        if len(partly) < 2:
            return False
        job = partly[-1]
        self._events.write(self._time.now, "gang_gave_way", job=job.id, bound=len(job.nodes), pods=len(job.pods))
        self._parked.append(job)
        self._control.remove_pods(job)
        return True

    def resume(self) -> bool:
        """Create the pods of the jobs that gave way anew; False where there are none."""
        parked, self._parked = self._parked, []
        for job in parked:
            self._control.create_pods(job)
        return bool(parked)
