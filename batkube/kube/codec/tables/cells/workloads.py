"""Jobs, deployments and similar kinds."""

from __future__ import annotations

from typing import Any

from ..ages import Ages
from .text import (
    JSON,
    NONE,
    UNSET,
    Cells,
    age,
    containers,
    is_true,
    label_selector,
    labels,
    name,
    spec,
    status,
    template_spec,
)


def job(obj: JSON, ages: Ages) -> list[Any]:
    job_spec, job_status = spec(obj), status(obj)
    succeeded = job_status.get("succeeded", 0)
    parallelism = job_spec.get("parallelism") or 0
    if job_spec.get("completions") is not None:
        completions = f"{succeeded}/{job_spec['completions']}"
    elif parallelism > 1:
        completions = f"{succeeded}/1 of {parallelism}"
    else:
        completions = f"{succeeded}/1"
    start, end = job_status.get("startTime"), job_status.get("completionTime")
    duration = "" if not start else ages.between(start, end) if end else ages.since(start)
    selector = label_selector(job_spec.get("selector")) or NONE
    return [
        name(obj),
        _job_state(obj),
        completions,
        duration,
        age(obj, ages),
        *containers(template_spec(obj)),
        selector,
    ]


def _job_state(obj: JSON) -> str:
    for condition, word in (("Complete", "Complete"), ("Failed", "Failed")):
        if is_true(obj, condition):
            return word
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for condition in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if is_true(obj, condition):
            return condition
    return "Running"


def cron_job(obj: JSON, ages: Ages) -> list[Any]:
    cron_spec, cron_status = spec(obj), status(obj)
    job_spec = (cron_spec.get("jobTemplate") or {}).get("spec") or {}
    last = cron_status.get("lastScheduleTime")
    suspended = cron_spec.get("suspend")
    return [
        name(obj),
        cron_spec.get("schedule", ""),
        cron_spec.get("timeZone", NONE),
        UNSET if suspended is None else str(bool(suspended)),
        len(cron_status.get("active") or ()),
        ages.since(last) if last else NONE,
        age(obj, ages),
        *containers((job_spec.get("template") or {}).get("spec") or {}),
        label_selector(job_spec.get("selector")) or NONE,
    ]


def deployment(obj: JSON, ages: Ages) -> list[Any]:
    its_status = status(obj)
    return [
        name(obj),
        f"{its_status.get('readyReplicas', 0)}/{spec(obj).get('replicas', 0)}",
        its_status.get("updatedReplicas", 0),
        its_status.get("availableReplicas", 0),
        age(obj, ages),
        *containers(template_spec(obj)),
        label_selector(spec(obj).get("selector")),
    ]


def replica_set(obj: JSON, ages: Ages) -> list[Any]:
    selector = label_selector(spec(obj).get("selector")) or NONE
    return [*_replicas(obj, ages), *containers(template_spec(obj)), selector]


def replication_controller(obj: JSON, ages: Ages) -> list[Any]:
    return [*_replicas(obj, ages), *containers(template_spec(obj)), labels(spec(obj).get("selector"))]


def _replicas(obj: JSON, ages: Ages) -> list[Any]:
    its_status = status(obj)
    desired = spec(obj).get("replicas", 0)
    return [name(obj), desired, its_status.get("replicas", 0), its_status.get("readyReplicas", 0), age(obj, ages)]


def stateful_set(obj: JSON, ages: Ages) -> list[Any]:
    ready = f"{status(obj).get('readyReplicas', 0)}/{spec(obj).get('replicas', 0)}"
    return [name(obj), ready, age(obj, ages), *containers(template_spec(obj))]


def daemon_set(obj: JSON, ages: Ages) -> list[Any]:
    its_status = status(obj)
    counts = (
        "desiredNumberScheduled",
        "currentNumberScheduled",
        "numberReady",
        "updatedNumberScheduled",
        "numberAvailable",
    )
    return [
        name(obj),
        *(its_status.get(count, 0) for count in counts),
        labels(template_spec(obj).get("nodeSelector")),
        age(obj, ages),
        *containers(template_spec(obj)),
        label_selector(spec(obj).get("selector")) or NONE,
    ]


def controller_revision(obj: JSON, ages: Ages) -> list[Any]:
    owners = obj["metadata"].get("ownerReferences") or ()
    controller = next((owner for owner in owners if owner.get("controller")), None)
    owner_name = NONE
    if controller is not None:
        group = controller["apiVersion"].rpartition("/")[0]
        kind = f"{controller['kind']}.{group}" if group else controller["kind"]
        owner_name = f"{kind.lower()}/{controller['name']}"
    return [name(obj), owner_name, obj.get("revision", 0), age(obj, ages)]


def autoscaler(obj: JSON, ages: Ages) -> list[Any]:
    its_spec, its_status = spec(obj), status(obj)
    target = its_spec.get("scaleTargetRef") or {}
    least = its_spec.get("minReplicas")
    return [
        name(obj),
        f"{target.get('kind', '')}/{target.get('name', '')}",
        _metrics(its_spec.get("metrics") or (), its_status.get("currentMetrics") or ()),
        UNSET if least is None else str(least),
        its_spec.get("maxReplicas", 0),
        its_status.get("currentReplicas", 0),
        age(obj, ages),
    ]


_SOURCES = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _metrics(wanted: Any, measured: Any) -> str:
    """Return the measured and the wanted values of metrics: `cpu: 40%/80%` (`formatHPAMetrics`)."""
    texts = []
    for index, metric in enumerate(wanted):
        key = _SOURCES.get(metric.get("type", ""))
        if key is None:
            texts.append("<unknown type>")
            continue
        target = (metric.get(key) or {}).get("target") or {}
        found = measured[index].get(key) if index < len(measured) else None
        current = (found or {}).get("current") or {}
        prefix = f"{metric[key].get('name', '')}: " if key in ("resource", "containerResource") else ""
        if "averageValue" in target:
            average = " (avg)" if key in ("external", "object") else ""
            texts.append(f"{prefix}{current.get('averageValue', '<unknown>')}/{target['averageValue']}{average}")
        elif prefix:
            used, limit = current.get("averageUtilization"), target.get("averageUtilization")
            used_text = "<unknown>" if used is None else f"{used}%"
            texts.append(f"{prefix}{used_text}/{'<auto>' if limit is None else f'{limit}%'}")
        else:
            texts.append(f"{current.get('value', '<unknown>')}/{target.get('value', '<unknown>')}")
    if not texts:
        return NONE
    shown = ", ".join(texts[:2])
    return f"{shown} + {len(texts) - 2} more..." if len(texts) > 2 else shown


def scale(obj: JSON, ages: Ages) -> list[Any]:
    return [name(obj), spec(obj).get("replicas", 0), status(obj).get("replicas", 0), age(obj, ages)]


CELLS: dict[str, Cells] = {
    "ControllerRevision": controller_revision,
    "CronJob": cron_job,
    "DaemonSet": daemon_set,
    "Deployment": deployment,
    "HorizontalPodAutoscaler": autoscaler,
    "Job": job,
    "ReplicaSet": replica_set,
    "ReplicationController": replication_controller,
    "Scale": scale,
    "StatefulSet": stateful_set,
}
