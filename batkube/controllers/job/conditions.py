"""The conditions of a Job, and what follows from them."""

from typing import Any

from batkube.controllers.cluster import Cluster
from batkube.controllers.conditions import is_true

JSON = dict[str, Any]

JOBS = "jobs.batch"
CONTROLLER = "kubernetes.io/job-controller"
"""The value of managedBy that means this controller."""


def is_finished(job: JSON) -> bool:
    """Tell whether the Job is complete, or has failed."""
    return is_true(job, "Complete") or is_true(job, "Failed")


def is_managed_elsewhere(job: JSON) -> bool:
    """Tell whether another controller carries the Job on."""
    return str(job["spec"].get("managedBy", CONTROLLER)) != CONTROLLER


def new(cluster: Cluster, kind: str, reason: str, message: str, status: str = "True") -> JSON:
    """Return a condition, dated now."""
    now = cluster.text()
    return {
        "type": kind,
        "status": status,
        "lastProbeTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def ensure(status: JSON, condition: JSON) -> bool:
    """Let the Job's status have the condition, unless it is False and was never there; tell whether that changed it."""
    conditions: list[JSON] = list(status.get("conditions") or ())
    for index, each in enumerate(conditions):
        if each["type"] == condition["type"]:
            if all(each.get(name) == condition[name] for name in ("status", "reason", "message")):
                return False
            conditions[index] = condition
            break
    else:
        if condition["status"] == "False":
            return False
        conditions.append(condition)
    status["conditions"] = conditions
    return True
