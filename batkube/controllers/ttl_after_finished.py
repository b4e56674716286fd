"""Jobs that go some time after they have ended (``pkg/controller/ttlafterfinished``)."""

from batkube.controllers.cluster import Key
from batkube.controllers.controller import JSON, Change, Controller
from batkube.controllers.job.conditions import is_finished
from batkube.kube.storage.store import DELETED

JOBS = "jobs.batch"


class TtlAfterFinished(Controller):
    """Deletes Jobs `ttlSecondsAfterFinished` after their end, with their pods. No simulation goes on for that."""

    name = "ttl-after-finished-controller"
    wakes = (JOBS,)
    follows = (JOBS,)

    @classmethod
    def wanted(cls, obj: JSON) -> bool:
        return obj["spec"].get("ttlSecondsAfterFinished") is not None

    def changed(self, change: Change) -> None:
        if change.type == DELETED:
            self.queue.discard(change.version.key)
        elif _is_to_go(change.version.obj):
            self.queue.add(change.version.key)

    def sync(self, key: Key) -> None:
        job = self.cluster.get(JOBS, *key)
        if job is None or not _is_to_go(job):
            return
        ends = {each["type"]: each for each in job["status"]["conditions"] if each["status"] == "True"}
        ended = ends.get("Complete") or ends["Failed"]
        left = job["spec"]["ttlSecondsAfterFinished"] - self.cluster.since(ended["lastTransitionTime"])
        if left > 0:
            self.queue.add_after(key, left, awaited=False)
        else:
            self.client.delete(JOBS, *key, uid=job["metadata"]["uid"], propagation="Foreground")


def _is_to_go(job: JSON) -> bool:
    ttl = job["spec"].get("ttlSecondsAfterFinished")
    return ttl is not None and "deletionTimestamp" not in job["metadata"] and is_finished(job)
