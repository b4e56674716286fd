"""Jobs that go some time after they have ended (``pkg/controller/ttlafterfinished``)."""

from batkube.controllers.cluster import Key
from batkube.controllers.conditions import held
from batkube.controllers.controller import JSON, Change, Controller
from batkube.controllers.flags import Flags
from batkube.controllers.job.conditions import JOBS, is_finished
from batkube.kube.storage.store import DELETED


class TtlAfterFinished(Controller):
    """Deletes Jobs `ttlSecondsAfterFinished` after their end, with their pods. No simulation goes on for that."""

    name = "ttl-after-finished-controller"
    wakes = (JOBS,)
    follows = (JOBS,)

    @classmethod
    def wanted(cls, obj: JSON, flags: Flags) -> bool:
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
        ended = held(job["status"], "Complete") or held(job["status"], "Failed") or {}
        left = job["spec"]["ttlSecondsAfterFinished"] - self.cluster.since(ended["lastTransitionTime"])
        if left > 0:
            self.queue.add_after(key, left, awaited=False)
        else:
            self.client.delete(JOBS, *key, uid=job["metadata"]["uid"], propagation="Foreground")


def _is_to_go(job: JSON) -> bool:
    ttl = job["spec"].get("ttlSecondsAfterFinished")
    return ttl is not None and "deletionTimestamp" not in job["metadata"] and is_finished(job)
