"""The counting of pods that have ended: each once, though it takes a write to the Job and one to the pod.

A pod is noted in `uncountedTerminatedPods`, loses its finalizer, and is counted then. Only a Job whose pods are all
counted, and gone, is finished (`trackJobStatusAndRemoveFinalizers`).
"""

from typing import TYPE_CHECKING, Any

from batkube.controllers.conditions import held
from batkube.controllers.job import conditions
from batkube.controllers.job.indexes import index_of
from batkube.controllers.job.policies import verdict
from batkube.controllers.owners import key_of
from batkube.controllers.pods import is_deleted, phase
from batkube.controllers.recorder import NORMAL, WARNING
from batkube.kube.apimachinery.status import ApiError

if TYPE_CHECKING:
    from batkube.controllers.job.synchronization import JobSync

JSON = dict[str, Any]

TRACKING = "batch.kubernetes.io/job-tracking"
"""The finalizer of a pod that is not counted yet."""
MOST_UNCOUNTED = 500


class Tracking:
    """The last part of a look at a Job; ``run`` does it."""

    def __init__(self, sync: "JobSync") -> None:
        self._sync = sync
        self._status = sync.status
        self._uncounted: JSON = sync.status["uncountedTerminatedPods"]
        self._with_finalizer = {pod["metadata"]["uid"] for pod in sync.pods if sync.tracked(pod)}
        self._to_release: list[JSON] = []

    def run(self, changed: bool) -> None:
        """Count the pods, and tell the status. ``changed``: it differs already. Raises ApiError."""
        sync = self._sync
        changed = self._clean() or changed
        noted, all_noted = self._note_ended()
        changed = self._tell_indexes() or noted or changed
        finish = self._tell_target()
        changed = finish or changed
        if changed:
            self._write()
            sync.controller.backoffs[key_of(sync.job)] = sync.backoff
            sync.cluster.let_others_act()
        error = self._release()
        changed = self._clean()
        if error is not None:
            if changed:
                self._write()
            raise error
        finished = all_noted and self._finish()
        if changed or finished:
            self._write()
            if finished:
                self._record()

    def _clean(self) -> bool:
        """Count the pods that have lost their finalizer; tell whether there are such."""
        changed = False
        for kind in ("succeeded", "failed"):
            before = self._uncounted.get(kind) or []
            left = [uid for uid in before if uid in self._with_finalizer]
            if len(left) < len(before):
                changed = True
                self._status[kind] = self._status.get(kind, 0) + len(before) - len(left)
                self._set_uncounted(kind, left)
        return changed

    def _set_uncounted(self, kind: str, uids: list[str]) -> None:
        if uids:
            self._uncounted[kind] = uids
        else:
            self._uncounted.pop(kind, None)

    def _note_ended(self) -> tuple[bool, bool]:
        """Note the pods that are to be counted; tell whether there are new ones, and whether these are all."""
        sync, changed, new_indexes = self._sync, False, list[int]()
        succeeded, failed = list(self._uncounted.get("succeeded") or ()), list(self._uncounted.get("failed") or ())
        succeeded_before, failed_before = set(succeeded), set(failed)
        pods = sorted(sync.pods, key=_place) if sync.indexed else sync.pods
        everything = True
        for pod in pods:
            uid = pod["metadata"]["uid"]
            is_failed = sync.is_failed(pod)
            if not sync.tracked(pod) or not self._may_release(pod, is_failed):
                continue
            self._to_release.append(pod)
            index = index_of(pod)
            valid = index is not None and index < (sync.completions or 0)
            if phase(pod) == "Succeeded" and uid not in failed_before:
                if sync.indexed:
                    if valid and index is not None and index not in sync.succeeded_before:
                        new_indexes.append(index)
                        changed = True
                elif uid not in succeeded_before:
                    succeeded.append(uid)
                    changed = True
            elif is_failed or (sync.finish is not None and sync.finish["type"] != "SuccessCriteriaMet"):
                counts = verdict(sync.policy, pod).counts
                if uid not in failed_before and (not sync.indexed or valid) and counts:
                    failed.append(uid)
                    changed = True
            if len(new_indexes) + len(succeeded) + len(failed) >= MOST_UNCOUNTED:
                everything = False
                break
        self._set_uncounted("succeeded", succeeded)
        self._set_uncounted("failed", failed)
        sync.succeeded_indexes = sync.succeeded_indexes.with_more(new_indexes)
        return changed, everything

    def _may_release(self, pod: JSON, is_failed: bool) -> bool:
        sync = self._sync
        if is_deleted(sync.job) or sync.finish is not None or phase(pod) == "Succeeded":
            return True
        if not is_failed:
            return False
        index = index_of(pod)
        if sync.per_index is not None and index is not None and (delayed := sync.delayed.get(index)) is not None:
            return bool(delayed["metadata"]["uid"] != pod["metadata"]["uid"])
        return True

    def _tell_indexes(self) -> bool:
        sync, status = self._sync, self._status
        if not sync.indexed:
            return False
        told = (status.get("completedIndexes") or "", status.get("failedIndexes"))
        failed = str(sync.failed_indexes) if sync.failed_indexes is not None else None
        now = (str(sync.succeeded_indexes), failed)
        for name, value in (
            ("succeeded", len(sync.succeeded_indexes)),
            ("completedIndexes", now[0]),
        ):
            if value:
                status[name] = value
            else:
                status.pop(name, None)
        if failed is not None:
            status["failedIndexes"] = failed
        return told != now

    def _tell_target(self) -> bool:
        """Say that the Job is about to end, and how; tell whether that is new."""
        sync, status, finish = self._sync, self._status, self._sync.finish
        if finish is None:
            return False
        told = status.get("conditions") or []
        if finish["type"] == "FailureTarget":
            status["conditions"] = [*told, finish]
            sync.finish = sync.failed_condition(finish)
            return True
        if finish["type"] != "SuccessCriteriaMet":
            return False
        sync.finish = conditions.new(sync.cluster, "Complete", finish.get("reason", ""), finish.get("message", ""))
        if held(status, "SuccessCriteriaMet") is not None:
            return False
        status["conditions"] = [*told, finish]
        return True

    def _release(self) -> ApiError | None:
        """Take the finalizer from the pods that are noted; return the first error."""
        error = None
        for pod in self._to_release:
            try:
                self._sync.controller.untrack(pod)
            except ApiError as refused:
                error = error or refused
            else:
                self._with_finalizer.discard(pod["metadata"]["uid"])
        return error

    def _finish(self) -> bool:
        """Say that the Job has ended, if all its pods are counted and none is about to go; tell whether it has."""
        sync, finish = self._sync, self._sync.finish
        if finish is None or self._uncounted.get("succeeded") or self._uncounted.get("failed") or sync.terminating > 0:
            return False
        conditions.ensure(self._status, finish)
        if finish["type"] == "Complete":
            self._status["completionTime"] = finish["lastTransitionTime"]
        return True

    def _record(self) -> None:
        sync, finish = self._sync, self._sync.finish
        assert finish is not None
        tell = sync.controller.recorder.event
        if finish["type"] != "Complete":
            tell(sync.job, WARNING, finish["reason"], finish["message"])
            return
        if sync.completions is not None and self._status.get("succeeded", 0) > sync.completions:
            tell(
                sync.job, WARNING, "TooManySucceededPods",
                "Too many succeeded pods running after completion count reached",
            )  # fmt: skip
        tell(sync.job, NORMAL, "Completed", "Job completed")

    def _write(self) -> None:
        """Store the status. The Job has the version that is stored then."""
        sync = self._sync
        stored = sync.controller.client.update(conditions.JOBS, sync.job, "status")
        sync.job["metadata"]["resourceVersion"] = stored["metadata"]["resourceVersion"]


def _place(pod: JSON) -> int:
    index = index_of(pod)
    return -1 if index is None else index
