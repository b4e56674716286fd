"""Conditions of pods that the API server itself writes."""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]
DISRUPTION_TARGET = "DisruptionTarget"
"""The condition of a pod that the cluster takes away: its end is not its own fault."""
PREEMPTED = "PreemptionByScheduler"
"""The reason of one that gives way to a pod of a higher priority."""


def gated_condition(now: str) -> JSON:
    """Return the first condition of a pod that waits for its scheduling gates."""
    return {
        "type": "PodScheduled",
        "status": "False",
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": "SchedulingGated",
        "message": "Scheduling is blocked due to non-empty scheduling gates",
    }


def evicted_condition(now: str) -> JSON:
    """Return the condition of a pod that is evicted."""
    return _disrupted(now, "EvictionByEvictionAPI", "Eviction API: evicting")


def preempted_condition(now: str, scheduler: str) -> JSON:
    """Return the condition of a pod that gives way to another one, as kube-scheduler writes it."""
    return _disrupted(now, PREEMPTED, f"{scheduler}: preempting to accommodate a higher priority pod")


def _disrupted(now: str, reason: str, message: str) -> JSON:
    return {
        "type": DISRUPTION_TARGET,
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": reason,
        "message": message,
    }


def set_condition(status: JSON, condition: JSON) -> None:
    """Add a condition or replace the one of its type. The time of the transition stays if the status stays."""
    conditions = [*(status.get("conditions") or ())]
    for index, present in enumerate(conditions):
        if present.get("type") == condition["type"]:
            if present.get("status") == condition["status"]:
                condition = {**condition, "lastTransitionTime": present.get("lastTransitionTime")}
            conditions[index] = condition
            break
    else:
        conditions.append(condition)
    status["conditions"] = conditions


def is_ready(pod: JSON) -> bool:
    """Return True if the pod can serve: its condition Ready is true."""
    conditions = pod.get("status", {}).get("conditions") or ()
    return any(each.get("type") == "Ready" and each.get("status") == "True" for each in conditions)
