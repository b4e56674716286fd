"""One simulation: Batsim's messages change the cluster; what schedulers do to it becomes the replies."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from batkube.batsim import messages
from batkube.batsim.allocation import parse_intervals
from batkube.batsim.platform import Platform
from batkube.bridge.cluster import Cluster
from batkube.bridge.decision_time import ZERO, DecisionTime, Reactions
from batkube.bridge.device_claims import DeviceClaims
from batkube.bridge.errors import InputError, InvariantBroken
from batkube.bridge.gangs import Gangs
from batkube.bridge.job_control import JobControl
from batkube.bridge.job_files import JobFiles
from batkube.bridge.jobs import PUBLISHED_DEFAULT_SCHEDULER, Job, JobState, PodWishes, SubmittedJob
from batkube.bridge.pod_watch import PodWatch
from batkube.bridge.startup import PodStages, Startup
from batkube.bridge.time import SimulatedTime, whole_microseconds
from batkube.kube.server import ApiServer
from batkube.results.events import EventLog

log = logging.getLogger(__name__)

ONE_MICROSECOND = 1e-6


class Simulation:
    """``apply`` a message, ``settle`` until nothing changes any more, ``reply``: a step.

    ``served``: the names that running schedulers go by; None where nobody can know.
    """

    def __init__(
        self,
        server: ApiServer,
        time: SimulatedTime,
        events: EventLog,
        *,
        scheduler_name: str,
        served: Sequence[str] | None,
        platform: Platform | None = None,
        files: JobFiles | None = None,
        decision_time: DecisionTime = ZERO,
        startup: Startup | None = None,
    ) -> None:
        self.time = time
        self.reactions = Reactions(decision_time, time)
        self.began = False
        self.over = False
        self.unserved: dict[str, list[str]] = {}
        """Scheduler names that nobody answers to, with the jobs that ask for them."""
        self.warnings: list[str] = []
        self.cluster = Cluster(server, time, platform)
        self.control = JobControl(server, time, events, self.cluster)
        self.gangs = Gangs(self.control, time, events)
        self.stages = PodStages(startup, self.control, self.cluster, time, events, freed=self.gangs.resume)
        self._server = server
        self._events = events
        self._scheduler_name = scheduler_name
        self._served = served
        self._files = files or JobFiles()
        self._watch = PodWatch(server, self.control, self.cluster)
        self._claims = DeviceClaims(server, self.warn)
        self.calls: list[float] = []
        """Dates for which Batsim was asked to call."""
        self._static_jobs_to_come = True
        self._external_events_to_come = False

    def close(self) -> None:
        """Let go of the API server, which another simulation may use."""
        self._watch.stop()
        self._claims.stop()
        if self._admit in self._server.bind_admission:
            self._server.bind_admission.remove(self._admit)

    @property
    def expects_more(self) -> bool:
        """Whether Batsim has something to tell even if no waiting job is started."""
        return self.expects_events or bool(self.calls)

    @property
    def expects_events(self) -> bool:
        """The same, the calls not counted that we have asked for."""
        return (
            not self.began
            or self._static_jobs_to_come
            or self._external_events_to_come
            or self.control.running > 0
            or self.stages.next_date is not None
        )

    @property
    def unfinished(self) -> bool:
        """Whether jobs are to come, wait or run."""
        return self._static_jobs_to_come or self.control.running > 0 or bool(self.control.waiting())

    # What Batsim says

    async def apply(self, message: messages.Message, between: Callable[[], Awaitable[object]]) -> bool:
        """Bring the cluster up to date; False where it was only a call at which nothing was due.

        ``between`` is called before an event is told after another one that has changed the cluster. Not where ends and
        hosts are still to be told: a job that has ended already must not be preempted, nor a lost host be given one.

        Raises InvariantBroken, and InputError for a platform that cannot be shown.
        """
        changed = False
        takes_away = max((index for index, event in enumerate(message.events) if _takes_away(event)), default=-1)
        for index, event in enumerate(message.events):
            if changed and index > takes_away:
                await between()
            revision = self._server.store.revision
            # An event may be older than the last message: it came while Batsim waited for us.
            self.time.advance(max(self.time.now, event.timestamp))
            self._apply(event)
            self._claims.sync()
            changed = self._server.store.revision != revision
        self.time.advance(message.now)
        told = not all(isinstance(event, messages.RequestedCall) for event in message.events)
        advanced = self.stages.advance()
        self._claims.sync()
        return advanced or told

    def _apply(self, event: messages.Event) -> None:
        match event:
            case messages.SimulationBegins():
                self._begin(event.data)
            case messages.JobSubmitted():
                self._submit(event.data)
            case messages.JobCompleted():
                data = event.data
                job = self.control.complete(data.job_id, data.job_state, data.return_code, finished=event.timestamp)
                self.stages.completed(job)
            case messages.Notify():
                self._notified(event.data)
            case messages.RequestedCall():
                self.calls = [date for date in self.calls if date > self.time.now + ONE_MICROSECOND]
            case messages.SimulationEnds():
                self.over = True
                self._events.write(self.time.now, "simulation_ends")
            case messages.UnknownEvent():
                self.warn(f"Batsim sent an event that batkube does not know: {event.type}")
            case _:
                log.debug("nothing to do for %s", event.type)

    def _begin(self, data: messages.SimulationBeginsData) -> None:
        if self.began:
            raise InvariantBroken("SIMULATION_BEGINS came twice")
        self.began = True
        self._files.begin(data.workloads, data.profiles)
        self._static_jobs_to_come = bool(data.workloads)
        if data.config.dynamic_jobs_enabled:
            # We register no jobs; without this word Batsim would wait for some for ever.
            done = messages.NotifyData(type="registration_finished")
            self.control.decisions.append(messages.Notify(timestamp=self.time.now, data=done))
        self.cluster.create(data.compute_resources, exclusive=not data.allow_compute_sharing)
        self._server.bind_admission.append(self._admit)
        self._watch.start()
        self._claims.start()
        self._events.write(
            self.time.now,
            "simulation_begins",
            nodes=list(self.cluster.hosts),
            compute_sharing=data.allow_compute_sharing,
        )

    def _admit(self, pod: dict[str, Any], node: str) -> None:
        self.cluster.check_binding(pod, node)
        if self.control.job_of(pod["metadata"]["name"]) is not None:
            self.reactions.decided()

    def _submit(self, data: messages.JobSubmittedData) -> None:
        submitted = SubmittedJob.read(data.job_id, data.job)
        in_file, profile = self._files.job(data.job_id, data.job)
        wishes, problem = PodWishes(), None
        try:
            wishes = PodWishes.read(f"job {data.job_id}", in_file, profile)
        except InputError as error:
            problem = str(error)
        job = Job(
            id=data.job_id,
            number=len(self.control.jobs),
            subtime=submitted.subtime,
            resources=submitted.res,
            profile=submitted.profile,
            walltime=submitted.walltime if (submitted.walltime or 0) > 0 else None,
            wishes=wishes,
            scheduler=self._scheduler_of(wishes),
        )
        self.control.submit(job, problem=problem)
        if self._served is not None and job.scheduler not in self._served and job.state is JobState.WAITING:
            if job.scheduler not in self.unserved:
                self.warn(f"no scheduler named {job.scheduler} is running: pods that ask for it will wait")
            self.unserved.setdefault(job.scheduler, []).append(job.id)

    def _scheduler_of(self, wishes: PodWishes) -> str:
        if wishes.scheduler in (None, PUBLISHED_DEFAULT_SCHEDULER):
            return self._scheduler_name
        return str(wishes.scheduler)

    def _notified(self, data: messages.NotifyData) -> None:
        match data.type:
            case "no_more_static_job_to_submit":
                self._static_jobs_to_come = False
            case "no_more_external_event_to_occur":
                self._external_events_to_come = False
            case "event_machine_unavailable" | "event_machine_available":
                self._external_events_to_come = True
                for number in parse_intervals(data.resources or ""):
                    self._host_changed(number, available=data.type == "event_machine_available")
            case other:
                self._events.write(self.time.now, "notify", type=other)

    def _host_changed(self, number: int, *, available: bool) -> None:
        node = self.cluster.node_of_host(number)
        self._events.write(self.time.now, "node_ready" if available else "node_not_ready", node=node)
        self.cluster.kubelet.set_ready(node, available)
        if not available:
            # Batsim lets jobs run on a host that is gone, and starts none there; a cluster does neither.
            for job in [job for job in self.control.jobs.values() if node in job.nodes.values()]:
                if job.state is JobState.RUNNING:
                    self.control.kill(job, f"node {node} became unavailable")
                elif job.state is JobState.WAITING:
                    self.control.replace_pods(job, f"node {node} became unavailable")

    # What schedulers and users do

    def settle(self) -> bool:
        """Act on what was done to pods since: start jobs that are complete, kill or reject those whose pods go.

        True where that changed the cluster again, so that a scheduler may have more to say. Bindings are taken in order
        of the jobs and not in order of arrival, which no client promises.
        """
        before = self._server.store.revision
        done = self._watch.take()
        freed = False
        for name in sorted(done.deleted, key=self._order):
            freed = self._pod_deleted(name, done.deleted[name]) or freed
        for name in sorted(done.bound, key=self._order):
            job = self._job(name)
            if name in job.uids and job.state is JobState.WAITING:
                self.control.bound(job, name, done.bound[name])
                self.stages.bound(job, name)
        self.stages.advance()
        self._claims.sync()
        return freed or self._server.store.revision != before

    @property
    def acted(self) -> bool:
        """Whether schedulers or users have done something since the last ``settle`` that starts, kills or rejects."""
        return any(self._watch.bound()) or any(self._is_decision(*pod) for pod in self._watch.deleted())

    def _is_decision(self, name: str, uid: str) -> bool:
        job = self._job(name)
        return job.uids.get(name) == uid and job.state in (JobState.WAITING, JobState.RUNNING)

    async def stirred(self) -> None:
        """Return as soon as somebody binds or deletes one of the pods."""
        await self._watch.stirred()

    def _pod_deleted(self, name: str, uid: str) -> bool:
        """Whether nodes are free for others now."""
        job = self._job(name)
        if job.uids.get(name) != uid:
            return False
        why = f"pod {name} was deleted"
        if job.state is JobState.RUNNING:
            self.control.kill(job, why)
        elif job.state is JobState.WAITING:
            self.control.reject(job, f"{why} before the job started")
            return True
        return False

    def _order(self, pod: str) -> tuple[int, int]:
        job = self._job(pod)
        return job.number, job.pods.index(pod)

    def _job(self, pod: str) -> Job:
        job = self.control.job_of(pod)
        assert job is not None, pod
        return job

    def reply(self) -> messages.Message:
        """All decisions since the last reply, dated now, and a call for when the next pod has started or ended."""
        if not self.over and (date := self.stages.next_date) is not None:
            self.call_later(date)
        decisions, self.control.decisions = self.control.decisions, []
        return messages.Message(now=self.time.now, events=[*decisions])

    def call_later(self, date: float) -> None:
        """Let Batsim call at ``date``, unless it will by then."""
        date = whole_microseconds(date)
        if any(call <= date for call in self.calls):
            return
        self.calls.append(date)
        data = messages.CallMeLaterData(timestamp=date)
        self.control.decisions.append(messages.CallMeLater(timestamp=self.time.now, data=data))

    def warn(self, text: str) -> None:
        """Tell the user something that does not stop the run; the same text once."""
        if text not in self.warnings:
            self.warnings.append(text)
            log.warning("%s", text)

    def is_refused(self, job: Job) -> bool:
        """Whether its scheduler has said of one of the pods that it cannot place it."""
        return any(self.control.pods[name].waited_for for name in job.pods)

    def explain(self, job: Job) -> str:
        """Why the job still waits: who should have placed it, and the last that was said of it."""
        if job.scheduler in self.unserved:
            return f"job {job.id}: no scheduler named {job.scheduler} is running"
        records: list[Any] = [self.control.pods[name] for name in job.pods if name not in job.nodes]
        said = next((record.waited_for for record in records if record.waited_for), "")
        pods = records[0].pod if len(records) == 1 else f"{len(records)} of {len(job.pods)} pods"
        what = f'last said: "{said}"' if said else "said nothing of it"
        return f"job {job.id}: {pods} unbound; {job.scheduler} {what}"


def _takes_away(event: messages.Event) -> bool:
    """Whether a job or a host may be gone by it."""
    return isinstance(event, messages.JobCompleted) or (
        isinstance(event, messages.Notify) and event.data.resources is not None
    )
