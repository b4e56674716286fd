"""The pods of a Job, as they are made of its template."""

from typing import TYPE_CHECKING, Any

from batkube.controllers.job.indexes import FAILURES, IGNORED_FAILURES, INDEX, failures_of, ignored_failures_of
from batkube.controllers.job.policies import verdict
from batkube.controllers.job.tracking import TRACKING
from batkube.controllers.pods import from_template

if TYPE_CHECKING:
    from batkube.controllers.job.synchronization import JobSync

JSON = dict[str, Any]

MAX_PREFIX = 58
"""The most characters before what a name is generated with."""
_VARIABLE = "JOB_COMPLETION_INDEX"


def new_pod(sync: "JobSync", index: int | None) -> JSON:
    """Return a pod of the Job, the one of an index if there are such."""
    name = sync.job["metadata"]["name"]
    prefix = "" if index is None else _prefix(name, index)
    pod = from_template(sync.spec["template"], sync.job, generate_name=prefix)
    metadata = pod["metadata"]
    finalizers = metadata.setdefault("finalizers", [])
    if TRACKING not in finalizers:
        finalizers.append(TRACKING)
    if sync.indexed:
        _add_variable(pod["spec"])
    if index is not None:
        annotations, labels = metadata.setdefault("annotations", {}), metadata.setdefault("labels", {})
        annotations[INDEX] = labels[INDEX] = str(index)
        pod["spec"]["hostname"] = f"{name}-{index}"
        if sync.per_index is not None:
            _add_failures(sync, annotations, sync.delayed.get(index))
    return pod


def _prefix(job: str, index: int) -> str:
    end = f"-{index}-"
    return (job if len(job) + len(end) <= MAX_PREFIX else job[: MAX_PREFIX - len(end)]) + end


def _add_variable(spec: JSON) -> None:
    source = {"fieldRef": {"fieldPath": f"metadata.labels['{INDEX}']"}}
    for container in (*(spec.get("initContainers") or ()), *spec["containers"]):
        variables = container.setdefault("env", [])
        if all(each["name"] != _VARIABLE for each in variables):
            variables.append({"name": _VARIABLE, "valueFrom": source})


def _add_failures(sync: "JobSync", annotations: JSON, before: JSON | None) -> None:
    """Say how often the index has failed before, now that a pod takes the place of ``before``."""
    count = ignored = 0
    if before is not None:
        count, ignored = failures_of(before), ignored_failures_of(before)
        if verdict(sync.policy, before).counts:
            count += 1
        else:
            ignored += 1
    annotations[FAILURES] = str(count)
    if ignored:
        annotations[IGNORED_FAILURES] = str(ignored)
