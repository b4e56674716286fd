"""Hosts that become unavailable, and available again (Batsim's external events), as nodes that are not ready."""

from batkube.batsim import messages
from batkube.batsim.allocation import parse_intervals
from batkube.batsim.jobs import JobState
from batkube.bridge.cluster import NODE_LOST, Cluster
from batkube.bridge.job_control import JobControl
from batkube.bridge.lost_pods import LostPods
from batkube.bridge.outages import Outages
from batkube.bridge.power import Power
from batkube.bridge.startup import PodStages
from batkube.bridge.time import SimulatedTime
from batkube.results.events import EventLog
from batkube.results.nodes import NodeChange

UNAVAILABLE, AVAILABLE = "event_machine_unavailable", "event_machine_available"
"""The types of NOTIFY for hosts that go and come back."""


class Availability:
    """Takes nodes out of use and back, and ends the pods on nodes that are lost."""

    def __init__(
        self,
        control: JobControl,
        cluster: Cluster,
        outages: Outages,
        power: Power,
        time: SimulatedTime,
        events: EventLog,
        stages: PodStages,
        lost_pods: LostPods,
    ) -> None:
        self.control = control
        self.cluster = cluster
        self._outages = outages
        self._power = power
        self._time = time
        self._events = events
        self._stages = stages
        self._lost_pods = lost_pods
        self._lost: dict[str, str] = {}
        """Nodes that went away, and whose pods are still to be ended, with what became of them."""
        self._noticed: dict[str, None] = {}
        """Nodes of which the API has come to know that their hosts are gone."""

    def foresee(self, message: messages.Message) -> bool:
        """Close the hosts that are gone by the end of this message to new pods; tell whether there are any."""
        lost: dict[int, None] = {}
        for event in message.events:
            if isinstance(event, messages.Notify):
                for number in _hosts_of(event.data):
                    if event.data.type == UNAVAILABLE:
                        lost[number] = None
                    else:
                        lost.pop(number, None)
        if not lost:
            return False
        nodes = [node for number in lost if (node := self.cluster.node_of_host(number))]
        for node in nodes:
            self.cluster.set_up(node, False)
        return bool(nodes)

    def changed(self, data: messages.NotifyData) -> None:
        """Note that hosts went or came back. ``clear`` ends what is on a host that went."""
        available = data.type == AVAILABLE
        for number in _hosts_of(data):
            self._outages.told(number, available=available)
            node = self.cluster.node_of_host(number)
            if node is None:
                continue
            if not self.cluster.is_gone(node):
                self._events.write(self._time.now, "node_ready" if available else "node_not_ready", node=node)
                self.cluster.node_changes.append(NodeChange(self._time.now, node, available))
            self.cluster.set_up(node, available)
            table = self.control.decisions.table
            if available:
                if not self.cluster.is_gone(node):
                    table.open_host(number)
                self._power.returned(node)
                self.returned(node)
            else:
                table.close_host(number, "unavailable")
                self._lost[node] = f"node {node} became unavailable"

    def deleted(self, node: str) -> None:
        """Note that a node was deleted. ``clear`` ends what is on it."""
        self._lost[node] = f"node {node} was deleted"

    def returned(self, node: str) -> None:
        """Let go on what waits on a node for its host, which is back."""
        if self.cluster.runs(node):
            self._stages.host_is_back(node)
            self._lost_pods.host_is_back(node)

    @property
    def awaited(self) -> bool:
        """True if pods that come to an end wait for their hosts, which will be back."""
        return any(
            job.client is not None and not job.client.endless and self._returns(node)
            for job in self.control.clients.without_host.values()
            for node in job.nodes.values()
        )

    def _returns(self, node: str) -> bool:
        return not self.cluster.is_gone(node) and self._outages.returns(self.cluster.hosts[node].number)

    def noticed(self, node: str) -> None:
        """Note that the API knows now that a node's host is gone."""
        self._noticed[node] = None

    def replace_lost(self) -> None:
        """Make the pods anew of jobs that were to start on a host of which nobody knew that it is gone."""
        noticed, self._noticed = self._noticed, {}
        for node in noticed:
            for job in self.control.jobs_on(node):
                if job.client is None and job.life.state is JobState.SUBMITTED and not self.cluster.is_up(node):
                    self.control.replace_pods(job, f"node {node} became unavailable")

    def clear(self) -> None:
        """End what is on hosts that are gone.

        Batsim lets their jobs run on, and starts none there; a cluster does neither.

        To be called only when all ends have been told: Batsim aborts on a kill of a job whose completion it has told.
        """
        lost, self._lost = self._lost, {}
        for node, why in lost.items():
            for job in self.control.jobs_on(node):
                if job.life.state is JobState.RUNNING:
                    job.disrupted(NODE_LOST)
                    self.control.kill(job, why)
                elif job.life.state is JobState.SUBMITTED:
                    if job.client is not None:
                        self._lost_pods.add(job)
                    else:
                        self.control.replace_pods(job, why)


def _hosts_of(data: messages.NotifyData) -> tuple[int, ...]:
    """Return the hosts that go or come back."""
    return parse_intervals(data.resources or "") if data.type in (UNAVAILABLE, AVAILABLE) else ()
