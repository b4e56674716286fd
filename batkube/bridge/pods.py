"""Jobs as Pods: the pods created when a job is submitted, and the status that a kubelet would write later."""

from typing import Any

from batkube.bridge.errors import InputError
from batkube.bridge.jobs import Job, PodRequirements
from batkube.bridge.names import label_value
from batkube.bridge.usage_phases import USAGE_ANNOTATION
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

PRIORITY_CLASSES = "priorityclasses.scheduling.k8s.io"
CONTAINER = "job"
GPU = "nvidia.com/gpu"


def pods_of(job: Job, resource: ResourceType, *, requests: dict[str, str], priority_class: str | None) -> list[JSON]:
    """Return the pods of ``job``. ``requests`` is what each asks for; ``resource`` is the type of pods.

    Raises InputError if the job's own ``pod`` fragment cannot be merged.
    """
    annotations = {JOB_ANNOTATION: job.id, PROFILE_ANNOTATION: job.description.profile}
    if job.requirements.usage is not None:
        annotations[USAGE_ANNOTATION] = job.requirements.usage
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
