"""The jobs whose pods are deleted, by users, controllers or preemption."""

from batkube.batsim.jobs import JobState
from batkube.bridge.client_pods import ClientPods
from batkube.bridge.drains import Drains
from batkube.bridge.job_control import JobControl
from batkube.bridge.jobs import Job
from batkube.bridge.pod_watch import Deletion
from batkube.bridge.startup import PodStages


class Deletions:
    """Ends jobs. A process ends at SIGTERM, unless the job or the pod says that it takes its time.

    ``requeue``: jobs that the cluster disrupts begin anew.
    """

    def __init__(
        self, control: JobControl, stages: PodStages, clients: ClientPods, drains: Drains, *, requeue: bool
    ) -> None:
        self._requeue = requeue
        self._control = control
        self._stages = stages
        self._clients = clients
        self._drains = drains

    def matter(self, job: Job, name: str, deletion: Deletion) -> bool:
        """Tell whether something of the job is left that ends with the pod."""
        return job.uids.get(name) == deletion.uid and job.life.state in (JobState.SUBMITTED, JobState.RUNNING)

    def act(self, job: Job, name: str, deletion: Deletion) -> bool:
        """Act on a deleted pod of a job; tell whether nodes are free for others now."""
        if job.uids.get(name) != deletion.uid:
            return False
        why = f"pod {name} was deleted"
        if job.life.state is JobState.RUNNING:
            job.disrupted(deletion.disruption)
            self._stages.terminate(job, _time_to_end(job, deletion.grace), why)
        elif job.life.state is JobState.SUBMITTED:
            if job.client is not None:
                return self._clients.deleted(job, name)
            if self._drains.empties(node := job.nodes.get(name)):
                self._control.replace_pods(job, f"node {node} is drained")
                return True
            if self._requeue and deletion.disruption:
                self._control.replace_pods(job, f"{why}: {deletion.disruption}")
                return True
            self._control.reject(job, f"{why} before the job started")
            return True
        return False


def _time_to_end(job: Job, grace: int) -> float:
    """Return the simulated seconds for which its process goes on after SIGTERM, at most its time of grace."""
    if job.client is not None:
        job.client.terminating = True
        return min(job.client.termination, grace)
    return grace if job.requirements.uses_grace else 0
