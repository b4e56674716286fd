"""The CronJob controller: Jobs at dates of the simulated wall clock."""

from datetime import UTC, datetime
from typing import Any
from zoneinfo import ZoneInfo

from batkube.controllers.cluster import Key
from batkube.controllers.conditions import is_true
from batkube.controllers.controller import JSON, NORMAL, WARNING, Change, Controller
from batkube.controllers.cron_job.missed import most_recent, until_next
from batkube.controllers.cron_job.schedule import Schedule, ScheduleError, read_schedule
from batkube.controllers.job.conditions import JOBS, is_finished
from batkube.controllers.owners import controller_of, is_controlled_by, key_of, reference_to
from batkube.controllers.pods import namespace_goes
from batkube.kube.apimachinery.deep_copy import deep_copy
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.storage.store import DELETED

CRON_JOBS = "cronjobs.batch"
SCHEDULED = "batch.kubernetes.io/cronjob-scheduled-timestamp"
"""The annotation of a Job with the date for which it was made."""
_FORBIDDEN = "Not starting job because prior execution is running and concurrency policy is Forbid"
_TOO_MANY = "too many missed start times. Set or decrease .spec.startingDeadlineSeconds or check clock skew"


class CronJobController(Controller):
    """Makes Jobs by schedule, and deletes old ones. No simulation goes on for the next of them."""

    name = "cronjob-controller"
    wakes = (CRON_JOBS,)
    follows = (CRON_JOBS, JOBS)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._lagging: dict[Key, JSON] = {}
        """The CronJobs as they were before the last write of their status, where a change of their Jobs has come first:
        the real controller looks at them once more before its cache has that status."""
        self._jobs_changed = False

    def changed(self, change: Change) -> None:
        obj, before = change.version.obj, change.previous
        if change.resource.storage == JOBS:
            references = [controller_of(obj)]
            if before is not None and (old := controller_of(before)) != references[0]:
                references.insert(0, old)
            for each in references:
                if (cron_job := self.cluster.meant(CRON_JOBS, obj["metadata"]["namespace"], each)) is not None:
                    self.queue.add(key_of(cron_job))
            return
        key = change.version.key
        if change.type == DELETED:
            self.queue.discard(key)
        elif before is not None and any(
            before["spec"].get(name) != obj["spec"].get(name) for name in ("schedule", "timeZone")
        ):
            try:
                schedule = self._schedule(obj, tell=False)
            except ScheduleError:
                self.queue.add(key)
            else:
                self._later(obj, schedule)
        else:
            self.queue.add(key)

    def sync(self, key: Key) -> None:
        lagging, present = self._lagging.pop(key, None), self.cluster.get(CRON_JOBS, *key)
        if present is None:
            return
        if lagging is not None:
            self.queue.add(key)
        self._jobs_changed = False
        stored = lagging or present
        cron_job = deep_copy(stored)
        cron_job.setdefault("status", {})
        jobs = [
            job for job in self.cluster.list(JOBS, key[0])
            if (reference := controller_of(job)) is not None and reference["name"] == key[1]
        ]  # fmt: skip
        error: ApiError | None = None
        self._remove_old(cron_job, jobs)
        try:
            self._begin_due(self._take_in(cron_job, jobs))
        except ApiError as refused:
            error = refused
        if lagging is None and cron_job["status"] != stored.get("status", {}):  # else it would be a conflict
            self.client.update(CRON_JOBS, cron_job, "status")
            if self._jobs_changed:
                self._lagging[key] = stored
        if error is not None:
            raise error

    # What has become of the Jobs

    def _remove_old(self, cron_job: JSON, jobs: list[JSON]) -> None:
        for kind, limit in (("Complete", "successfulJobsHistoryLimit"), ("Failed", "failedJobsHistoryLimit")):
            most = cron_job["spec"].get(limit)
            ended = [job for job in jobs if is_true(job, kind)]
            if most is None or len(ended) <= most:
                continue
            ended.sort(key=lambda job: (job["status"].get("startTime") or "~", job["metadata"]["name"]))
            for job in ended[: len(ended) - most]:
                self._delete(cron_job, job)

    def _delete(self, cron_job: JSON, job: JSON) -> bool:
        try:
            self.client.delete(JOBS, *key_of(job), propagation="Background")
        except ApiError as error:
            self._warn(cron_job, "FailedDelete", f"Deleted job: {error.message}")
            return False
        self._jobs_changed = True
        self._not_active(cron_job, job["metadata"]["uid"])
        self._tell(cron_job, "SuccessfulDelete", f"Deleted job {job['metadata']['name']}")
        return True

    def _take_in(self, cron_job: JSON, jobs: list[JSON]) -> JSON:
        """Bring the list of active Jobs, and the date of the last success, up to date; return the newest CronJob."""
        status = cron_job["status"]
        for job in jobs:
            metadata = job["metadata"]
            active = any(each.get("uid") == metadata["uid"] for each in status.get("active") or ())
            if not is_finished(job):
                if not active:
                    present = self.cluster.get(CRON_JOBS, *key_of(cron_job)) or cron_job
                    known = present.get("status", {}).get("active") or ()
                    if any(each.get("uid") == metadata["uid"] for each in known):
                        cron_job = deep_copy(present)
                        status = cron_job["status"]
                        continue
                    name = metadata["name"]
                    self._warn(
                        cron_job, "UnexpectedJob", f"Saw a job that the controller did not create or forgot: {name}"
                    )
                continue
            succeeded = is_true(job, "Complete")
            if active:
                self._not_active(cron_job, metadata["uid"])
                how = next(
                    each["type"] for each in job["status"]["conditions"]
                    if each["type"] in ("Complete", "Failed") and each["status"] == "True"
                )  # fmt: skip
                self._tell(cron_job, "SawCompletedJob", f"Saw completed job: {metadata['name']}, condition: {how}")
            ended = job["status"].get("completionTime")
            if succeeded and ended and ended > (status.get("lastSuccessfulTime") or ""):
                status["lastSuccessfulTime"] = ended
        uids = {job["metadata"]["uid"] for job in jobs}
        for each in list(status.get("active") or ()):
            if each.get("uid") not in uids and self.cluster.get(JOBS, each["namespace"], each["name"]) is None:
                self._tell(cron_job, "MissingJob", f"Active job went missing: {each['name']}")
                self._not_active(cron_job, each.get("uid"))
        return cron_job

    def _not_active(self, cron_job: JSON, uid: str | None) -> None:
        status = cron_job["status"]
        left = [each for each in status.get("active") or () if each.get("uid") != uid]
        if left:
            status["active"] = left
        else:
            status.pop("active", None)

    # The next Job

    def _begin_due(self, cron_job: JSON) -> None:
        """Make the Job that is due, unless something speaks against it."""
        spec, status = cron_job["spec"], cron_job["status"]
        if cron_job["metadata"].get("deletionTimestamp"):
            return
        if (zone := spec.get("timeZone")) and not _is_known(zone):
            self._warn(cron_job, "UnknownTimeZone", f'invalid timeZone: "{zone}": unknown time zone {zone}')
            return
        if spec.get("suspend") or not self.cluster.goes_on():
            self.queue.discard(key_of(cron_job))
            return
        try:
            schedule = self._schedule(cron_job, tell=True)
        except ScheduleError as error:
            self._warn(cron_job, "UnparseableSchedule", f'unparseable schedule: "{spec["schedule"]}" : {error}')
            return
        missed = most_recent(self._now, self._earliest(cron_job), schedule, spec.get("startingDeadlineSeconds"))
        if missed.date is not None and missed.date <= self._now:
            if missed.many:
                self._warn(cron_job, "TooManyMissedTimes", _TOO_MANY)
            self._begin(cron_job, missed.date, status)
        self._later(cron_job, schedule)

    def _begin(self, cron_job: JSON, date: float, status: JSON) -> None:
        spec = cron_job["spec"]
        deadline, text = spec.get("startingDeadlineSeconds"), self._text(date)
        name = f"{cron_job['metadata']['name']}-{int(date) // 60}"
        active = status.get("active") or ()
        if deadline is not None and date + deadline < self._now:
            told = datetime.fromtimestamp(date, UTC).strftime("%a, %d %b %Y %H:%M:%S UTC")
            self._warn(cron_job, "MissSchedule", f"Missed scheduled time to start a job: {told}")
            return
        if status.get("lastScheduleTime") == text or any(each["name"] == name for each in active):
            return
        if active and spec.get("concurrencyPolicy") == "Forbid":
            self._tell(cron_job, "JobAlreadyActive", _FORBIDDEN)
            return
        if spec.get("concurrencyPolicy") == "Replace":
            for each in list(active):
                self._replace(cron_job, each)
        job = self._create(cron_job, name, date)
        if job is not None:
            metadata = job["metadata"]
            reference = {
                "kind": "Job", "namespace": metadata["namespace"], "name": metadata["name"], "uid": metadata["uid"],
                "apiVersion": "batch/v1", "resourceVersion": metadata["resourceVersion"],
            }  # fmt: skip
            status["active"] = [*(status.get("active") or ()), reference]
            status["lastScheduleTime"] = text

    def _replace(self, cron_job: JSON, active: JSON) -> None:
        job = self.cluster.get(JOBS, active["namespace"], active["name"])
        if job is None:
            error = ApiError.not_found(JOBS, active["name"])
            self._warn(cron_job, "FailedGet", f"Get job: {error.message}")
            raise error
        if not self._delete(cron_job, job):
            raise ApiError(500, None, f"could not replace job {active['namespace']}/{active['name']}")

    def _create(self, cron_job: JSON, name: str, date: float) -> JSON | None:
        """Make the Job of a date; None if there is one that is known, or another's."""
        template, namespace = cron_job["spec"]["jobTemplate"], cron_job["metadata"]["namespace"]
        given = template.get("metadata") or {}
        zone = ZoneInfo(cron_job["spec"]["timeZone"]) if cron_job["spec"].get("timeZone") else UTC
        scheduled = datetime.fromtimestamp(date, zone).isoformat(timespec="seconds").replace("+00:00", "Z")
        job = {
            "metadata": {
                "name": name,
                "labels": dict(given.get("labels") or {}),
                "annotations": {**(given.get("annotations") or {}), SCHEDULED: scheduled},
                "ownerReferences": [reference_to(cron_job)],
            },
            "spec": deep_copy(template["spec"]),
        }
        try:
            made = self.client.create(JOBS, job, namespace)
        except ApiError as error:
            if error.code == 409 and error.reason == "AlreadyExists":
                found = self.cluster.get(JOBS, namespace, name)
                return found if found is not None and is_controlled_by(found, cron_job) else None
            if not namespace_goes(error):
                self._warn(cron_job, "FailedCreate", f"Error creating job: {error.message}")
            raise
        self._jobs_changed = True
        self._tell(cron_job, "SuccessfulCreate", f"Created job {name}")
        return made

    def _later(self, cron_job: JSON, schedule: Schedule) -> None:
        """Have the CronJob looked at when its next date has come."""
        left = until_next(self._now, self._earliest(cron_job), schedule)
        if left is not None:
            self.queue.add_after(key_of(cron_job), left, awaited=False)

    def _earliest(self, cron_job: JSON) -> float:
        """Return the date, in Unix seconds, after which nothing was begun yet."""
        last = cron_job.get("status", {}).get("lastScheduleTime") or cron_job["metadata"]["creationTimestamp"]
        return self.cluster.date(last) + self.cluster.clock.epoch

    def _schedule(self, cron_job: JSON, *, tell: bool) -> Schedule:
        spec = cron_job["spec"]
        text, zone = spec["schedule"], spec.get("timeZone")
        if "TZ" in text:
            if tell:
                self._warn(
                    cron_job, "UnsupportedSchedule",
                    f'CRON_TZ or TZ used in schedule "{text}" is not officially supported, see '
                    "https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more details",
                )  # fmt: skip
            zone = None
        return read_schedule(text, zone)

    @property
    def _now(self) -> float:
        """The present in Unix seconds."""
        return self.cluster.clock.epoch + self.cluster.now

    def _text(self, date: float) -> str:
        return self.cluster.text(date - self.cluster.clock.epoch)

    def _warn(self, cron_job: JSON, reason: str, message: str) -> None:
        self.recorder.event(cron_job, WARNING, reason, message)

    def _tell(self, cron_job: JSON, reason: str, message: str) -> None:
        self.recorder.event(cron_job, NORMAL, reason, message)


def _is_known(zone: str) -> bool:
    try:
        ZoneInfo(zone)
    except (KeyError, ValueError, OSError):
        return False
    return True
