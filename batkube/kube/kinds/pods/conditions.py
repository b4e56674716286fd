"""Conditions of pods that the API server itself writes."""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]


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
    return {
        "type": "DisruptionTarget",
        "status": "True",
        "lastProbeTime": None,
        "lastTransitionTime": now,
        "reason": "EvictionByEvictionAPI",
        "message": "Eviction API: evicting",
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
