"""One look at a Job: its pods are counted, made or deleted, and its status told (`syncJob`)."""

from typing import TYPE_CHECKING, Any

from batkube.controllers.conditions import held
from batkube.controllers.job import conditions
from batkube.controllers.job.backoff import Backoff, finished, left_for_index
from batkube.controllers.job.indexes import Indexes, all_failures_of, failures_of, index_of
from batkube.controllers.job.policies import enough, verdict
from batkube.controllers.job.templates import new_pod
from batkube.controllers.job.tracking import TRACKING, Tracking
from batkube.controllers.owners import claim, key_of
from batkube.controllers.pods import (
    create_pod,
    delete_pod,
    first_to_delete,
    is_active,
    is_deleted,
    is_ready,
    is_terminating,
    namespace_goes,
    phase,
)
from batkube.controllers.recorder import NORMAL
from batkube.kube.apimachinery.deep_copy import deep_copy
from batkube.kube.apimachinery.status import ApiError

if TYPE_CHECKING:
    from batkube.controllers.job.controller import JobController

JSON = dict[str, Any]

MOST_AT_ONCE = 500
"""The most pods that are made or deleted in one look."""


class JobSync:
    """A Job as it is looked at once; ``run`` does that."""

    def __init__(self, controller: "JobController", job: JSON) -> None:
        self.controller = controller
        self.cluster = controller.cluster
        self.job = deep_copy(job)
        self.spec: JSON = self.job["spec"]
        self.status: JSON = self.job.setdefault("status", {})
        self.indexed = self.spec.get("completionMode") == "Indexed"
        self.per_index = self.spec.get("backoffLimitPerIndex")
        self.policy: JSON | None = self.spec.get("podFailurePolicy")
        self.completions: int | None = self.spec.get("completions")
        self.suspended = bool(self.spec.get("suspend"))
        self.only_failed = self.spec.get("podReplacementPolicy") == "Failed" or self.policy is not None
        """A pod that is being deleted is replaced only when it has ended."""
        self.pods: list[JSON] = []
        self.running: list[JSON] = []
        """The active pods."""
        self.finish: JSON | None = None
        """The condition that says that the Job comes to its end."""
        self.succeeded_before = self.succeeded_indexes = Indexes()
        self.failed_indexes: Indexes | None = None
        self.delayed: dict[int, JSON] = {}
        """The failed pods that keep their finalizer until a pod takes their place, by index."""
        self.backoff = Backoff()
        self.active = self.ready = self.terminating = self.succeeded = self.failed = 0

    def run(self) -> None:
        """Look at the Job. Raises ApiError."""
        self.status.setdefault("uncountedTerminatedPods", {})
        self.pods = self._own_pods()
        self.running = [pod for pod in self.pods if is_active(pod)]
        self.active = len(self.running)
        self.ready = sum(map(is_ready, self.running))
        self.terminating = sum(map(is_terminating, self.pods))
        new_succeeded, new_failed = self._newly_ended()
        uncounted = self.status["uncountedTerminatedPods"]
        counted = [pod for pod in new_failed if verdict(self.policy, pod).counts]
        self.succeeded = self.status.get("succeeded", 0) + len(new_succeeded) + len(uncounted.get("succeeded") or ())
        self.failed = self.status.get("failed", 0) + len(counted) + len(uncounted.get("failed") or ())
        if not self.status.get("startTime") and not self.suspended:
            self.status["startTime"] = self.cluster.text()
        before = self.controller.backoffs.get(key_of(self.job), Backoff())
        self.backoff = before.after(self._ends(new_succeeded), self._ends(new_failed))
        self._judge()
        if self.indexed:
            self._judge_indexes()
        error, changed = self._act()
        if (self.active, self.ready, self.terminating) != (
            self.status.get("active", 0), self.status.get("ready"), self.status.get("terminating")
        ):  # fmt: skip
            changed = True
        self._set_count("active", self.active)
        self.status["ready"], self.status["terminating"] = self.ready, self.terminating
        Tracking(self).run(changed)
        if error is not None:
            raise error

    def failed_condition(self, target: JSON) -> JSON:
        """Return the condition Failed for the reason of FailureTarget."""
        return conditions.new(self.cluster, "Failed", target["reason"], target["message"])

    def is_failed(self, pod: JSON) -> bool:
        """Tell whether the pod counts as failed: also one that is deleted, unless only those that have ended do."""
        if phase(pod) == "Failed":
            return True
        return not self.only_failed and is_deleted(pod) and phase(pod) != "Succeeded"

    def tracked(self, pod: JSON) -> bool:
        """Tell whether the pod is still to be counted."""
        return TRACKING in (pod["metadata"].get("finalizers") or ())

    def _own_pods(self) -> list[JSON]:
        candidates = self.controller.pods.candidates(self.job)
        return claim(self.controller, "pods", self.job, candidates, finalizers=(TRACKING,))

    def _newly_ended(self) -> tuple[list[JSON], list[JSON]]:
        """Return the pods that have succeeded, and those that have failed, and are not counted yet."""
        uncounted = self.status["uncountedTerminatedPods"]
        valid = [pod for pod in self.pods if self.tracked(pod) and self._valid_index(pod)]
        succeeded, failed = set(uncounted.get("succeeded") or ()), set(uncounted.get("failed") or ())
        return (
            [pod for pod in valid if phase(pod) == "Succeeded" and pod["metadata"]["uid"] not in succeeded],
            [pod for pod in valid if self.is_failed(pod) and pod["metadata"]["uid"] not in failed],
        )

    def _valid_index(self, pod: JSON) -> bool:
        if not self.indexed:
            return True
        index = index_of(pod)
        return index is not None and index < (self.completions or 0)

    def _ends(self, pods: list[JSON]) -> list[float]:
        return sorted(finished(self.cluster, pod) for pod in pods)

    # Is it over?

    def _judge(self) -> None:
        """Find out whether the Job comes to its end, by what it has been told and by its pods as a whole."""
        self.finish = held(self.status, "SuccessCriteriaMet")
        if self.finish is not None:
            return
        if (target := held(self.status, "FailureTarget")) is not None:
            self.finish = self.failed_condition(target)
        elif (message := self._why_policy_fails()) is not None:
            self.finish = conditions.new(self.cluster, "FailureTarget", "PodFailurePolicy", message)
        elif self.failed > self.spec["backoffLimit"] or self._restarted_too_often():
            self._fail("BackoffLimitExceeded", "Job has reached the specified backoff limit")
        elif (deadline := self.spec.get("activeDeadlineSeconds")) is not None and not self.suspended:
            left = deadline - self._active_for()
            if left <= 0:
                self._fail("DeadlineExceeded", "Job was active longer than specified deadline")
            else:
                self.controller.at_deadline(self.job, left)

    def _active_for(self) -> float:
        """Return the seconds since the Job has started; none if that is only now."""
        return max(0.0, self.cluster.since(self.status["startTime"])) if self._started_before() else 0.0

    def _started_before(self) -> bool:
        stored = self.cluster.get(conditions.JOBS, *key_of(self.job))
        return bool(stored and stored.get("status", {}).get("startTime"))

    def _fail(self, reason: str, message: str) -> None:
        self.finish = conditions.new(self.cluster, "FailureTarget", reason, message)

    def _why_policy_fails(self) -> str | None:
        if self.policy is None:
            return None
        failed = (pod for pod in self.pods if self.is_failed(pod))
        return next((message for pod in failed if (message := verdict(self.policy, pod).message) is not None), None)

    def _restarted_too_often(self) -> bool:
        """Tell whether containers were restarted in place as often as pods may fail (restartPolicy OnFailure)."""
        if self.spec["template"]["spec"].get("restartPolicy") != "OnFailure":
            return False
        count = 0
        for pod in self.pods:
            if phase(pod) in ("Running", "Pending"):
                status = pod.get("status", {})
                for each in (*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())):
                    count += each.get("restartCount") or 0
        limit = self.spec["backoffLimit"]
        return bool(count > 0 if limit == 0 else count >= limit)

    def _judge_indexes(self) -> None:
        """Do the same by the indexes."""
        completions = self.completions or 0
        self.succeeded_before = Indexes.parse(self.status.get("completedIndexes") or "", completions)
        ended = [pod for pod in self.pods if self.tracked(pod) and self._valid_index(pod)]
        self.succeeded_indexes = self.succeeded_before.with_more(
            index for pod in ended if phase(pod) == "Succeeded" and (index := index_of(pod)) is not None
        )
        self.succeeded = len(self.succeeded_indexes)
        if self.per_index is not None:
            before = Indexes.parse(self.status.get("failedIndexes") or "", completions)
            failed = self.failed_indexes = before.with_more(
                index for pod in ended if self._fails_index(pod) and (index := index_of(pod)) is not None
            )
            if self.finish is None:
                most = self.spec.get("maxFailedIndexes")
                if most is not None and len(failed) > most:
                    self._fail(
                        "MaxFailedIndexesExceeded", "Job has exceeded the specified maximal number of failed indexes"
                    )
                elif len(failed) and len(failed) + self.succeeded >= completions:
                    self._fail("FailedIndexes", "Job has failed indexes")
            self._delay(ended)
        if self.finish is None:
            message = enough(self.spec.get("successPolicy"), completions, self.succeeded_indexes)
            if message is not None:
                self.finish = conditions.new(self.cluster, "SuccessCriteriaMet", "SuccessPolicy", message)

    def _fails_index(self, pod: JSON) -> bool:
        if not self.is_failed(pod):
            return False
        judged = verdict(self.policy, pod)
        return judged.action == "FailIndex" or (judged.counts and failures_of(pod) >= self.per_index)

    def _delay(self, ended: list[JSON]) -> None:
        """Note the last failed pod of each index that is to be tried again."""
        assert self.failed_indexes is not None
        running = {index_of(pod) for pod in self.running}
        for pod in ended:
            index = index_of(pod)
            if index is None or not self.is_failed(pod):
                continue
            if index in self.succeeded_indexes or index in self.failed_indexes or index in running:
                continue
            last = self.delayed.get(index)
            if last is None or (
                all_failures_of(last) <= all_failures_of(pod)
                and finished(self.cluster, pod) >= finished(self.cluster, last)
            ):
                self.delayed[index] = pod

    # Pods are made, or deleted

    def _act(self) -> tuple[ApiError | None, bool]:
        """Delete what runs of a Job that is over, or bring its pods to their number.

        Returns an error that does not keep the status from being told, and whether the condition Suspended changed.
        """
        if self.finish is not None:
            deleted, error = self._delete(self.running, untrack=False)
            if deleted != len(self.running):
                self.finish = None
            return error, False
        error, managed = None, not is_deleted(self.job)
        if managed:
            error = self._manage()
        done = self.succeeded > 0 if self.completions is None else self.succeeded >= self.completions
        if done and self.active == 0:
            self.finish = conditions.new(
                self.cluster, "SuccessCriteriaMet", "CompletionsReached", "Reached expected number of succeeded pods"
            )
            return error, False
        return error, managed and self._tell_suspension()

    def _tell_suspension(self) -> bool:
        kind, word = ("True", "Suspended") if self.suspended else ("False", "Resumed")
        told = conditions.new(self.cluster, "Suspended", f"Job{word}", f"Job {word.lower()}", kind)
        if not conditions.ensure(self.status, told):
            return False
        self.controller.recorder.event(self.job, NORMAL, word, f"Job {word.lower()}")
        if self.suspended:
            self.status.pop("startTime", None)
        else:
            self.status["startTime"] = self.cluster.text()
        return True

    def _manage(self) -> ApiError | None:
        """Make pods, or delete some, so that as many run as should."""
        parallelism: int = self.spec["parallelism"]
        if self.suspended:
            return self._delete(self._first_to_go(self.active), untrack=True)[1]
        if self.completions is None:
            wanted = self.active if self.succeeded > 0 else parallelism
        else:
            wanted = max(0, min(self.completions - self.succeeded, parallelism))
        surplus = self._first_to_go(max(0, self.active - wanted))[:MOST_AT_ONCE]
        if surplus:
            return self._delete(surplus, untrack=True)[1]
        missing = wanted - self.active - (self.terminating if self.only_failed else 0)
        if missing <= 0:
            return None
        if self.per_index is None and (left := self.backoff.left(self.cluster.now)) > 0:
            self.controller.again(self.job, left)
            return None
        return self._create(min(missing, MOST_AT_ONCE))

    def _create(self, count: int) -> ApiError | None:
        indexes: list[int | None] = [None] * count
        if self.indexed:
            pending = self._pending_indexes(count)
            if self.per_index is not None:
                left = {index: left_for_index(self.cluster, self.delayed.get(index)) for index in pending}
                pending = [index for index in pending if left[index] == 0]
                if left and not pending:
                    self.controller.again(self.job, min(left.values()))
                    return None
            indexes = list(pending)
        self.active += len(indexes)
        at_once, error = 1, None
        while indexes:
            batch, indexes = indexes[:at_once], indexes[at_once:]
            for index in batch:
                try:
                    create_pod(self.controller, new_pod(self, index), self.job)
                except ApiError as refused:
                    if not namespace_goes(refused):
                        error = error or refused
                        self.active -= 1
            if error is not None:  # what is left would be refused as well
                self.active -= len(indexes)
                break
            at_once *= 2
        return error

    def _pending_indexes(self, count: int) -> list[int]:
        taken = self.succeeded_indexes.with_more(self._indexes(self.running))
        if self.only_failed:
            taken = taken.with_more(self._indexes([pod for pod in self.pods if is_terminating(pod)]))
        if self.failed_indexes is not None:
            taken = taken.merged(self.failed_indexes)
        return taken.first_missing(count, self.completions or 0)

    @staticmethod
    def _indexes(pods: list[JSON]) -> list[int]:
        return [index for pod in pods if (index := index_of(pod)) is not None]

    def _first_to_go(self, count: int) -> list[JSON]:
        """Return the active pods that go first: those whose index is none or another's, and then by their state."""
        left, gone = self.running, list[JSON]()
        if self.indexed:
            left = []
            by_index: dict[int, list[JSON]] = {}
            for pod in self.running:
                index = index_of(pod)
                if index is None:
                    gone.append(pod)
                else:
                    by_index.setdefault(index, []).append(pod)
            for index, same in sorted(by_index.items()):
                if index >= (self.completions or 0):
                    gone += same
                else:
                    *more, last = sorted(same, key=first_to_delete)
                    gone += more
                    left.append(last)
        if len(gone) < count:
            gone += sorted(left, key=first_to_delete)[: count - len(gone)]
        return gone

    def _delete(self, pods: list[JSON], *, untrack: bool) -> tuple[int, ApiError | None]:
        """Delete pods, and count them as gone; return how many are. ``untrack``: they are not counted as failed."""
        deleted, error = 0, None
        for pod in pods:
            self.ready -= is_ready(pod)
            try:
                if untrack and self.tracked(pod):
                    self.controller.untrack(pod)
                delete_pod(self.controller, pod, self.job)
            except ApiError as refused:
                if refused.code != 404:
                    error = error or refused
                    continue
            deleted += 1
        self.active -= deleted
        self.terminating += deleted
        return deleted, error

    def _set_count(self, name: str, count: int) -> None:
        """Set a number in the status, which has no zeros."""
        if count:
            self.status[name] = count
        else:
            self.status.pop(name, None)
