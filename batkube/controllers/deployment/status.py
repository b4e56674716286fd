"""The status of a Deployment, and whether its rollout gets on."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from batkube.controllers.conditions import condition
from batkube.controllers.deployment.conditions import (
    AVAILABLE,
    FAILURE,
    NEW_IS_AVAILABLE,
    PROGRESSING,
    TIMED_OUT,
    new_condition,
    remove_condition,
    set_condition,
)
from batkube.controllers.deployment.limits import max_unavailable, progress_deadline, replicas

if TYPE_CHECKING:
    from batkube.controllers.cluster import Cluster

JSON = dict[str, Any]


def total(replica_sets: Iterable[JSON | None], name: str) -> int:
    """Return the sum of a number in the status of ReplicaSets."""
    return sum((each or {}).get("status", {}).get(name, 0) for each in replica_sets)


def calculated(cluster: "Cluster", deployment: JSON, every: Sequence[JSON], new: JSON | None) -> JSON:
    """Return the status that follows from all ReplicaSets and the new one."""
    old = deployment.get("status", {})
    available = total(every, "availableReplicas")
    counts = {
        "replicas": total(every, "replicas"),
        "updatedReplicas": total([new], "replicas"),
        "readyReplicas": total(every, "readyReplicas"),
        "availableReplicas": available,
        "unavailableReplicas": max(sum(map(replicas, every)) - available, 0),
    }
    status: JSON = {
        "observedGeneration": deployment["metadata"]["generation"],
        **{name: count for name, count in counts.items() if count},
    }
    if (terminating := _terminating(every)) is not None:
        status["terminatingReplicas"] = terminating
    if "collisionCount" in old:
        status["collisionCount"] = old["collisionCount"]
    if old.get("conditions"):
        status["conditions"] = list(old["conditions"])
    if available >= replicas(deployment) - max_unavailable(deployment):
        truth, reason, text = "True", "MinimumReplicasAvailable", "Deployment has minimum availability."
    else:
        truth, reason, text = "False", "MinimumReplicasUnavailable", "Deployment does not have minimum availability."
    set_condition(status, new_condition(cluster, AVAILABLE, truth, reason, text))
    return status


def _terminating(replica_sets: Iterable[JSON]) -> int | None:
    count = 0
    for each in replica_sets:
        status = each.get("status", {})
        if "terminatingReplicas" in status:
            count += status["terminatingReplicas"]
        elif status.get("observedGeneration"):
            return None
    return count


def is_complete(deployment: JSON, status: JSON) -> bool:
    """Tell whether all pods are new and available, and no old ones are left."""
    wanted = replicas(deployment)
    counts = ("updatedReplicas", "replicas", "availableReplicas")
    seen = status.get("observedGeneration", 0) >= deployment["metadata"]["generation"]
    return seen and all(status.get(name, 0) == wanted for name in counts)


def _gets_on(deployment: JSON, new: JSON) -> bool:
    old = deployment.get("status", {})

    def grew(name: str) -> bool:
        return bool(new.get(name, 0) > old.get(name, 0))

    def outdated(status: JSON) -> int:
        return int(status.get("replicas", 0) - status.get("updatedReplicas", 0))

    grown = any(map(grew, ("updatedReplicas", "readyReplicas", "availableReplicas")))
    return grown or outdated(new) < outdated(old)


def _timed_out(cluster: "Cluster", deployment: JSON, status: JSON) -> bool:
    found, deadline = condition(status, PROGRESSING), progress_deadline(deployment)
    if found is None or deadline is None or found.get("reason") == NEW_IS_AVAILABLE:
        return False
    return found.get("reason") == TIMED_OUT or cluster.since(found["lastUpdateTime"]) > deadline


def in_rollout(cluster: "Cluster", deployment: JSON, every: Sequence[JSON], new: JSON | None) -> JSON:
    """Return the status with what there is to say of the rollout."""
    status = calculated(cluster, deployment, every, new)
    if progress_deadline(deployment) is None:
        remove_condition(status, PROGRESSING)
    else:
        current = condition(deployment.get("status", {}), PROGRESSING)
        done = current is not None and current.get("reason") == NEW_IS_AVAILABLE
        if not (done and status.get("replicas", 0) == status.get("updatedReplicas", 0)):
            _tell_progress(cluster, deployment, status, current, new)
    failure = next(iter([*_failures([new] if new else []), *_failures(every)]), None)
    if failure is not None:
        told = {key: failure[key] for key in ("type", "status", "lastTransitionTime", "reason", "message")}
        set_condition(status, {**told, "lastUpdateTime": failure["lastTransitionTime"]})
    else:
        remove_condition(status, FAILURE)
    return status


def _tell_progress(cluster: "Cluster", deployment: JSON, status: JSON, current: JSON | None, new: JSON | None) -> None:
    what = f'ReplicaSet "{new["metadata"]["name"]}"' if new else f'Deployment "{deployment["metadata"]["name"]}"'
    if is_complete(deployment, status):
        text = f"{what} has successfully progressed."
        set_condition(status, new_condition(cluster, PROGRESSING, "True", NEW_IS_AVAILABLE, text))
    elif _gets_on(deployment, status):
        told = new_condition(cluster, PROGRESSING, "True", "ReplicaSetUpdated", f"{what} is progressing.")
        if current is not None:
            if current["status"] == "True":
                told["lastTransitionTime"] = current["lastTransitionTime"]
            remove_condition(status, PROGRESSING)
        set_condition(status, told)
    elif _timed_out(cluster, deployment, status):
        text = f"{what} has timed out progressing."
        set_condition(status, new_condition(cluster, PROGRESSING, "False", TIMED_OUT, text))


def _failures(replica_sets: Iterable[JSON]) -> list[JSON]:
    return [
        each
        for replica_set in replica_sets
        for each in replica_set.get("status", {}).get("conditions") or ()
        if each["type"] == FAILURE
    ]


def seconds_until_check(cluster: "Cluster", deployment: JSON, status: JSON) -> float | None:
    """Return the seconds after which somebody must look whether the rollout is stuck; None for never.

    One that was complete, and has lost pods since, is never stuck: the upstream controller looks again every five
    milliseconds once its deadline has passed, and finds nothing.
    """
    found, deadline = condition(deployment.get("status", {}), PROGRESSING), progress_deadline(deployment)
    if found is None or deadline is None or is_complete(deployment, status):
        return None
    if found.get("reason") in (TIMED_OUT, NEW_IS_AVAILABLE):
        return None
    return deadline - cluster.since(found["lastUpdateTime"])
