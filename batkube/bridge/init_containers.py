"""The init containers of pods: one after the other, before the process of the pod starts.

A pod holds its node meanwhile, and is Pending. Batsim knows nothing of it: no process of its job runs. The pod of a
client has no job before that; a job of Batsim's starts when all its pods are done with theirs. A sidecar (an init
container with ``restartPolicy: Always``) is started in its turn and goes on beside the others.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from batkube.back_off import wait_before
from batkube.batsim.jobs import JobState
from batkube.bridge.errors import InputError
from batkube.bridge.job_control import JobControl
from batkube.bridge.jobs import ClientPod, Job
from batkube.bridge.kubelet import Kubelet
from batkube.bridge.plan import Plan
from batkube.bridge.pod_status_parts import is_sidecar
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
    key: str
    """The key of the pod."""
    pod: JSON
    plan: Plan
    holds: Callable[[], bool]
    """Tells whether the pod is still to start."""
    go_on: Callable[[], object]
    """Called when they are done."""
    endless: bool = False
    """True if the pod of a client itself never ends."""
    index: int = 0
    run: int = 0
    """The number of the run of the present one, from 0."""
    backoff: float = 0.0
    began: float = 0.0
    """The date at which the present one was started."""
    changes: dict[str, JSON] = field(default_factory=dict)
    """The notes that the kubelet has still to make of them."""


class InitContainers:
    """Takes pods through their init containers.

    ``plan``: where their ends and restarts are planned; ``turns``: those of jobs of Batsim's.
    """

    def __init__(
        self,
        control: JobControl,
        kubelet: Kubelet,
        time: SimulatedTime,
        events: EventLog,
        run_times: RunTimes,
        plan: Plan,
        turns: Plan,
        speeds: Speeds,
    ) -> None:
        self._control = control
        self._kubelet = kubelet
        self._time = time
        self._events = events
        self._run_times = run_times
        self._plan = plan
        self._turns = turns
        self._begun: set[str] = set()
        """The uids of pods of Batsim's jobs whose init containers were begun, or take no time."""
        self._speeds = speeds

    def take_time(self, pod: JSON) -> bool:
        """Tell whether the init containers of a pod take time, or fail. Raises InputError."""
        return any(
            (run_time := self._run_times.of_init_container(pod, container, 0)).seconds != 0 or run_time.exit_code
            for container in pod["spec"].get("initContainers") or ()
            if not is_sidecar(container)
        )

    def run_first(self, job: Job, key: str, go_on: Callable[[], object]) -> bool:
        """Run the init containers of a pod, and then call ``go_on``; False if nothing is left to run.

        A job is rejected if what its pods say of their init containers cannot be read.
        """
        client, uid = job.client, job.uids[key]
        if client is not None:
            if client.initialized:
                return False
            waits = partial(_waits, job)
            progress = _Progress(job, key, client.pod, self._plan, waits, go_on, client.endless)
            client.endless = False
            self._control.clients.prepare(job)
            self._go(progress)
            return True
        pod = self._kubelet.pod(key) if job.requirements.pod else None
        if pod is None or uid in self._begun:
            return False
        self._begun.add(uid)
        try:
            if not self.take_time(pod):
                return False
        except InputError as error:
            self._control.reject(job, str(error))
            return True
        self._go(_Progress(job, key, pod, self._turns, lambda: _waits(job) and job.uids.get(key) == uid, go_on))
        return True

    def _go(self, progress: _Progress) -> None:
        """Go on until a container takes time, or all are done."""
        containers = progress.pod["spec"]["initContainers"]
        while progress.index < len(containers):
            if not self._begin(progress, containers[progress.index]):
                if progress.changes:
                    self._kubelet.initialize(progress.key, progress.changes)
                    progress.changes = {}
                return
        self._kubelet.initialize(progress.key, progress.changes)
        if (client := progress.job.client) is not None:
            client.initialized, client.endless = True, progress.endless
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
        work = self._run_times.of_init_container(progress.pod, container, progress.run)
        if work.seconds == 0:
            return self._end(progress, container, work)
        if work.seconds is None:
            self._never_done(progress, container)
            return False
        end = partial(self._ended, progress, container, work)
        node = progress.job.nodes[progress.key]
        self._speeds.after(progress.plan, node, work.seconds, end, progress.holds)
        return False

    def _ended(self, progress: _Progress, container: JSON, work: RunTime) -> None:
        if self._end(progress, container, work):
            self._go(progress)
        elif progress.changes:
            self._kubelet.initialize(progress.key, progress.changes)
            progress.changes = {}

    def _end(self, progress: _Progress, container: JSON, work: RunTime) -> bool:
        """End the present container; True if something is to be started at once."""
        key, name, code = progress.key, container["name"], work.exit_code
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
        job, client = progress.job, progress.job.client
        never = progress.pod["spec"].get("restartPolicy", "Always") == "Never"
        if never or (client is None and progress.run >= MOST_RETRIES):
            self._kubelet.fail_initialization(key, progress.changes)
            progress.changes = {}
            if client is None:
                self._control.reject(job, f"pod {key}: init container {name} has failed with exit code {code}")
            else:
                self._control.clients.leave(job, "Failed", INIT_ERROR)
            return False
        wait = wait_before(progress.run, self._time.now - progress.began, progress.backoff)
        progress.run, progress.backoff = progress.run + 1, wait
        if client is not None:
            client.endless = self._goes_on(progress, client) and not work.by_chance
        change: JSON = {"lastState": ends}
        if wait > 0:
            change["state"] = self._kubelet.crash_loop(key, name, wait)
            progress.plan.add(self._time.now + wait, partial(self._go, progress), progress.holds)
        self._change(progress, container, change, started=False, ready=False)
        return wait == 0

    def _never_done(self, progress: _Progress, container: JSON) -> None:
        """Note that an init container runs for ever."""
        job, name = progress.job, container["name"]
        if job.client is None:
            job.hold(f"{progress.key}/{name}", f"pod {progress.key}: init container {name} runs for ever")
        else:
            job.client.endless = self._goes_on(progress, job.client)

    def _goes_on(self, progress: _Progress, client: ClientPod) -> bool:
        """Tell whether a pod whose init container is never done stays for ever, as far as it is known."""
        by_job = owner_kind(client.pod) == "Job" and progress.run < MOST_RETRIES
        return client.deadline is None and not by_job

    def _change(self, progress: _Progress, container: JSON, change: JSON, *, started: bool, ready: bool) -> None:
        before = progress.changes.get(container["name"], {})
        progress.changes[container["name"]] = {**before, **change, "started": started, "ready": ready}


def _waits(job: Job) -> bool:
    return job.life.state is JobState.SUBMITTED
