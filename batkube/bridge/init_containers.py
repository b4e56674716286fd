"""The init containers of pods that clients make: one after the other, before the job of the pod is registered.

A pod holds its node meanwhile, and is Pending. Batsim knows nothing of it: no process of its job runs. A sidecar (an
init container with ``restartPolicy: Always``) is started in its turn and goes on beside the others.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from batkube.back_off import wait_before
from batkube.batsim.jobs import JobState
from batkube.bridge.job_control import JobControl
from batkube.bridge.jobs import ClientPod, Job
from batkube.bridge.kubelet import Kubelet
from batkube.bridge.plan import Plan
from batkube.bridge.pod_status import is_sidecar
from batkube.bridge.restarts import MOST_RETRIES
from batkube.bridge.run_times import RunTimes, owner_kind
from batkube.bridge.speeds import Speeds
from batkube.bridge.time import SimulatedTime
from batkube.results.events import EventLog
from batkube.startup.durations import RunTime

JSON = dict[str, Any]

INIT_ERROR = "Init:Error"
"""The reason of a pod of which an init container has failed, as kubectl shows it."""


@dataclass(slots=True)
class _Progress:
    """The progress of the init containers of a pod."""

    job: Job
    client: ClientPod
    go_on: Callable[[], object]
    """Called when they are done."""
    endless: bool
    """True if the pod itself never ends."""
    index: int = 0
    run: int = 0
    """The number of the run of the present one, from 0."""
    backoff: float = 0.0
    began: float = 0.0
    """The date at which the present one was started."""
    changes: dict[str, JSON] = field(default_factory=dict)
    """The notes that the kubelet has still to make of them."""


class InitContainers:
    """Takes pods through their init containers. ``plan``: where their ends and restarts are planned."""

    def __init__(
        self,
        control: JobControl,
        kubelet: Kubelet,
        time: SimulatedTime,
        events: EventLog,
        run_times: RunTimes,
        plan: Plan,
        speeds: Speeds,
    ) -> None:
        self._control = control
        self._kubelet = kubelet
        self._time = time
        self._events = events
        self._run_times = run_times
        self._plan = plan
        self._speeds = speeds

    def take_time(self, pod: JSON) -> bool:
        """Tell whether the init containers of a pod take time, or fail. Raises InputError."""
        return any(
            (run_time := self._run_times.of_init_container(pod, container, 0)).seconds != 0 or run_time.exit_code
            for container in pod["spec"].get("initContainers") or ()
            if not is_sidecar(container)
        )

    def run_first(self, job: Job, go_on: Callable[[], object]) -> bool:
        """Run the init containers of the job's pod, and then call ``go_on``; False if nothing is left to run."""
        client = job.client
        if client is None or client.initialized:
            return False
        progress = _Progress(job, client, go_on, client.endless)
        client.endless = False
        self._control.clients.prepare(job)
        self._go(progress)
        return True

    def _go(self, progress: _Progress) -> None:
        """Go on until a container takes time, or all are done."""
        containers = progress.client.pod["spec"]["initContainers"]
        while progress.index < len(containers):
            if not self._begin(progress, containers[progress.index]):
                if progress.changes:
                    self._kubelet.initialize(progress.job.pods[0], progress.changes)
                    progress.changes = {}
                return
        self._kubelet.initialize(progress.job.pods[0], progress.changes)
        progress.client.initialized, progress.client.endless = True, progress.endless
        progress.go_on()

    def _begin(self, progress: _Progress, container: JSON) -> bool:
        """Start a container; True if it has ended already, or nobody waits for its end."""
        now = self._time.rfc3339()
        progress.began = self._time.now
        change = {"state": {"running": {"startedAt": now}}, "restartCount": progress.run}
        self._change(progress, container, change, started=True, ready=is_sidecar(container))
        if is_sidecar(container):
            progress.index += 1
            return True
        work = self._run_times.of_init_container(progress.client.pod, container, progress.run)
        if work.seconds == 0:
            return self._end(progress, container, work)
        if work.seconds is None:
            progress.client.endless = self._goes_on(progress)
            return False
        job = progress.job
        end = partial(self._ended, progress, container, work)
        self._speeds.after(self._plan, job.nodes[job.pods[0]], work.seconds, end, self._waits(job))
        return False

    def _ended(self, progress: _Progress, container: JSON, work: RunTime) -> None:
        if self._end(progress, container, work):
            self._go(progress)
        elif progress.changes:
            self._kubelet.initialize(progress.job.pods[0], progress.changes)
            progress.changes = {}

    def _end(self, progress: _Progress, container: JSON, work: RunTime) -> bool:
        """End the present container; True if something is to be started at once."""
        (key,), name, code = progress.job.pods, container["name"], work.exit_code
        began, ended = (self._time.rfc3339(date) for date in (progress.began, self._time.now))
        ends: JSON = {
            "terminated": {
                "exitCode": code,
                "reason": "Error" if code else "Completed",
                "startedAt": began,
                "finishedAt": ended,
            }
        }
        self._events.write(self._time.now, "init_container_ended", pod=key, container=name, exit_code=code)
        self._change(progress, container, {"state": ends}, started=False, ready=not code)
        if not code:
            progress.index, progress.run, progress.backoff = progress.index + 1, 0, 0.0
            return True
        if progress.client.pod["spec"].get("restartPolicy", "Always") == "Never":
            self._kubelet.fail_initialization(key, progress.changes)
            progress.changes = {}
            self._control.clients.leave(progress.job, "Failed", INIT_ERROR)
            return False
        wait = wait_before(progress.run, self._time.now - progress.began, progress.backoff)
        progress.run, progress.backoff = progress.run + 1, wait
        progress.client.endless = self._goes_on(progress) and not work.by_chance
        change: JSON = {"lastState": ends}
        if wait > 0:
            change["state"] = self._kubelet.crash_loop(key, name, wait)
            self._plan.add(self._time.now + wait, partial(self._go, progress), self._waits(progress.job))
        self._change(progress, container, change, started=False, ready=False)
        return wait == 0

    def _goes_on(self, progress: _Progress) -> bool:
        """Tell whether a pod whose init container is never done stays for ever, as far as it is known."""
        by_job = owner_kind(progress.client.pod) == "Job" and progress.run < MOST_RETRIES
        return progress.client.deadline is None and not by_job

    def _change(self, progress: _Progress, container: JSON, change: JSON, *, started: bool, ready: bool) -> None:
        before = progress.changes.get(container["name"], {})
        progress.changes[container["name"]] = {**before, **change, "started": started, "ready": ready}

    def _waits(self, job: Job) -> Callable[[], bool]:
        return lambda: job.life.state is JobState.SUBMITTED
