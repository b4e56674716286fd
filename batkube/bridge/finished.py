"""Jobs that are over: what becomes of their pods and of their records.

The API keeps all pods that have ended, or a limited number. Beyond that number the oldest pods go, as in
kube-controller-manager's pod garbage collector (``--terminated-pod-gc-threshold``), and their jobs are only rows of
results in a file.
"""

from collections.abc import Iterator
from heapq import heappop, heappush
from pathlib import Path

from batkube.batsim.outputs import JobRecord
from batkube.bridge.cluster import Cluster
from batkube.bridge.job_control import JobControl
from batkube.bridge.jobs import Job
from batkube.results.pods import PodRecord
from batkube.results.spool import Spool


class Finished:
    """``keep``: the number of ended pods that stay in the API; None for all. ``folder``: the place of the file."""

    def __init__(self, control: JobControl, cluster: Cluster, keep: int | None, folder: Path) -> None:
        self._control = control
        self._kubelet = cluster.kubelet
        self._keep = keep
        self._held: list[tuple[int, Job]] = []
        """A heap: the jobs that were submitted first go first."""
        self._pods_held = 0
        self._jobs: Spool[JobRecord] | None = None
        self._pods: Spool[list[PodRecord]] | None = None
        if keep is not None:
            self._jobs, self._pods = Spool(folder), Spool(folder)

    def close(self) -> None:
        """Delete the file."""
        for spool in (self._jobs, self._pods):
            if spool is not None:
                spool.close()

    def collect(self) -> None:
        """Remove the oldest ended pods beyond the number that is kept."""
        over, self._control.settled = self._control.settled, []
        if self._keep is None:
            return
        for job in over:
            if job.uids:
                heappush(self._held, (job.number, job))
                self._pods_held += len(job.uids)
            else:  # rejected: its pods are gone
                self._put_away(job)
        while self._pods_held > self._keep:
            _, job = heappop(self._held)
            self._pods_held -= len(job.uids)
            if not job.kill_asked or job.progress is not None:  # else how far it was may still be told
                self._put_away(job)

    def _put_away(self, job: Job) -> None:
        assert self._jobs is not None
        assert self._pods is not None
        if job.end_number >= 0:  # else its process has never run
            self._jobs.keep(job.end_number, job.record())
        self._control.waits.complete(job.uids.values())
        self._pods.keep(job.number, self._control.forget(job))
        for name, uid in job.uids.items():
            self._kubelet.forget(name, uid)

    def records(self) -> Iterator[JobRecord]:
        """Yield all jobs that have ended, in order of completion or rejection."""
        held = {job.end_number: job for job in self._control.ended}
        for number in range(self._control.over):
            if number in held:
                yield held[number].record()
            elif self._jobs is not None and (record := self._jobs.get(number)):
                yield record

    def pods(self) -> Iterator[PodRecord]:
        """Yield all pods that there were, in order of their jobs; one that was replaced before the one in its place."""
        if self._pods is None:
            for job in self._control.jobs.values():
                yield from self._control.records.of(job)
            return
        held = {job.number: job for job in self._control.jobs.values()}
        for number in range(self._control.numbered):
            if number in held:
                yield from self._control.records.of(held[number])
            else:
                yield from self._pods.get(number) or ()
