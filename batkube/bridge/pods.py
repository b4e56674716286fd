"""Jobs as Pods: the pods created when a job is submitted, and the status that a kubelet would write later."""

from typing import Any

from batkube.bridge.errors import InputError
from batkube.bridge.jobs import Job, PodRequirements
from batkube.bridge.names import label_value
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.patch import strategic_merge
from batkube.kube.schema.resources import ResourceType

JSON = dict[str, Any]

JOB_LABEL = "batkube.io/job"
"""The label that is the same for all pods of one job: a valid label value made of the job's id."""
JOB_ANNOTATION = "batkube.io/job-id"
"""The annotation with Batsim's id of the job."""
USER_LABEL, QUEUE_LABEL = "batkube.io/user", "batkube.io/queue"
"""The labels with the names of user and queue that a job gives."""
KUEUE_QUEUE = "kueue.x-k8s.io/queue-name"
"""Kueue's label for the queue."""
GANG_SIZE = "batkube.io/gang-size"
"""The annotation with the number of pods of this job, which start together."""
PROFILE_ANNOTATION = "batkube.io/profile"
WALLTIME_ANNOTATION = "batkube.io/walltime"
"""The annotation with the seconds after which the job is killed, as a user would have told a batch scheduler."""

NAMESPACE = "default"
PRIORITY_CLASSES = "priorityclasses.scheduling.k8s.io"
SANDBOX = "PodReadyToStartContainers"
"""The condition that the pod has its sandbox, with its network. It is no longer True when the pod has ended."""
_WITHOUT_SANDBOX = ("Initialized", "Ready", "ContainersReady")
_WITH_SANDBOX = (*_WITHOUT_SANDBOX, SANDBOX)
CONTAINER = "job"
GPU = "nvidia.com/gpu"


def pods_of(job: Job, resource: ResourceType, *, requests: dict[str, str], priority_class: str | None) -> list[JSON]:
    """Return the pods of ``job``. ``requests`` is what each asks for; ``resource`` is the type of pods.

    Raises InputError if the job's own ``pod`` fragment cannot be merged.
    """
    annotations = {JOB_ANNOTATION: job.id, PROFILE_ANNOTATION: job.description.profile}
    if len(job.pods) > 1:
        annotations[GANG_SIZE] = str(len(job.pods))
    resources: JSON = {"requests": requests}
    if limits := {name: quantity for name, quantity in requests.items() if name == GPU}:
        resources["limits"] = limits  # of an extended resource not more may be used than was asked for
    spec: JSON = {
        "schedulerName": job.scheduler,
        "restartPolicy": "Never",
        "containers": [{"name": CONTAINER, "image": "batkube.io/job", "resources": resources}],
    }
    if job.description.walltime is not None:
        annotations[WALLTIME_ANNOTATION] = f"{job.description.walltime:g}"
        if job.description.walltime >= 1:
            spec["activeDeadlineSeconds"] = min(int(job.description.walltime), 2**31 - 1)
    if job.requirements.node_selector:
        spec["nodeSelector"] = job.requirements.node_selector
    if priority_class:
        spec["priorityClassName"] = priority_class
    labels = {**job.requirements.labels, **_named(job.requirements), JOB_LABEL: label_value(job.id)}
    template: JSON = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"labels": labels, "annotations": annotations},
        "spec": spec,
    }
    if job.requirements.pod:
        try:
            template = strategic_merge.apply(template, job.requirements.pod, resource)
        except (ApiError, TypeError, ValueError) as error:
            raise InputError(f"job {job.id}: pod: {error}") from None
    return [{**template, "metadata": {**template["metadata"], "name": name}} for name in job.pods]


def priority_class_of(priority: int) -> JSON:
    """Return the PriorityClass that is made for jobs of this priority: a pod cannot carry a bare number."""
    return {"metadata": {"name": f"batkube-priority-{priority}".replace("--", "-minus-")}, "value": priority}


def user_and_queue(job: Job, pod: JSON) -> tuple[str, str]:
    """Return the names of user and queue: those that the job gives, else those of the pod's labels; empty for none."""
    labels, requirements = pod["metadata"].get("labels", {}), job.requirements
    user = requirements.user or labels.get(USER_LABEL, "")
    return user, requirements.queue or labels.get(QUEUE_LABEL) or labels.get(KUEUE_QUEUE, "")


def _named(requirements: PodRequirements) -> dict[str, str]:
    named = {USER_LABEL: requirements.user, QUEUE_LABEL: requirements.queue}
    return {label: label_value(name) for label, name in named.items() if name}


# The statuses below are as the API server stores them, member by member: no empty members except those that it writes,
# in the order in which it leaves them. See ``kube.trusted``.


def creating(pod: JSON, now: str, start: str) -> JSON:
    """Return the pod with its status after a kubelet has seen it, until its process starts.

    ``start``: its ``startTime``.
    """
    waiting = {"waiting": {"reason": "ContainerCreating"}}
    message = f"containers with unready status: [{pod['spec']['containers'][0]['name']}]"
    return {
        **pod,
        "status": {
            **pod.get("status", {}),
            "phase": "Pending",
            "startTime": start,
            "conditions": _conditions(
                pod, now, ready=False, sandbox=True, why={"reason": "ContainersNotReady", "message": message}
            ),
            "containerStatuses": [_container(pod, waiting, started=False)],
        },
    }


def running(pod: JSON, now: str, start: str) -> JSON:
    """Return the pod with its status when its process starts.

    ``start``: its ``startTime``, unless it was seen before.
    """
    status = pod.get("status", {})
    return {
        **pod,
        "status": {
            **status,
            "phase": "Running",
            "startTime": status.get("startTime", start),
            "conditions": _conditions(pod, now, ready=True),
            "containerStatuses": [_container(pod, {"running": {"startedAt": now}}, started=True)],
        },
    }


def ended(pod: JSON, now: str, *, exit_code: int, reason: str, message: str = "", exited: str) -> JSON:
    """Return the pod with its status when its process has ended: Succeeded with exit code 0, else Failed.

    ``reason`` is the container's (``Completed``, ``Error``); with a ``message`` it is the pod's own as well. ``exited``
    is the end of the process, ``now`` or before.
    """
    status = pod.get("status", {})
    began = status.get("startTime", now)
    process: JSON = next((container["state"] for container in status.get("containerStatuses", [])), {})
    started = process.get("running", {}).get("startedAt", f"{began[:19]}Z")
    terminated: JSON = {"exitCode": exit_code, "reason": reason, "startedAt": started, "finishedAt": exited}
    new = {
        **status,
        "phase": "Succeeded" if exit_code == 0 else "Failed",
        "startTime": began,
        "conditions": _conditions(pod, now, ready=False, why={"reason": "PodCompleted"}),
        "containerStatuses": [_container(pod, {"terminated": terminated}, started=False)],
    }
    if message:
        new |= {"reason": reason, "message": message}
    return {**pod, "status": new}


def _container(pod: JSON, state: JSON, *, started: bool) -> JSON:
    container = pod["spec"]["containers"][0]
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": started,
        "started": started,
        "restartCount": 0,
        "state": state,
        "lastState": {},
    }


def _conditions(pod: JSON, now: str, *, ready: bool, sandbox: bool = False, why: JSON | None = None) -> list[JSON]:
    """Return the kubelet's conditions and those of others; a transition is dated only if the status changes.

    ``why``: reason and message of those that are not met. ``sandbox``: include the pod's sandbox from now on.
    """
    conditions: dict[str, JSON] = {
        condition["type"]: condition for condition in pod.get("status", {}).get("conditions", [])
    }
    truth = "True" if ready else "False"
    for kind in _WITH_SANDBOX if sandbox or SANDBOX in conditions else _WITHOUT_SANDBOX:
        status = "True" if kind == "Initialized" else truth
        old = conditions.get(kind)
        new: JSON = {"type": kind, "status": status, "lastTransitionTime": now}
        if why is not None and status == "False" and kind != SANDBOX:
            new.update(why)
        new["lastProbeTime"] = None
        if old is not None:
            if old.get("status") == status:
                new["lastTransitionTime"] = old["lastTransitionTime"]
            if generation := old.get("observedGeneration"):  # somebody has set it, and it stays
                new["observedGeneration"] = generation
        conditions[kind] = new
    return [*conditions.values()]
