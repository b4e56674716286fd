"""The simulated platform as the cluster's nodes: their names and numbers, what is free, what a job may get."""

from collections.abc import Sequence
from typing import Any

from batkube.batsim.allocation import format_intervals
from batkube.batsim.messages import ComputeResource, ExecuteJobData
from batkube.batsim.platform import Platform
from batkube.bridge.device_claims import is_device
from batkube.bridge.errors import InputError, InvariantBroken
from batkube.bridge.hosts import Host, node
from batkube.bridge.jobs import Job, PodWishes
from batkube.bridge.kubelet import Kubelet
from batkube.bridge.names import Names
from batkube.bridge.occupancy import Occupancy
from batkube.bridge.pods import GPU, JOB_ANNOTATION
from batkube.bridge.time import SimulatedTime
from batkube.kube.quantity import Quantity
from batkube.kube.server import ApiServer
from batkube.kube.status import ApiError

JSON = dict[str, Any]

ADMISSION_WITHOUT = ("TaintNodesByCondition",)
"""Admission plugins that the API server of simulated hosts does without: they are ready when they are created, and
nobody plays the controller that would take a new node's taint away."""

DEFAULT_CPU = "1"
"""Cores that a pod asks for where its job says nothing and hosts are shared."""


class Cluster:
    """Nodes, one a compute host. ``platform`` is the platform file where it is at hand: Batsim tells no core counts."""

    def __init__(self, server: ApiServer, time: SimulatedTime, platform: Platform | None = None) -> None:
        self.hosts: dict[str, Host] = {}
        """By the node's name."""
        self.kubelet = Kubelet(server, time)
        self._server = server
        self.occupancy = self._occupancy(exclusive=True)
        self._time = time
        self._platform = platform
        self._node_of: dict[int, str] = {}
        self._allocatable: dict[str, dict[str, str]] = {}
        self._whole_host: str | None = None

    @property
    def exclusive(self) -> bool:
        """Whether a host takes one job at a time (Batsim's default), whatever a scheduler believes."""
        return self.occupancy.exclusive

    @property
    def _shows_use(self) -> bool:
        return self.exclusive and self._whole_host is None

    def create(self, resources: Sequence[ComputeResource], *, exclusive: bool) -> None:
        """Make a node of each compute host. Raises InputError where a host cannot be shown as one."""
        names = Names()
        self.occupancy = self._occupancy(exclusive)
        for resource in resources:
            host = self._host(resource)
            name = names.claim(host.name)
            created = node(host, name, exclusive=exclusive, now=self._time.rfc3339())
            try:
                self._server.create("nodes", created)
            except ApiError as error:
                raise InputError(f"host {host.name}: {error.message}") from None
            self.hosts[name] = host
            self._node_of[host.number] = name
            self._allocatable[name] = created["status"]["allocatable"]
            self.occupancy.add_node(name, self._allocatable[name])
        cores = {allocatable["cpu"] for allocatable in self._allocatable.values()}
        if exclusive and len(cores) == 1:
            self._whole_host = cores.pop()

    def _occupancy(self, exclusive: bool) -> Occupancy:
        return Occupancy(exclusive=exclusive, is_device=lambda resource: is_device(self._server, resource))

    def _host(self, resource: ComputeResource) -> Host:
        described = self._platform.hosts_by_name.get(resource.name) if self._platform else None
        return Host(
            number=resource.id,
            name=resource.name,
            cores=described.cores if described else None,
            properties={**(described.properties if described else {}), **resource.properties},
            zone_properties=resource.zone_properties or {},
            zones=described.zones if described else (),
        )

    def node_of_host(self, number: int) -> str:
        """The node's name. Raises InvariantBroken for a number that Batsim never told."""
        try:
            return self._node_of[number]
        except KeyError:
            raise InvariantBroken(f"Batsim named host {number}, which it had not told of") from None

    def requests(self, wishes: PodWishes) -> dict[str, str]:
        """What each pod of such a job asks for.

        On exclusive hosts that are all alike a pod asks for a whole one, so that a scheduler which counts cores sees
        them as full as they are. Where they differ, a node offers no more than its job has, while it has one.
        """
        cpu = wishes.cpu or DEFAULT_CPU
        if self._whole_host is not None:
            cpu = max(cpu, self._whole_host, key=Quantity.parse)
        wanted = {"cpu": cpu}
        if wishes.memory:
            wanted["memory"] = wishes.memory
        if wishes.gpu:
            wanted[GPU] = wishes.gpu
        return wanted

    def why_never(self, pods: int, requests: dict[str, str]) -> str | None:
        """Why ``pods`` pods with such requests cannot run together even on an empty cluster; None where they can."""
        if pods < 1:
            return "it asks for no resource (res is 0)"
        able = self.occupancy.could_take(requests)
        if able >= pods:
            return None
        asked = ", ".join(f"{key} {value}" for key, value in requests.items())
        return f"it needs {pods} times {asked} at once, and the empty cluster has room for {able}"

    def check_binding(self, pod: JSON, node_name: str) -> None:
        """Refuse a binding to a node that is in use or has too little left (409, as for any conflict).

        A real API server would take it, and the kubelet would fail the pod (``OutOfcpu``): the job would be lost.
        """
        if JOB_ANNOTATION not in pod["metadata"].get("annotations", {}):
            return
        if why := self.occupancy.refusal(pod, node_name):
            raise ApiError.conflict("pods/binding", pod["metadata"]["name"], why)

    def take(self, pod: JSON, node_name: str) -> None:
        """The pod holds the node from now on. Raises InvariantBroken."""
        self.occupancy.take(pod, node_name)

    def show_taken(self, node_name: str, wishes: PodWishes) -> None:
        """Let the node offer no more than its only pod has, where the pod could not ask for the whole host."""
        if self._shows_use:
            offered = {**self._allocatable[node_name], **self.requests(wishes)}
            self.kubelet.set_allocatable(node_name, offered)

    def release(self, pod_uid: str) -> None:
        """The pod holds nothing any more."""
        node_name = self.occupancy.release(pod_uid)
        if node_name is not None and self._shows_use:
            self.kubelet.set_allocatable(node_name, self._allocatable[node_name])

    def execution(self, job: Job) -> ExecuteJobData:
        """EXECUTE_JOB for a job whose pods are all bound; a mapping where several of them share a host."""
        numbers = [self.hosts[job.nodes[pod]].number for pod in job.pods]
        job.hosts = numbers
        distinct = sorted(set(numbers))
        mapping = None
        if len(distinct) < len(numbers):
            mapping = {str(executor): distinct.index(number) for executor, number in enumerate(numbers)}
        return ExecuteJobData(job_id=job.id, alloc=format_intervals(distinct), mapping=mapping)
