"""The simulated platform as the cluster's nodes: their names and numbers, what is free, and what a job may get."""

import math
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from batkube.batsim.allocation import format_intervals
from batkube.batsim.messages import ComputeResource, ExecuteJobData
from batkube.batsim.platform import Platform
from batkube.bridge.draw import Draw
from batkube.bridge.errors import InputError, InvariantBroken
from batkube.bridge.hosts import Host, node
from batkube.bridge.jobs import Job, PodRequirements
from batkube.bridge.kubelet import Kubelet
from batkube.bridge.names import Names
from batkube.bridge.occupancy import UNIT, Occupancy, amounts
from batkube.bridge.pods import GPU, JOB_ANNOTATION
from batkube.bridge.spare_hosts import spare_hosts
from batkube.bridge.storages import Storages
from batkube.bridge.time import SimulatedTime
from batkube.controllers.kubelets import Kubelets
from batkube.controllers.node_lifecycle.taints import ready_status
from batkube.controllers.resource_claims import is_device
from batkube.kube.apimachinery.quantity import Quantity
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer
from batkube.results.nodes import Node, NodeChange

JSON = dict[str, Any]

ADMISSION_WITHOUT = ("TaintNodesByCondition",)
"""Admission plugins that the API server of simulated hosts does not run. Nodes are ready when they are created, and
there is no controller that would take a new node's taint away."""

NEEDS_PLATFORM = "Batsim 4 does not tell how many cores it has; give its platform file with --platform"

NODE_LOST, NO_SUCH_NODE = "NodeLost", "NoSuchNode"
"""Reasons of pods whose node is gone, or is no host of the simulation."""
DEFAULT_CPU = "1"
"""Cores that a pod asks for if its job says nothing and hosts are shared."""


class Cluster:
    """The nodes, one for each compute host.

    ``platform`` is the platform file, if known: Batsim 4 tells no core counts. ``spare``: see ``spare_hosts``;
    ``grace``: see Kubelets.
    """

    def __init__(
        self,
        server: ApiServer,
        time: SimulatedTime,
        platform: Platform | None = None,
        spare: Sequence[str] = (),
        grace: float = 0.0,
    ) -> None:
        self.kubelets = Kubelets(grace, lambda pod: not _is_of_job(pod))
        self.hosts: dict[str, Host] = {}
        """The hosts by the node's name."""
        self.kubelet = Kubelet(server, time)
        self.storages = Storages()
        self._server = server
        self.occupancy = self._occupancy(exclusive=True)
        self._time = time
        self._platform = platform
        self._node_of: dict[int, str] = {}
        self._named_spare = spare
        self.spare: dict[int, Host] = {}
        """The hosts without a node, by number: those that have had none yet, and those whose node was deleted."""
        self._allocatable: dict[str, dict[str, str]] = {}
        self._whole_host: str | None = None
        self._failed: set[str] = set()
        """The nodes whose hosts are unavailable."""
        self._gone: set[str] = set()
        """The nodes that were deleted."""
        self.last_refusal = -math.inf
        """The date of the last refused binding, in simulated seconds."""
        self.node_changes: list[NodeChange] = []
        """The nodes that went and came back, in order."""
        self._coreless: str | None = None
        """A host whose number of cores is not known, if there is one."""
        self.more_may_come = False
        """True if others may create nodes that are larger than those that there are, or more of them: spare hosts."""

    @property
    def exclusive(self) -> bool:
        """True if a host takes one job at a time (Batsim's default), whatever a scheduler believes."""
        return self.occupancy.exclusive

    def nodes(self) -> list[Node]:
        """Return the nodes with what they offer when they are empty."""
        return [
            Node(name, self.hosts[name].name, cpu / UNIT, memory // UNIT, gpu // UNIT)
            for name, allocatable in self._allocatable.items()
            for cpu, memory, gpu in [[amounts(allocatable).get(key, 0) for key in ("cpu", "memory", GPU)]]
        ]

    @property
    def machines(self) -> int:
        """The number of hosts, with and without a node."""
        return len(self._node_of)

    def number_of(self, name: str) -> int | None:
        """Return the number of a node's host; None if it has none yet."""
        return self.hosts[name].number if name in self.hosts else None

    @property
    def allocatable(self) -> Mapping[str, dict[str, str]]:
        """The resources that each node offers when it is empty."""
        return self._allocatable

    @property
    def _shows_use(self) -> bool:
        return self.exclusive and self._whole_host is None

    def create(
        self,
        resources: Sequence[ComputeResource],
        *,
        exclusive: bool,
        storages: Storages | None = None,
        draw: Draw | None = None,
    ) -> None:
        """Make a node of each compute host. Raises InputError if a host cannot be shown as one.

        ``draw`` gives the order of their creation. kube-scheduler looks at nodes in the order in which it has heard of
        them, and takes one of equal ones.
        """
        self.storages = storages or self.storages
        names = Names()
        names.reserve(resource.name for resource in resources)
        self.occupancy = self._occupancy(exclusive)
        nodes, cores = [], set()
        spare = spare_hosts(resources, self._named_spare)
        self.more_may_come = self.more_may_come or bool(spare)
        for resource in resources:
            host = self._host(resource)
            if not host.knows_cores:
                self._coreless = self._coreless or host.name
                if not exclusive:
                    raise InputError(f"host {host.name}: {NEEDS_PLATFORM}")
            name = names.claim(host.name)
            created = node(host, name, exclusive=exclusive, now=self._time.rfc3339())
            self._node_of[host.number] = name
            cores.add(created["status"]["allocatable"]["cpu"])
            if resource.name in spare:
                self.spare[host.number] = host
                self._gone.add(name)
                continue
            nodes.append((host, created))
            self.hosts[name] = host
            self._allocatable[name] = created["status"]["allocatable"]
            self.occupancy.add_node(name, self._allocatable[name])
        for host, created in (draw or Draw()).order(nodes):
            try:
                self._server.create("nodes", created)
            except ApiError as error:
                raise InputError(f"host {host.name}: {error.message}") from None
        if exclusive and len(cores) == 1:
            self._whole_host = cores.pop()

    def host_for(self, name: str) -> Host | None:
        """Return the host that a new node of this name gets: that of the name, else the first spare one that is up."""
        spare, node_of = self.spare, self._node_of
        ranked = sorted(spare, key=lambda number: (node_of[number] != name, node_of[number] in self._failed, number))
        return spare[ranked[0]] if ranked else None

    def platform_node(self, name: str, host: Host) -> JSON:
        """Return the node that the platform would have for a host."""
        return node(host, name, exclusive=self.exclusive, now=self._time.rfc3339())

    def join(self, name: str, host: Host, allocatable: dict[str, str]) -> str:
        """Take in a node that a client has made, with what it offers; return the name of the host's node before."""
        former = self._node_of.get(host.number, name)
        if former != name:  # what is said of the host goes on under the other name
            self.occupancy.replace_node(former)
            if former in self._failed:
                self._failed.remove(former)
                self._failed.add(name)
        self.spare.pop(host.number, None)
        self.hosts[name] = host
        self._node_of[host.number] = name
        self._allocatable[name] = allocatable
        self.occupancy.add_node(name, allocatable)
        self._gone.discard(name)
        if self.is_up(name):
            self.kubelets.come_back(name, self._time.now)
        else:
            self.kubelets.fall_silent(name, self._time.now)
        return former

    def leave(self, name: str) -> None:
        """Note that a node was deleted. It takes no pod, until it joins again; its host is spare."""
        self._gone.add(name)
        self.spare[self.hosts[name].number] = self.hosts[name]
        self.kubelets.fall_silent(name, self._time.now)

    def is_gone(self, name: str) -> bool:
        """Tell whether the node was deleted, and has not come again."""
        return name in self._gone

    def _occupancy(self, exclusive: bool) -> Occupancy:
        return Occupancy(exclusive=exclusive, is_device=lambda resource: is_device(self._server, resource))

    def _host(self, resource: ComputeResource) -> Host:
        described = self._platform.hosts_by_name.get(resource.name) if self._platform else None
        if self._platform is not None and described is None:
            where = self._platform.path or "the platform"
            raise InputError(f"host {resource.name}: Batsim has it, but {where} has not: is it another platform?")
        return Host(
            number=resource.id,
            name=resource.name,
            cores=described.cores if described else resource.cores,
            properties={**(described.properties if described else {}), **resource.properties},
            zone_properties=resource.zone_properties or {},
            zones=described.zones if described else (),
        )

    def node_of_host(self, number: int) -> str | None:
        """Return the node's name; None for a storage host, which is no node.

        Raises InvariantBroken for a number that Batsim never told.
        """
        if number in self.storages:
            return None
        try:
            return self._node_of[number]
        except KeyError:
            raise InvariantBroken(f"Batsim named host {number}, which it had not told of") from None

    def set_up(self, node: str, up: bool) -> None:
        """Note that the node's host is up, or has failed: then its kubelet is silent, which others have to notice."""
        if up == (node not in self._failed):
            return
        if not up:
            self._failed.add(node)
            self.kubelets.fall_silent(node, self._time.now)
            return
        self._failed.remove(node)
        if node not in self._gone:
            self._come_back(node)

    def _come_back(self, node: str) -> None:
        self.kubelets.come_back(node, self._time.now)
        self.kubelet.post_health(node)
        if self._shows_use and not self.occupancy.in_use(node):
            self.kubelet.set_allocatable(node, self._allocatable[node])

    def is_up(self, node: str) -> bool:
        """Tell whether the node's host is up."""
        return node not in self._failed

    def runs(self, node: str) -> bool:
        """Tell whether pods run on the node: its host is up, and nobody has deleted the node."""
        return node not in self._failed and node not in self._gone

    def requests(self, requirements: PodRequirements) -> dict[str, str]:
        """Return the requests of each pod of such a job.

        On exclusive hosts that are all alike a pod asks for a whole one, so that a scheduler that counts cores sees the
        nodes as full as they are. If hosts differ, a node offers no more than its job has, while it has one.
        """
        cpu = requirements.cpu or DEFAULT_CPU
        if self._whole_host is not None:
            cpu = _larger(cpu, self._whole_host)
        wanted = {"cpu": cpu}
        if requirements.memory:
            wanted["memory"] = requirements.memory
        if requirements.gpu:
            wanted[GPU] = requirements.gpu
        return wanted

    def why_never(self, pods: int, requests: dict[str, str]) -> str | None:
        """Say why ``pods`` pods with such requests can never run together; None if they may some day.

        Raises InputError if that depends on a number of cores that is not known.
        """
        if pods < 1:
            return "it asks for no resource (res is 0)"
        return None if self.more_may_come else self.why_too_large(pods, requests)

    def why_too_large(self, pods: int, requests: dict[str, str]) -> str | None:
        """Say why ``pods`` pods cannot run together on all nodes that there have been, if empty; None if they can.

        Raises InputError if that depends on a number of cores that is not known.
        """
        able = self.occupancy.could_take(requests)
        if able >= pods:
            return None
        if self._coreless and self.occupancy.could_take({**requests, "cpu": "0"}) >= pods:
            raise InputError(f"cpu {requests['cpu']} is asked for, and host {self._coreless}: {NEEDS_PLATFORM}")
        asked = ", ".join(f"{key} {value}" for key, value in requests.items())
        return f"it needs {pods} times {asked} at once, and the empty cluster has room for {able}"

    def check_binding(self, pod: JSON, node_name: str) -> None:
        """Refuse a binding to a node that is gone, in use, or has too little left (409, as for any conflict).

        A real API server would accept it, and the kubelet would fail the pod (``OutOfcpu``): the job would be lost.
        """
        if not _is_of_job(pod):
            return
        why = self.occupancy.refusal(pod, node_name)
        if node_name in self._gone:
            what = "was deleted" if node_name in self.hosts else "is not there yet: its host is spare"
            why = f'node "{node_name}" {what}'
        elif node_name in self._failed and self._is_noticed(node_name):
            why = f'node "{node_name}" is not ready: its host is unavailable'
        if why:
            self.last_refusal = self._time.now
            raise ApiError.conflict("pods/binding", pod["metadata"]["name"], why)

    def _is_noticed(self, node: str) -> bool:
        """Tell whether the API knows that the node's host has failed."""
        stored = self._server.store.get("nodes", "", node)
        return stored is None or ready_status(stored) != "True"

    def why_not(self, pod: JSON, node_name: str) -> str | None:
        """Return the reason for which the node's kubelet would fail the pod, ``OutOfcpu`` say; None if it takes it.

        ``NODE_LOST`` where the kubelet is silent. Exclusive hosts that are in use have no room for ``pods``.
        """
        if node_name not in self.hosts:
            return NO_SUCH_NODE
        if not self.runs(node_name):
            return NODE_LOST
        return self.why_no_room(pod, node_name)

    def why_no_room(self, pod: JSON, node_name: str) -> str | None:
        """Return what the node lacks for the pod, in the words of a kubelet: ``OutOfcpu``; None if there is room."""
        lacking = self.occupancy.lacking(pod, node_name) if node_name in self.hosts else None
        return None if lacking is None else f"OutOf{lacking}"

    def take(self, pod: JSON, node_name: str) -> None:
        """Let the pod hold the node from now on. Raises InvariantBroken."""
        self.occupancy.take(pod, node_name)

    def show_taken(self, node_name: str, requirements: PodRequirements) -> None:
        """Let the node offer no more than its only pod has, if the pod could not ask for the whole host."""
        if self._shows_use:
            offered = {**self._allocatable[node_name], **self.requests(requirements)}
            self.kubelet.set_allocatable(node_name, offered)

    def release(self, pod_uid: str) -> None:
        """Take the pod off its node."""
        node_name = self.occupancy.release(pod_uid)
        if node_name is not None and self._shows_use and self.runs(node_name):
            self.kubelet.set_allocatable(node_name, self._allocatable[node_name])

    def numbers(self, job: Job) -> list[int]:
        """Return the host numbers of a job's pods, in order. All its pods must be bound."""
        return [self.hosts[job.nodes[pod]].number for pod in job.pods]

    def execution(self, job: Job) -> ExecuteJobData:
        """Return EXECUTE_JOB for a job whose pods are all bound, with a mapping if several of them share a host.

        Raises InputError if its storages would have to be mapped, too: Batsim 4 takes only one of the two.
        """
        job.hosts = numbers = self.numbers(job)
        distinct = sorted(set(numbers))
        mapping = None
        if len(distinct) < len(numbers):
            mapping = {str(executor): distinct.index(number) for executor, number in enumerate(numbers)}
            if job.storage_mapping and not self.storages.named:
                raise InputError(
                    "several of its pods share a host, and its profile uses storages: Batsim 4 maps one of both"
                )
        alloc = format_intervals(distinct)
        return ExecuteJobData(job_id=job.id, alloc=alloc, mapping=mapping, storage_mapping=job.storage_mapping)


def _is_of_job(pod: JSON) -> bool:
    return JOB_ANNOTATION in pod["metadata"].get("annotations", {})


@lru_cache(1024)
def _larger(quantity: str, other: str) -> str:
    return max(quantity, other, key=Quantity.parse)
