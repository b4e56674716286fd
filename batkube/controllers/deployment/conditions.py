"""The conditions of a Deployment."""

from typing import TYPE_CHECKING, Any

from batkube.controllers.conditions import condition

if TYPE_CHECKING:
    from batkube.controllers.cluster import Cluster

JSON = dict[str, Any]

AVAILABLE, PROGRESSING, FAILURE = "Available", "Progressing", "ReplicaFailure"
TIMED_OUT = "ProgressDeadlineExceeded"
NEW_IS_AVAILABLE = "NewReplicaSetAvailable"


def new_condition(cluster: "Cluster", kind: str, status: str, reason: str, message: str) -> JSON:
    """Return a condition that is dated now."""
    now = cluster.text()
    return {
        "type": kind,
        "status": status,
        "lastUpdateTime": now,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def set_condition(status: JSON, new: JSON) -> None:
    """Put a condition in, unless there is one with the same status and reason."""
    old = condition(status, new["type"])
    if old is not None and (old["status"], old.get("reason")) == (new["status"], new["reason"]):
        return
    if old is not None and old["status"] == new["status"]:
        new = {**new, "lastTransitionTime": old["lastTransitionTime"]}
    remove_condition(status, new["type"])
    status["conditions"] = [*(status.get("conditions") or ()), new]


def remove_condition(status: JSON, kind: str) -> None:
    """Take the condition of this type out."""
    left = [each for each in status.get("conditions") or () if each["type"] != kind]
    if left:
        status["conditions"] = left
    else:
        status.pop("conditions", None)
