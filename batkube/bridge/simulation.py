"""One simulation: Batsim's messages change the cluster, and the actions of schedulers on it become the replies."""

import logging
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from batkube.batsim import messages
from batkube.batsim.allocation import parse_intervals
from batkube.batsim.external_events import ExternalEvent
from batkube.batsim.jobs import JobState
from batkube.batsim.machine_events import MachineEvents
from batkube.batsim.platform import Platform
from batkube.bridge.arrivals import Arrivals
from batkube.bridge.availability import AVAILABLE, UNAVAILABLE, Availability
from batkube.bridge.client_pods import ClientPods
from batkube.bridge.cluster import Cluster
from batkube.bridge.controller_settings import Which
from batkube.bridge.controllers import Controllers
from batkube.bridge.decision_time import ZERO, DecisionTime, Reactions
from batkube.bridge.decisions import Decisions
from batkube.bridge.deletions import Deletions
from batkube.bridge.drains import Drain, Drains
from batkube.bridge.draw import Draw
from batkube.bridge.errors import InputError, InvariantBroken
from batkube.bridge.event_order import in_drawn_order, takes_away
from batkube.bridge.finished import Finished
from batkube.bridge.gangs import Gangs
from batkube.bridge.hardware import NO_MORE_HOSTS, Hardware
from batkube.bridge.job_control import JobControl
from batkube.bridge.job_files import JobFiles
from batkube.bridge.membership import Membership
from batkube.bridge.names import pod_key
from batkube.bridge.node_leases import NodeLeases
from batkube.bridge.outages import Outages
from batkube.bridge.pod_resources import PodResources
from batkube.bridge.pod_watch import PodWatch
from batkube.bridge.power import Power
from batkube.bridge.registration import Registration
from batkube.bridge.requeue import Requeue
from batkube.bridge.requeue_rule import RequeueRule
from batkube.bridge.run_times import RunTimeRules, RunTimes
from batkube.bridge.speeds import Slowdown, Speeds
from batkube.bridge.startup import PodStages, Startup
from batkube.bridge.storages import Storages
from batkube.bridge.submissions import Submissions
from batkube.bridge.time import SimulatedTime
from batkube.bridge.user_deeds import UserDeeds
from batkube.bridge.waits import WaitRecorder
from batkube.bridge.workload_watch import WorkloadWatch
from batkube.controllers.flags import Flags
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer
from batkube.results.accounts import Accounts
from batkube.results.attempts import AttemptLog
from batkube.results.events import EventLog
from batkube.results.wait_log import WaitLog

log = logging.getLogger(__name__)


class Simulation:
    """One simulation, in steps: ``apply`` a message, ``settle`` until nothing changes any more, ``reply``.

    ``scheduler_name``, ``served``: see Submissions. ``control_latency``: see Decisions. ``outages``: the external
    events to come, if their file is known. ``machine_events``, ``drains``, ``slowdowns``: what is planned for nodes.
    ``requeue``, ``hardware`` (Membership), ``spare`` (Cluster), ``power_off_after`` (Power), and
    ``node_monitor_grace_period`` (Kubelets): see there. ``energy``:
    Batsim simulates it, so that hosts can be switched. ``keep_finished``: see Finished. ``seed``: see Draw.
    ``backs_off``: False for a scheduler inside batkube: it decides whenever something changes, and sends no requests.
    ``run_times``: of pods that clients make. ``until``: the date before which it does not end. ``controllers``: played.
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
        control_latency: float = 0.0,
        outages: Sequence[ExternalEvent] = (),
        machine_events: MachineEvents | None = None,
        drains: Sequence[Drain] = (),
        slowdowns: Sequence[Slowdown] = (),
        energy: bool = False,
        power_off_after: float | None = None,
        keep_finished: int | None = None,
        seed: int = 0,
        backs_off: bool = True,
        run_times: RunTimeRules | None = None,
        until: float = 0.0,
        requeue: RequeueRule | None = None,
        hardware: Hardware | str = NO_MORE_HOSTS,
        spare: Sequence[str] = (),
        controllers: Which | Flags = Which.NONE,
        node_monitor_grace_period: float = 0.0,
    ) -> None:
        self.time = time
        self.reactions = Reactions(decision_time, time)
        self.began = False
        self.over = False
        self.warnings: list[str] = []
        self.cluster = Cluster(server, time, platform, spare, node_monitor_grace_period)
        self.decisions = Decisions(time, control_latency)
        self.attempts = AttemptLog(events.path.with_name("attempts.csv"))
        self._stretches = WaitLog(events.path.with_name("waits.csv"))
        self.waits = WaitRecorder(server, time, self.cluster, self._stretches, backs_off=backs_off)
        self.control = JobControl(server, time, events, self.cluster, self.decisions, self.attempts, self.waits)
        files = files or JobFiles()
        self.submissions = Submissions(
            self.control, self.cluster, files, default_scheduler=scheduler_name, served=served, warn=self.warn
        )
        self.finished = Finished(self.control, self.cluster, keep_finished, events.path.parent)
        self.gangs = Gangs(self.control, time, events)
        self.outages = Outages(outages, self.decisions, machine_events)
        self.power = Power(
            server, self.cluster, self.decisions, time, events, self.outages, self.warn, off_after=power_off_after
        )
        self.cluster.more_may_come = not isinstance(hardware, str) and served is None
        self._leases = NodeLeases(server, self.cluster.kubelets, time)
        self._drains = Drains(drains, server, time, events)
        self._speeds = Speeds(slowdowns, server, self.cluster, time, events, hardware)
        self._draw = Draw(seed)
        self._energy = energy
        self._platform = platform
        self.stages = PodStages(
            startup, self.control, self.cluster, time, events, self.outages, self.power, freed=self.gangs.resume
        )
        self._server = server
        self._events = events
        clients = self.control.clients
        self.registration = Registration(server, time, clients, self.decisions, until=until, warn=self.warn)
        self.requeue = Requeue(requeue, self.control, files, self.registration, time, events, self.warn)
        run_times = run_times or RunTimeRules()
        self.clients = ClientPods(
            self.control, self.cluster, self.stages, time,
            RunTimes(run_times, seed=seed, profile=self.submissions.profile, warn=self.warn),
            self.registration, self._speeds, events,
            served=None if served is None else tuple(served), warn=self.warn,
        )  # fmt: skip
        self._availability = Availability(
            self.control, self.cluster, self.outages, self.power, time, events, self.stages, self.clients.lost
        )
        self._membership = Membership(server, self._availability, time, events, self.power, hardware)
        self._resources = PodResources(
            server, self.control, self.cluster, time, events, self.clients.plan, self.warn, run_times
        )
        self._deletions = Deletions(self.control, self.stages, self.clients, self._drains, requeue=requeue is not None)
        self._watch = PodWatch(
            server, self.control, self.cluster, self.clients.adopt, self._resources.changed, self.clients.lost.gone
        )
        self._workload = WorkloadWatch(self.control, self.registration, time)
        self.arrivals = Arrivals(server, time, events)
        self._controllers = Controllers(
            server, time, self.warn, controllers, self._workload.goes_on, self.cluster.kubelets
        )
        self.deeds = UserDeeds(server, time, events, alone=not backs_off)
        self._external_events_to_come = False

    def close(self) -> None:
        """Stop listening to the API server, which another simulation may use."""
        self.waits.finish()
        for part in (self._watch, self._membership, self.power, self._controllers, self.registration, self.deeds):
            part.stop()
        for written in (self._resources, self.attempts, self._stretches):
            written.close()
        if self._admit in self._server.bind_admission:
            self._server.bind_admission.remove(self._admit)

    @property
    def expects_more(self) -> bool:
        """True if Batsim has something to tell even if no waiting job is started."""
        return self.expects_events or bool(self.decisions.calls)

    @property
    def expects_events(self) -> bool:
        """The same, without the calls that we have asked for."""
        return (
            self._goes_on
            or not self.began
            or self._external_events_to_come
            or self.stages.next_date is not None
            or self.power.switching
            or (self.control.any_waiting and (self.outages.any_to_come_back or self._drains.any_to_come))
        )

    @property
    def revision(self) -> int:
        """The revision of the cluster: it shows whether a client has written since."""
        return self._server.store.revision

    @property
    def unfinished(self) -> bool:
        """True if jobs are to come, wait or run."""
        return self._goes_on or self.control.any_waiting

    @property
    def _goes_on(self) -> bool:
        """True if jobs are to come or will end by themselves, or others act by themselves."""
        going = self._workload.to_come or self.control.ends_to_come or self._controllers.act_by_themselves
        going = going or self.registration.goes_on or self._availability.awaited
        return going or self.arrivals.next_date is not None

    @property
    def waits_for_scheduler(self) -> bool:
        """True if pods wait for a node, or Jobs of the API for a controller."""
        return self.control.any_unplaced or self.registration.awaits_controllers

    # Batsim's messages

    def foretell(self, message: messages.Message) -> None:
        """Move on to the message's date, if nothing in it is older: timers of a scheduler act then."""
        if all(event.timestamp >= message.now for event in message.events):
            self.time.advance(max(self.time.now, message.now))

    async def apply(self, message: messages.Message, between: Callable[[], Awaitable[object]]) -> bool:
        """Bring the cluster up to date; False if the message was only a call at which nothing was due.

        Lost hosts are told before all else, so that no pod is placed there. ``between`` is called before an event is
        told after another one that has changed the cluster, but not while ends and lost hosts are still to be told: a
        job that has ended already must not be preempted, nor a lost host be given one.

        Raises InvariantBroken, and InputError for a platform that cannot be shown.
        """
        self.decisions.told(message.now)
        self.finished.collect()  # now that all that was decided on them is sent
        events = in_drawn_order(message.events, self._draw)
        if self._availability.foresee(message):
            self._controllers.sync_nodes()
            events = sorted(events, key=lambda event: not takes_away(event))
        changed = told = False
        last_loss = -1
        for index, event in enumerate(events):
            if takes_away(event):
                last_loss = index
            told = told or type(event) is not messages.RequestedCall
        for index, event in enumerate(events):
            if changed and index > last_loss:
                await between()
            revision = self._server.store.revision
            # An event may be older than the last message: it came while Batsim waited for us.
            self.time.advance(max(self.time.now, event.timestamp))
            if self.began:
                told = self._drains.advance() or told  # before pods come that would be placed there
            self._apply(event)
            if index == last_loss:
                self._availability.clear()
            self._controllers.sync()
            changed = self._server.store.revision != revision
        self.time.advance(max(self.time.now, message.now))
        parts = (self.stages, self.clients, self._resources, self._drains, self._speeds, self.arrivals, self.power)
        advanced = [part.advance() for part in (*parts, self._leases)]
        self._controllers.sync()
        return any(advanced) or told

    def _apply(self, event: messages.Event) -> None:
        match event:
            case messages.SimulationBegins():
                self._begin(event.data)
            case messages.JobSubmitted():
                self.submissions.submit(event.data)
            case messages.JobCompleted():
                data = event.data
                job = self.control.complete(data.job_id, data.job_state, data.return_code, finished=event.timestamp)
                self.requeue.completed(job)
                if not self.clients.completed(job):
                    self.stages.completed(job)
            case messages.JobKilled():
                for job_id, progress in event.data.job_progress.items():
                    self.requeue.killed(self.control.killed(job_id, progress), progress)
            case messages.ResourceStateChanged():
                self.power.changed(parse_intervals(event.data.resources), int(event.data.state))
            case messages.Notify():
                self._notified(event.data)
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
        self.submissions.begin(data)
        self._workload.to_come = bool(data.workloads)
        if data.config.dynamic_jobs_enabled:
            self.registration.begin()
        storages = Storages(data.storage_resources, named=data.names_storages)
        self.decisions.table.exclusive = exclusive = not data.allow_compute_sharing
        self.cluster.create(data.compute_resources, exclusive=exclusive, storages=storages, draw=self._draw)
        if self._energy:
            self.power.begin(self._platform)
        self._server.bind_admission.append(self._admit)
        self.waits.begin()
        self._watch.start()
        self._membership.start()
        self._controllers.start()
        shown = {"nodes": list(self.cluster.hosts), "compute_sharing": data.allow_compute_sharing}
        self._events.write(self.time.now, "simulation_begins", **shown)
        self._drains.advance()
        try:
            self._server.release_workloads()
        except ApiError as error:
            raise InputError(f"--objects: {error.message}") from None

    def _admit(self, pod: dict[str, Any], node: str) -> None:
        self.cluster.check_binding(pod, node)
        if self.control.job_of(pod_key(pod["metadata"]["namespace"], pod["metadata"]["name"])) is not None:
            self.reactions.decided()
            self.cluster.kubelet.note_binding(pod)

    def _notified(self, data: messages.NotifyData) -> None:
        match data.type:
            case "no_more_static_job_to_submit":
                self._workload.to_come = False
            case "no_more_external_event_to_occur":
                self._external_events_to_come = False
            case kind if kind in (UNAVAILABLE, AVAILABLE):
                self._external_events_to_come = not self.outages.planned
                self._availability.changed(data)
            case other:
                self._events.write(self.time.now, "notify", type=other)

    # Actions of schedulers and users

    def settle(self) -> bool:
        """Act on what was done to pods since the last call: start complete jobs, kill or reject those whose pods go.

        Returns True if that changed the cluster again, so that a scheduler may have more to do. Bindings are taken in
        order of the jobs and not in order of arrival, which no client promises.
        """
        before = self._server.store.revision
        self._membership.settle()
        done = self._watch.take()
        freed = False
        for name in sorted(done.deleted, key=self.control.order_of) if done.deleted else ():
            freed = self._deletions.act(self.control.owner_of(name), name, done.deleted[name]) or freed
        for name in sorted(done.bound, key=self.control.order_of) if done.bound else ():
            job = self.control.owner_of(name)
            binding = done.bound[name]
            if job.uids.get(name) == binding.uid and job.life.state is JobState.SUBMITTED:
                if job.client is not None:
                    self.clients.bound(job, name, binding.node)
                    self._controllers.sync_between(len(done.bound))
                else:
                    self.control.bound(job, name, binding.node)
                    self.stages.bound(job, name)
        self.stages.advance()
        self.clients.advance()
        self._resources.advance()
        self.power.advance()
        if done.bound:
            self.gangs.resume()
        self._controllers.sync()
        return freed or self._server.store.revision != before

    @property
    def acted(self) -> bool:
        """True if since the last ``settle`` a pod was bound, or a pod of a waiting or running job deleted."""
        if self._watch.idle:
            return False
        owner_of, matter = self.control.owner_of, self._deletions.matter
        return any(self._watch.bound()) or any(matter(owner_of(name), name, how) for name, how in self._watch.deleted())

    async def wait_for_change(self) -> None:
        """Return as soon as a client binds or deletes one of the pods."""
        await self._watch.wait_for_change()

    def reply(self) -> messages.Message:
        """Return all decisions since the last reply, dated now, and calls for the dates of the next changes."""
        if self.registration.open and not (self.unfinished or self.expects_more):
            self.registration.end()
        until = self.registration.until if self.registration.goes_on else None
        dates = (
            self.clients.next_date, self._drains.next_date, self._speeds.next_date, until, self.power.next_date,
            self._controllers.next_date, self.arrivals.next_date, self.stages.idle_date if self._goes_on else None,
            self._leases.next_date if self._goes_on else None,
        )  # fmt: skip
        for date in (None if self.over else self.stages.next_date, *(dates if self.unfinished else ())):
            if date is not None:
                self.decisions.call_later(date)
        return self.decisions.reply()

    def warn(self, text: str) -> None:
        """Tell the user something that does not stop the run; the same text only once."""
        if text not in self.warnings:
            self.warnings.append(text)
            log.warning("%s", text)

    def accounts(self) -> Accounts:
        """Return an account of all nodes up to now; jobs and pods are still to be taken in."""
        return Accounts(self.cluster.nodes(), self.cluster.node_changes, self.time.now)
