"""Pods between their binding and Running, and between the end of their process and their own end.

Without a start-up model both take no time: a job starts when its last pod is bound, and its pods end with it. With a
model each pod goes through the kubelet's stages on its own, and the job starts when the last of its pods has started. A
pod holds its node all the while.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from batkube.batsim.jobs import JobState
from batkube.bridge.cluster import Cluster
from batkube.bridge.decisions import SOONEST
from batkube.bridge.errors import InputError
from batkube.bridge.image_pulls import ImagePulls
from batkube.bridge.job_control import JobControl
from batkube.bridge.jobs import Job
from batkube.bridge.kubelet_events import Told
from batkube.bridge.outages import Outages
from batkube.bridge.plan import Plan
from batkube.bridge.power import Power
from batkube.bridge.time import SimulatedTime
from batkube.event_queue import Action
from batkube.results.events import EventLog
from batkube.results.pods import PodStageTimes
from batkube.startup.errors import StartupError
from batkube.startup.model import PodDelays, StartupModel


@dataclass(frozen=True, slots=True)
class Startup:
    """The model from which delays are drawn, and the seed."""

    model: StartupModel
    seed: int

    def delays(self, job: Job, pod: str) -> PodDelays:
        """Return the delays of one pod. Raises InputError if a trace does not know it."""
        try:
            return self.model.delays(self.seed, pod, job.name)
        except StartupError as error:
            raise InputError(str(error)) from None


class PodStages:
    """Takes pods through their stages.

    ``startup``: None if that takes no time. ``freed`` is called when pods have ended and their nodes are free.
    """

    def __init__(
        self,
        startup: Startup | None,
        control: JobControl,
        cluster: Cluster,
        time: SimulatedTime,
        events: EventLog,
        outages: Outages,
        power: Power,
        freed: Callable[[], object],
    ) -> None:
        self._startup = startup
        self._control = control
        self._cluster = cluster
        self._kubelet = cluster.kubelet
        self._outages = outages
        self._power = power
        self._time = time
        self._events = events
        self._freed = freed
        self.turns = Plan()
        """The starts and ends of pods: the simulation stops at them."""
        self._notices = Plan()
        """The Events of the stages in between, told with their own date at the next stop: nothing depends on them."""
        self._pulls: ImagePulls | None = None
        if startup is not None and startup.model.images is not None:
            self._pulls = ImagePulls(startup.model.images, startup.seed, control, cluster, time, events, self.turns)
        self._without_host: dict[str, dict[str, Job]] = {}
        """The pods that have come to hosts that have failed, with their jobs, by node."""
        self.first: Callable[[Job, str, Action], bool] = lambda job, pod, go_on: False
        """Does what comes before the process of a pod, and then calls the last; False if nothing is to be done."""
        self._prepared: dict[str, set[str]] = {}
        """The pods of jobs, without start-up model, that have done what comes before; by the job's id, their uids."""

    @property
    def next_date(self) -> float | None:
        """The date when the next pod will have started, or ended; None if none is on its way. Never the present."""
        return self.turns.next_stop(self._time.now)

    @property
    def idle_date(self) -> float | None:
        """The date of the next act that nobody waits for; None if there is none. Never the present."""
        return None if self._pulls is None else self._pulls.idle.next_stop(self._time.now)

    def advance(self) -> bool:
        """Bring the pods up to date; False if none has started or ended."""
        if not (self.turns.used or self._notices.used):
            return False
        self._notices.act_until(self._time.now)
        tried = self._pulls is not None and self._pulls.idle.act_until(self._time.now)
        return self.turns.act_until(self._time.now) or tried

    def bound(self, job: Job, pod: str) -> None:
        """Note that the pod has its node. Raises InputError if a trace does not know the pod.

        The kubelet notes at once a pod that waits for others of its job: kube-scheduler distinguishes possible victims
        by the date of that (``startTime``). On a host that has failed nothing happens before it is back.
        """
        if not self._cluster.runs(node := job.nodes[pod]):
            self._without_host.setdefault(node, {})[pod] = job
            return
        if self._startup is None:
            if job.client is None and job.requirements.pod:
                self._prepare(job, pod)
            elif len(job.nodes) == len(job.pods):
                self.start(job)
            else:
                self._kubelet.create(pod)
            return
        delays = self._startup.delays(job, pod)
        uid = job.uids[pod]

        def holds() -> bool:
            return job.uids.get(pod) == uid and job.life.state is JobState.SUBMITTED

        self._kubelet.create(pod)
        stages = self._control.pods[pod].stages = PodStageTimes()
        stages.pulling_time = self._time.now + delays.pulling
        if self._pulls is not None:
            pull = partial(self._pull, self._pulls, job, pod, delays, holds)
            self.turns.add(stages.pulling_time, pull, holds)
            return
        stages.pulled_time = stages.pulling_time + delays.pulled
        stages.container_created_time = stages.pulled_time + delays.created
        tell = self._kubelet.tell
        self._notices.add(stages.pulling_time, partial(tell, pod, Told.PULLING, stages.pulling_time), holds)
        pulled = partial(tell, pod, Told.PULLED, stages.pulled_time, took=delays.pulled)
        self._notices.add(stages.pulled_time, pulled, holds)
        created = stages.container_created_time
        self._notices.add(created, partial(tell, pod, Told.CREATED, created), holds)
        self.turns.add(created + delays.started, partial(self._started, job, pod), holds)

    def _pull(self, pulls: ImagePulls, job: Job, pod: str, delays: PodDelays, holds: Callable[[], bool]) -> None:
        """Pull the images of a pod, those of its init containers first."""
        initial = bool((self._kubelet.pod(pod) or {}).get("spec", {}).get("initContainers"))

        def pulled() -> None:
            stages = self._control.pods[pod].stages
            assert stages is not None
            stages.pulled_time = self._time.now
            created = stages.container_created_time = self._time.now + delays.created
            self._notices.add(created, partial(self._kubelet.tell, pod, Told.CREATED, created), holds)
            self.turns.add(created + delays.started, start, holds)

        def start() -> None:
            if self.first(job, pod, start):
                return
            if initial:
                pulls.begin(job, pod, delays.pulled, holds, partial(self._started, job, pod), initial=False)
            else:
                self._started(job, pod)

        pulls.begin(job, pod, delays.pulled, holds, pulled, initial=initial)

    def host_is_back(self, node: str) -> None:
        """Start the pods that have come to a node whose host had failed, unless others were made in their place."""
        for pod, job in self._without_host.pop(node, {}).items():
            if job.life.state is JobState.SUBMITTED and job.nodes.get(pod) == node:
                self.bound(job, pod)

    def _started(self, job: Job, pod: str) -> None:
        if self.first(job, pod, partial(self._started, job, pod)):
            return
        self._events.write(self._time.now, "pod_started", pod=pod)
        self._control.start_pod(job, pod)
        self._kubelet.tell(pod, Told.STARTED, self._time.now)
        if all(self._control.pods[name].starting_time is not None for name in job.pods):
            self.start(job)

    def _prepare(self, job: Job, pod: str) -> None:
        """Run the init containers of a pod of a job of Batsim's; it starts when all its pods are done with theirs."""
        done = partial(self._done, job, pod)
        if not self.first(job, pod, done) and not done():
            self._kubelet.create(pod)

    def _done(self, job: Job, pod: str) -> bool:
        """Note that a pod is prepared; True if that starts its job."""
        prepared = self._prepared.setdefault(job.id, set())
        prepared.add(job.uids[pod])
        if len(prepared) < len(job.uids) or not prepared.issuperset(job.uids.values()):
            return False
        del self._prepared[job.id]
        self.start(job)
        return True

    def start(self, job: Job) -> None:
        """Start the job when its hosts are on, unless one of them goes before Batsim would have started it."""
        if not all(self._cluster.runs(node) for node in job.nodes.values()):
            return
        if not self._power.switches_hosts and not self._outages.known:
            self._start(job)
            return
        nodes = dict(job.nodes)

        def holds() -> bool:
            return job.life.state is JobState.SUBMITTED and job.nodes == nodes

        def try_again() -> None:
            if holds():
                self.start(job)

        if not self._power.wake(job.nodes.values(), try_again):
            for pod in job.pods:
                if self._control.pods[pod].starting_time is None:
                    self._kubelet.create(pod)
            return
        date = self._outages.before_handling(self._cluster.numbers(job))
        if date is None:
            self._start(job)
            return
        # The bridge makes the pods anew when it is told of the outage. If the outage never comes, the job starts then.
        self.turns.add(max(date, self._time.now) + SOONEST, partial(self.start, job), holds)

    def _start(self, job: Job) -> None:
        if job.client is None or not self.first(job, job.pods[0], partial(self.start, job)):
            self._control.start(job)

    def terminate(self, job: Job, grace: float, why: str) -> None:
        """Kill a job that runs when ``grace`` simulated seconds are over, unless it has ended by then."""
        if grace <= 0:
            self._control.kill(job, why)
            return

        def holds() -> bool:
            return job.life.state is JobState.RUNNING and not job.kill_asked

        self.turns.add(self._time.now + grace, partial(self._control.kill, job, why), holds)

    def completed(self, job: Job) -> None:
        """Note that the processes of the job's pods have ended, at the job's ``finish_time``."""
        exited = self._time.now if job.life.finish_time is None else job.life.finish_time
        if self._startup is None:
            for pod in job.pods:
                self._control.end_pod(job, pod, exited)
            self._freed()
            return
        for pod in job.pods:
            stages = self._control.pods[pod].stages
            if stages is not None:
                stages.exit_time = exited
            date = exited + self._startup.delays(job, pod).ended
            self.turns.add(date, partial(self._ended, job, pod, date), lambda: True)

    def _ended(self, job: Job, pod: str, date: float) -> None:
        self._events.write(self._time.now, "pod_ended", pod=pod)
        self._control.end_pod(job, pod, date)
        self._freed()
