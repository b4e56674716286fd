"""Pods that clients of the API make: whatever a scheduler binds runs in the simulation, as a dynamic job.

A pod costs the simulator nothing until it has a node. Then each run of its process is a job that is registered when it
starts, with a profile of its own. Init containers come before that (``init_containers.py``). Where the pod's
restartPolicy says so the process is started again, after the kubelet's back-off (``back_off.py``).
"""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from batkube.back_off import wait_before
from batkube.batsim.jobs import JobDescription, JobState
from batkube.bridge.cluster import NO_SUCH_NODE, NODE_LOST, Cluster
from batkube.bridge.errors import InputError
from batkube.bridge.init_containers import InitContainers
from batkube.bridge.job_control import JobControl
from batkube.bridge.jobs import NO_REQUIREMENTS, ClientPod, Job
from batkube.bridge.kubelet import KILLED_BY_SIGKILL, UNKNOWN, UNKNOWN_EXIT_CODE
from batkube.bridge.lost_pods import LostPods
from batkube.bridge.names import Names
from batkube.bridge.plan import Plan
from batkube.bridge.registration import Registration
from batkube.bridge.restarts import MOST_RETRIES, is_restarted
from batkube.bridge.run_times import RunTimes, owner_kind
from batkube.bridge.speeds import Speeds
from batkube.bridge.startup import PodStages
from batkube.bridge.time import SimulatedTime
from batkube.bridge.usage_phases import USAGE_ANNOTATION, usage_of
from batkube.controllers.pods import is_ended
from batkube.results.events import EventLog
from batkube.startup.durations import MICROSECONDS

JSON = dict[str, Any]

DEADLINE_EXCEEDED = "DeadlineExceeded"
WORKLOAD = "pods"
"""The workload of these jobs, as Batsim names it."""
MOST_NAMED = 5
"""The most pods that a warning names."""
_SHORTEST = 1e-6
"""The length in seconds of a process that takes no time: a profile must take some."""


class ClientPods:
    """Makes jobs of pods that are none of Batsim's, and starts and ends their processes.

    ``served``: the names that running schedulers go by; None if they cannot be known. ``warn`` is told, once each, of
    what keeps a pod from running.
    """

    def __init__(
        self,
        control: JobControl,
        cluster: Cluster,
        stages: PodStages,
        time: SimulatedTime,
        run_times: RunTimes,
        registration: Registration,
        speeds: Speeds,
        events: EventLog,
        *,
        served: tuple[str, ...] | None,
        warn: Callable[[str], None],
    ) -> None:
        self._control = control
        self._cluster = cluster
        self._registration = registration
        self._kubelet = cluster.kubelet
        self._stages = stages
        self._time = time
        self._run_times = run_times
        self._speeds = speeds
        self._served = served
        self._warn = warn
        self._names = Names()
        self.plan = Plan()
        """Ends and restarts of containers, and what else may become of pods while they run."""
        self.lost = LostPods(self, control, cluster, time)
        self._initial = InitContainers(control, self._kubelet, time, events, run_times, self.plan, stages.turns, speeds)
        stages.first = self._initial.run_first
        control.clients.started = self._started

    @property
    def next_date(self) -> float | None:
        """The date at which a container is next started or ends; None if none is planned. Never the present."""
        return self.plan.next_stop(self._time.now)

    def advance(self) -> bool:
        """Start the processes whose back-off is over, and the like; False if there was nothing to do."""
        if not self.plan.used or self._control.clients.stopping:
            return False
        return self.plan.act_until(self._time.now)

    def adopt(self, key: str, pod: JSON) -> Job | None:
        """Make a job of a new pod; None for one that has ended, and where nothing can be registered."""
        if is_ended(pod) or self._control.clients.stopping:
            return None
        if not self._registration.open:
            self._warn("pods that clients make do not run: Batsim was started without --enable-dynamic-jobs")
            return None
        scheduler = pod["spec"].get("schedulerName", "")
        served = self._served is None or scheduler in self._served
        job = self._job(key, key.replace("/", "."), ClientPod(pod), scheduler, served=served)
        self._control.clients.adopt(job, pod)
        return job

    def _job(self, key: str, name: str, client: ClientPod, scheduler: str, *, served: bool) -> Job:
        """Return a new job for the pod of this key, called ``name`` unless another is."""
        name = self._names.claim(name)
        return Job(
            id=f"{WORKLOAD}!{name}",
            description=JobDescription(id=name, subtime=self._time.now, res=1, profile=name),
            number=self._control.numbered,
            requirements=NO_REQUIREMENTS,
            scheduler=scheduler,
            served=served,
            pods=[key],
            client=client,
        )

    def bound(self, job: Job, key: str, node: str) -> None:
        """Start the pod on its node, or refuse it as a kubelet does that has no room for it.

        Nothing starts when the simulation is about to end: no job can be registered any more.
        """
        client = job.client
        assert client is not None
        if self._control.clients.stopping:
            return
        if client.refused == NO_SUCH_NODE:
            self._warn(f"pod {key}: node {node} is no host of the simulation: nothing runs there")
            self._control.clients.leave(job, "Pending", NO_SUCH_NODE)
            return
        if client.refused == NODE_LOST:
            self.lost.bound(job, node)
            return
        if client.refused is not None:
            self.refuse(job, key, client.refused, f"Pod was rejected: node {node}: {client.refused}")
            return
        try:
            self.prepare(job, client, node)
            self._control.bound(job, key, node)
            self._expect_deadline(job, key)
            self._stages.bound(job, key)
        except InputError as error:
            self._warn(str(error))
            self.refuse(job, key, "InvalidSimulation", str(error))

    def refuse(self, job: Job, key: str, reason: str, message: str) -> None:
        """Fail a pod whose process never runs."""
        self._kubelet.refuse(key, reason, message)
        self._control.clients.leave(job, "Failed", reason)

    def prepare(self, job: Job, client: ClientPod, node: str) -> None:
        """Find out what the pod does on the node from its beginning, for how long, and whether it is ever over.

        Raises InputError.
        """
        self._prepare(job, client, node)
        client.initialized = not self._initial.take_time(client.pod)

    def start_anew(self, job: Job, client: ClientPod, key: str, *, began: bool) -> None:
        """Start a prepared pod from its beginning, as its host is back. ``began``: something of it has run before."""
        self._expect_deadline(job, key)
        if not began:
            self._stages.bound(job, key)
            return
        if not client.initialized:
            self._kubelet.reboot(key)
        self._stages.start(job)

    def _prepare(self, job: Job, client: ClientPod, node: str) -> None:
        """Find out how long the process runs on the node, and whether it is ever over. Raises InputError."""
        work = self._run_times.of(client.pod, client.run)
        profile = work.profile
        if profile["type"] == "delay":
            seconds = profile["delay"] / self._speeds.of_machine(node)
            profile = {**profile, "delay": max(seconds, _SHORTEST)}
        client.profile = profile
        try:
            usage_of(client.pod)
        except ValueError as error:
            raise InputError(f"pod {job.pods[0]}: {USAGE_ANNOTATION}: {error}") from None
        client.containers = work.containers
        client.termination = self._run_times.termination(client.pod)
        client.endless = work.endless(client.pod["spec"].get("restartPolicy", "Always"))
        client.endless = client.endless or client.oom_kills > MOST_RETRIES
        if owner_kind(client.pod) == "Job" and client.run < MOST_RETRIES and work.run_time.seconds is not None:
            client.endless = False  # its controller gives up
        seconds = client.pod["spec"].get("activeDeadlineSeconds")
        if seconds is not None:
            client.endless = False
            bound = self._control.pods[job.pods[0]].bound_time
            client.deadline = float(seconds) + (self._time.now if bound is None else bound)

    def _expect_deadline(self, job: Job, key: str) -> None:
        """End the pod at its deadline, if its process has not started by then."""
        client = job.client
        assert client is not None
        if client.deadline is not None:
            expire = partial(self.expire, job, key, None)
            self.plan.add(client.deadline, expire, lambda: job.life.state is JobState.SUBMITTED)

    def expire(self, job: Job, key: str, exited: float | None) -> None:
        """End a pod whose process does not run at its deadline. ``exited``: when it did; None for never."""
        self._kubelet.exceed_deadline(key, self._time.now, self._time.now if exited is None else exited)
        self._control.clients.leave(job, "Failed", DEADLINE_EXCEEDED)

    def _started(self, job: Job) -> None:
        """Note that the pod's process starts: until when it may run, and when each of its containers ends."""
        client, (key,) = job.client, job.pods
        assert client is not None
        if client.rebooted:
            client.rebooted = False
            self._kubelet.start_again(key, UNKNOWN_EXIT_CODE, self._time.now, reason=UNKNOWN)
            self._control.records.by_name[key].phase = "Running"
        if client.deadline is not None:
            left = max(round(client.deadline - self._time.now, MICROSECONDS), _SHORTEST)
            job.description = job.description.model_copy(update={"walltime": left})
        if not client.containers or client.pod["spec"].get("restartPolicy", "Always") != "Never":
            return
        self._kubelet.exit_codes[key] = {name: run_time.exit_code for name, run_time in client.containers.items()}
        lengths = [run_time.seconds for run_time in client.containers.values()]
        last = None if None in lengths else max(length for length in lengths if length is not None)
        for name, run_time in client.containers.items():
            if run_time.seconds is not None and run_time.seconds != last:
                act = partial(self._kubelet.end_container, key, name, run_time.exit_code)
                runs = partial(self._runs, job)
                self._speeds.after(self.plan, job.nodes[key], run_time.seconds, act, runs)

    def _runs(self, job: Job) -> bool:
        return job.life.state is JobState.RUNNING

    def completed(self, job: Job) -> bool:
        """Start the process of a pod again whose run has ended, if it is to be; False if the pod has ended."""
        client = job.client
        if client is None:
            return False
        if self._control.clients.stopping and client.endless:
            return True
        (key,) = job.pods
        lost = job.disruption == NODE_LOST or not self._cluster.runs(job.nodes[key])
        if lost and job.life.state is JobState.COMPLETED_KILLED:
            self.lost.add(job)
            return True
        failed = job.life.state is JobState.COMPLETED_FAILED
        policy = client.pod["spec"].get("restartPolicy", "Always")
        ended = job.life.state in (JobState.COMPLETED_SUCCESSFULLY, JobState.COMPLETED_FAILED)
        if job.life.state is JobState.COMPLETED_KILLED and key in self._kubelet.oom_killed:
            ended = failed = True
        if not ended or client.terminating or not is_restarted(policy, failed=failed):
            return False
        self._run_again(job, client, key)
        return True

    def next_run(self, job: Job, client: ClientPod) -> Job:
        """Return a new job for the next run of the pod of ``job``."""
        return self._job(
            job.pods[0],
            f"{job.name.partition('.run')[0]}.run{client.run + 2}",
            replace(client, run=client.run + 1),
            job.scheduler,
            served=job.served,
        )

    def _run_again(self, job: Job, client: ClientPod, key: str) -> None:
        exited = self._time.now if job.life.finish_time is None else job.life.finish_time
        oom_killed = key in self._kubelet.oom_killed
        code = KILLED_BY_SIGKILL if oom_killed else (job.life.return_code or 0) & 0xFF
        ran = exited - (exited if job.life.starting_time is None else job.life.starting_time)
        wait = wait_before(client.run, ran, client.backoff)
        kills = client.oom_kills + 1 if oom_killed else 0
        following = self.next_run(job, replace(client, backoff=wait, oom_kills=kills))
        self._control.clients.run_again(following, job)

        def waits() -> bool:
            return following.life.state is JobState.SUBMITTED

        def start() -> None:
            self._prepare(following, following.client or client, following.nodes[key])
            self._kubelet.start_again(key, code, exited)
            self._stages.start(following)

        if wait > 0:
            self._kubelet.back_off(key, code, exited, wait)
        if client.deadline is not None and client.deadline <= exited + wait:
            self.plan.add(client.deadline, partial(self.expire, following, key, exited), waits)
        else:
            self.plan.add(exited + wait, start, waits)

    def deleted(self, job: Job, key: str) -> bool:
        """End a pod that was deleted and whose process does not run; True: its node is free for others now.

        A silent kubelet hears nothing of it.
        """
        if job.id in self._control.clients.without_host:
            return False
        self._kubelet.remove(key)
        self._control.clients.leave(job, "Failed" if job.nodes else "Pending", "Deleted")
        return bool(job.nodes)

    def give_up_starting(self) -> bool:
        """Let the simulation end though pods that have their node never start; tell whether there are any."""
        left = self._control.clients.give_up_starting()
        if left:
            more = f"; and {len(left) - MOST_NAMED} more" if len(left) > MOST_NAMED else ""
            self._warn(f"pods have their node and never start: {'; '.join(left[:MOST_NAMED])}{more}")
        return bool(left)

    def give_up_placing(self) -> bool:
        """Let the simulation end though pods have no node, which nobody will place; tell whether there are any."""
        left = self._control.clients.give_up_placing()
        if left:
            names = ", ".join(left[:MOST_NAMED]) + (", ..." if len(left) > MOST_NAMED else "")
            self._warn(f"{len(left)} pods have no node, and nothing will happen that gives them one: {names}")
        return bool(left)
