"""The Job controller: what it notes of changes, and the pods that no Job counts any more.

A Job is looked at when it comes or its spec changes, and otherwise a second after the first of the changes of its pods
and its status, so that many of them are one.
"""

from typing import Any

import orjson

from batkube.controllers.controller import Change, Controller
from batkube.controllers.job.backoff import Backoff
from batkube.controllers.job.conditions import JOBS, is_finished, is_managed_elsewhere
from batkube.controllers.job.synchronization import JobSync
from batkube.controllers.job.tracking import TRACKING
from batkube.controllers.owners import controller_of, key_of, remove_finalizers, unless_gone
from batkube.controllers.pods import is_deleted
from batkube.kube.apimachinery.label_selectors import matches
from batkube.kube.storage.store import DELETED

JSON = dict[str, Any]

BATCH_PERIOD = 1.0
"""The simulated seconds for which changes are gathered."""
_JOB, _POD, _PODS = "job", "pod", "pods"
"""The kinds of things that a key stands for: a Job, a pod that has lost its Job, all pods of a Job that is over."""


class JobController(Controller):
    """Makes and counts the pods of Jobs."""

    name = "job-controller"
    wakes = (JOBS,)
    follows = (JOBS, "pods")
    retries = (1.0, 60.0)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.backoffs: dict[tuple[str, str], Backoff] = {}
        """Of the Jobs that are not finished."""
        self.pods = self.cluster.owned("pods")

    def changed(self, change: Change) -> None:
        if change.resource.storage == JOBS:
            self._job_changed(change)
        else:
            self._pod_changed(change)

    def again(self, job: JSON, seconds: float = 0.0) -> None:
        """Have a Job looked at in so many simulated seconds, or when the changes that go with it are gathered."""
        self.queue.add_after((_JOB, *key_of(job)), max(seconds, BATCH_PERIOD))

    def at_deadline(self, job: JSON, seconds: float) -> None:
        """Have a Job looked at in so many simulated seconds."""
        self.queue.add_after((_JOB, *key_of(job)), seconds)

    def sync(self, key: Any) -> None:
        kind, *rest = key
        if kind == _JOB:
            self._sync_job(rest[0], rest[1])
        elif kind == _POD:
            if (pod := self.cluster.get("pods", *rest)) is not None:
                self._let_go(pod)
        else:
            namespace, uid, selector = rest[0], rest[1], orjson.loads(rest[2])
            for pod in (*self.pods.of(uid), *self.pods.of_nobody(namespace, selector)):
                if matches(selector, pod["metadata"].get("labels") or {}):
                    self._let_go(pod)

    def _sync_job(self, namespace: str, name: str) -> None:
        job = self.cluster.get(JOBS, namespace, name)
        if job is None:
            self._forget(namespace, name)
        elif not is_managed_elsewhere(job):
            if is_finished(job):
                self._forget(namespace, name)
            else:
                JobSync(self, job).run()

    def _forget(self, namespace: str, name: str) -> None:
        """Let nobody wait for the Job any more."""
        self.backoffs.pop((namespace, name), None)
        self.queue.discard((_JOB, namespace, name))

    # Jobs

    def _job_changed(self, change: Change) -> None:
        job, before = change.version.obj, change.before
        key = (_JOB, *key_of(job))
        if change.type == DELETED:
            self.queue.add(key)
            self._let_go_by_selector(job)
            self.backoffs.pop(key_of(job), None)
        elif before is None:
            self.queue.add(key)
        elif is_finished(job):
            self._let_go_by_selector(job)
            self.queue.add(key)
        else:
            if job["metadata"].get("generation") == before.obj["metadata"].get("generation"):
                self.queue.add_after(key, BATCH_PERIOD)
            else:
                self.queue.add(key)
            start, deadline = job.get("status", {}).get("startTime"), job["spec"].get("activeDeadlineSeconds")
            if start and deadline is not None and deadline != before.obj["spec"].get("activeDeadlineSeconds"):
                self.queue.add_after(key, deadline - self.cluster.since(start))

    def _let_go_by_selector(self, job: JSON) -> None:
        namespace, selector = job["metadata"]["namespace"], job["spec"].get("selector")
        if selector is not None:
            self.queue.add((_PODS, namespace, job["metadata"]["uid"], orjson.dumps(selector)))

    # Pods

    def _pod_changed(self, change: Change) -> None:
        pod, before = change.version.obj, change.previous
        if change.type == DELETED or is_deleted(pod):
            self._pod_deleted(pod)
            return
        reference, old_reference = controller_of(pod), controller_of(before) if before else None
        if before is not None and old_reference is not None and reference != old_reference:
            self._again_as_owner(before)
        if reference is not None:
            self._again_as_owner(pod)
            return
        if TRACKING in (pod["metadata"].get("finalizers") or ()):
            self.queue.add((_POD, *key_of(pod)))
        labels = pod["metadata"].get("labels")
        if labels and (
            before is None or old_reference is not None or labels != (before["metadata"].get("labels") or {})
        ):
            for job in self.cluster.list(JOBS, pod["metadata"]["namespace"]):
                if matches(job["spec"].get("selector"), labels):
                    self.again(job)

    def _pod_deleted(self, pod: JSON) -> None:
        job = self.cluster.owner(JOBS, pod)
        if job is not None and not is_finished(job):
            self.again(job)
        elif TRACKING in (pod["metadata"].get("finalizers") or ()):
            self.queue.add((_POD, *key_of(pod)))

    def _again_as_owner(self, pod: JSON) -> None:
        if (job := self.cluster.owner(JOBS, pod)) is not None:
            self.again(job)

    def _let_go(self, pod: JSON) -> None:
        """Take the finalizer from a pod whose Job does not count it any more."""
        if TRACKING not in (pod["metadata"].get("finalizers") or ()):
            return
        if (reference := controller_of(pod)) is not None:
            if (reference["kind"], reference["apiVersion"]) != ("Job", "batch/v1"):
                return
            job = self.cluster.owner(JOBS, pod)
            if job is not None and (is_managed_elsewhere(job) or not is_finished(job)):
                return
        self.untrack(pod)

    def untrack(self, pod: JSON) -> None:
        """Take the finalizer from a pod, if the pod is still there. Raises ApiError."""
        with unless_gone():
            self.client.modify("pods", *key_of(pod), lambda new: remove_finalizers(new["metadata"], [TRACKING]))
