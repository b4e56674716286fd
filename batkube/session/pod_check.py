"""The pods of jobs, asked about before anything starts: would the API server that is to be take them?"""

from collections.abc import Iterable

from batkube.api_settings import ApiSettings
from batkube.batsim.jobs import JobDescription
from batkube.bridge import jobs, pods
from batkube.bridge.cluster import ADMISSION_WITHOUT, DEFAULT_CPU
from batkube.bridge.errors import InputError
from batkube.bridge.jobs import PodRequirements
from batkube.bridge.names import NAMESPACE
from batkube.kube.apimachinery.quantity import Quantity
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer
from batkube.session.api_server import given_server

_QUOTAS = "resourcequotas"
_NAME = "pod"
"""The name of the pods that are asked about, unless the cluster has one of this name."""
_MISSING = ("was found", "not found")
"""The ends of texts that say that the cluster lacks an object."""


class PodCheck:
    """Asks an API server of its own, with the objects that the real one has from its start, once for all jobs that ask
    for the same.

    ``whole_host``: the cores that each pod asks for at least, as hosts are alike and take one job at a time.
    """

    def __init__(self, api: ApiSettings, *, whole_host: str | None) -> None:
        self.objects_given = bool(api.objects)
        """True if the cluster has objects, such as limits and quotas, that may refuse any pod."""
        self._api = api
        self._whole_host = whole_host
        self._asked: set[tuple[str, bool]] = set()
        self._server: ApiServer | None = None
        self._quotas = False
        self._name = _NAME
        self._classes: set[int] = set()

    def check(self, where: str, job: JobDescription, wanted: PodRequirements) -> list[str]:
        """Return what to warn of. Raises InputError, which says ``where`` and names the field."""
        if wanted.plain and not self.objects_given:
            return []
        if self._server is None:
            self._server, _ = given_server(self._api, without_plugins=ADMISSION_WITHOUT, now=lambda: 0.0)
            self._quotas = bool(self._server.list(_QUOTAS))
            while self._server.store.get("pods", NAMESPACE, self._name) is not None:
                self._name += "-of-a-job"
        # Some quotas are over pods with a deadline, or over those without.
        dated = self._quotas and job.walltime is not None
        if (key := (wanted.model_dump_json(), dated)) in self._asked:
            return []
        self._asked.add(key)
        try:
            return [f"{where}: pod: {warning}" for warning in self._told(self._server, job, wanted, dated)]
        except (InputError, ApiError) as error:
            text = error.message if isinstance(error, ApiError) else str(error)
            raise InputError(f"{where}: {_of_job(text, self._name, job, wanted)}") from None

    def _told(self, server: ApiServer, job: JobDescription, wanted: PodRequirements, dated: bool) -> Iterable[str]:
        cpu = wanted.cpu or DEFAULT_CPU
        if self._whole_host is not None:
            cpu = max(cpu, self._whole_host, key=Quantity.parse)
        requests = {"cpu": cpu}
        requests |= {"memory": wanted.memory} if wanted.memory else {}
        requests |= {pods.GPU: wanted.gpu} if wanted.gpu else {}
        named = wanted.priority
        if isinstance(named, int):
            made = pods.priority_class_of(named)
            if named not in self._classes:
                server.create(pods.PRIORITY_CLASSES, made)
                self._classes.add(named)
            named = made["metadata"]["name"]
        asked = job if dated else job.model_copy(update={"walltime": None})
        shape = jobs.Job(f"w0!{job.id}", asked, 0, wanted, "default-scheduler", pods=[self._name])
        resource = server.registry.named("pods")
        (pod,) = pods.pods_of(shape, resource, requests=requests, priority_class=named)
        return server.check("pods", pod, NAMESPACE)


def _of_job(text: str, name: str, job: JobDescription, wanted: PodRequirements) -> str:
    """Return the words of a refusal of a pod of this name in terms of the job."""
    for start in (f'Pod "{name}" is invalid: ', f'pods "{name}" is forbidden: ', f"job w0!{job.id}: "):
        text = text.removeprefix(start)
    if text.endswith(_MISSING):
        text += " (objects that the cluster has from its start: --objects)"
    if text.startswith("Pod in version"):
        return f"pod: {text}"
    of_priority = text.startswith(("PriorityClass", "priorityclasses", "no PriorityClass"))
    if of_priority and wanted.priority is not None:
        return f"priority is {wanted.priority}: {text}"
    return text
