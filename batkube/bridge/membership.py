"""Nodes that users and autoscalers delete and create while a simulation goes on.

A node that is deleted takes its host with it: what runs there ends at once, and the host is spare. A node that is
created gets the host of its name, if that is spare, else the first that is. If none is, the simulator must be able to
take in a host (``hardware``); Batsim cannot.
"""

from typing import Any

from batkube.bridge.availability import Availability
from batkube.bridge.hardware import Hardware
from batkube.bridge.hosts import DEFAULT_PODS, SPEED_ANNOTATION, Host, speed_of
from batkube.bridge.power import Power
from batkube.bridge.subscription import Subscription
from batkube.bridge.time import SimulatedTime
from batkube.controllers.conditions import is_true
from batkube.kube.admission.plugin import Attributes, Plugin
from batkube.kube.apimachinery.quantity import Quantity
from batkube.kube.apimachinery.status import ApiError, FieldError
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import DELETED, Change
from batkube.results.events import EventLog
from batkube.results.nodes import NodeChange

JSON = dict[str, Any]


class Membership(Plugin):
    """Follows the nodes of the API, and refuses those that no host can be."""

    name = "SimulatedHosts"
    handles = ("nodes",)

    def __init__(
        self,
        server: ApiServer,
        availability: Availability,
        time: SimulatedTime,
        events: EventLog,
        power: Power,
        hardware: Hardware | str,
    ) -> None:
        self._power = power
        self._server = server
        self._availability = availability
        self._cluster = availability.cluster
        self._decisions = availability.control.decisions
        self._time = time
        self._events = events
        self._hardware = hardware
        """The hosts of the simulator, or the reason why it takes in no more."""
        self._first_speed = 1.0
        """The speed of the first host's node at the beginning: that of new ones is relative to it."""
        self._joined: dict[str, None] = {}
        self._any_deleted = False
        self._changes = Subscription(server, self._on_change, ("nodes",))

    def start(self) -> None:
        """Begin to follow: the nodes of the platform are there."""
        first = next(iter(self._cluster.hosts), "")
        if (made := self._server.store.get("nodes", "", first)) is not None:
            self._first_speed = speed_of(made)
        self._server.admission.add(self)
        self._changes.start()

    def stop(self) -> None:
        """Follow no more."""
        self._server.admission.remove(self)
        self._changes.stop()

    def validate(self, write: Attributes) -> None:
        """Refuse a new node that no host of the simulator can be, and a speed that is none."""
        name = write.obj["metadata"]["name"]
        try:
            speed_of(write.obj)
        except ValueError as error:
            wrong = FieldError.invalid(f"metadata.annotations[{SPEED_ANNOTATION}]", "", str(error))
            raise ApiError.invalid("Node", name, [wrong]) from None
        if write.old is None and isinstance(self._hardware, str) and self._cluster.host_for(name) is None:
            raise ApiError.forbidden("nodes", name, f"all hosts of the platform have nodes, and {self._hardware}")

    def settle(self) -> None:
        """End what is on nodes that were deleted, and play the kubelet of those that have come."""
        if self._any_deleted:
            self._any_deleted = False
            self._availability.clear()
        self._availability.replace_lost()
        joined, self._joined = self._joined, {}
        for name in joined:
            self._register(name)
            if self._cluster.is_up(name):
                self._cluster.kubelet.set_allocatable(name, self._cluster.allocatable[name])
                self._cluster.kubelet.post_health(name)
                self._availability.returned(name)

    def _register(self, name: str) -> None:
        """Say of a node that came without it what its host has: labels, and what it offers."""
        host = self._cluster.hosts[name]
        if host.described:
            self._cluster.kubelet.register(name, self._cluster.platform_node(name, host))

    def _on_change(self, change: Change) -> None:
        name = change.version.obj["metadata"]["name"]
        if change.type == DELETED:
            self._leave(name)
        elif change.before is None:
            self._join(name, change.version.obj)
        elif (
            not self._cluster.is_up(name)
            and is_true(change.before.obj, "Ready")
            and not is_true(change.object, "Ready")
        ):
            self._availability.noticed(name)

    def _leave(self, name: str) -> None:
        if name not in self._cluster.hosts or self._cluster.is_gone(name):
            return
        self._cluster.leave(name)
        self._joined.pop(name, None)
        self._decisions.close_host(self._cluster.hosts[name].number, "deleted")
        self._events.write(self._time.now, "node_deleted", node=name)
        if self._cluster.is_up(name):
            self._cluster.node_changes.append(NodeChange(self._time.now, name, False))
        self._availability.deleted(name)
        self._any_deleted = True

    def _join(self, name: str, node: JSON) -> None:
        status = node.get("status") or {}
        offered = dict(status.get("allocatable") or status.get("capacity") or {})
        host = self._cluster.host_for(name)
        if host is not None and host.described and not offered:
            offered = dict(self._cluster.platform_node(name, host)["status"]["allocatable"])
        offered = {"cpu": "0", "memory": "0", **offered}
        offered["pods"] = "1" if self._cluster.exclusive else offered.get("pods", str(DEFAULT_PODS))
        if host is None:
            if isinstance(self._hardware, str):
                return
            cores = max(int(Quantity.parse(offered["cpu"]).value), 1)
            number = self._hardware.add_host(name, cores, speed_of(node) / self._first_speed)
            if number is None:
                return
            host = Host(number, name, cores, described=False)
        if name not in self._cluster.hosts:
            self._cluster.node_changes.insert(0, NodeChange(0.0, name, False, failure=False))
        former = self._cluster.join(name, host, offered)
        self._power.joined(name, host, former)
        self._events.write(self._time.now, "node_joined", node=name)
        if self._cluster.is_up(name):
            self._cluster.node_changes.append(NodeChange(self._time.now, name, True))
            self._decisions.table.open_host(host.number)
        self._joined[name] = None
