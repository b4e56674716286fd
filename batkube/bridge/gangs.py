"""Jobs of several pods, under schedulers that bind pod by pod.

Two such jobs can each hold a part of the nodes that both need, and wait for one another for ever. When nothing else can
happen, all but the oldest give way, as after the permit time-out of a gang scheduler: their pods are deleted. The jobs
that hold nothing yet go too, because they would take the places that the oldest waits for. They come again one job at a
time, the oldest first, and only while no other job holds a part of what it needs.
"""

from batkube.batsim.jobs import JobState
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
        """Take all but the oldest of several partly bound jobs off their nodes; False if there are not several."""
        partly = self._control.partly_bound()
        if len(partly) < 2:
            return False
        for job in self._control.waiting():
            if job is not partly[0] and len(job.pods) > 1 and job.uids and len(job.nodes) < len(job.pods):
                bound = len(job.nodes)
                self._events.write(self._time.now, "gang_gave_way", job=job.id, bound=bound, pods=len(job.pods))
                self._parked.append(job)
                self._control.remove_pods(job)
        return True

    def resume(self, *, at_last: bool = False) -> bool:
        """Create anew the pods of the oldest job that gave way; False if it has to wait, or if there is none.

        ``at_last``: nothing else can happen, so that it need not wait, whatever other jobs hold.
        """
        self._parked = [job for job in self._parked if job.life.state is JobState.SUBMITTED]
        if not self._parked or (self._control.partly_bound() and not at_last):
            return False
        job = min(self._parked, key=lambda job: job.number)
        self._parked.remove(job)
        self._control.create_pods(job)
        return True
