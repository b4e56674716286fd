"""Priorities, budgets, pod groups, runtime classes, and the API server's own flow control."""

from __future__ import annotations

from typing import Any

from ..ages import Ages
from .text import JSON, NONE, Cells, age, condition, name, name_and_age, spec, status


def priority_class(obj: JSON, ages: Ages) -> list[Any]:
    policy = obj.get("preemptionPolicy") or ""
    return [name(obj), obj.get("value", 0), bool(obj.get("globalDefault")), age(obj, ages), policy]


def disruption_budget(obj: JSON, ages: Ages) -> list[Any]:
    bounds = (spec(obj).get(bound) for bound in ("minAvailable", "maxUnavailable"))
    shown = ("N/A" if bound is None else str(bound) for bound in bounds)
    return [name(obj), *shown, status(obj).get("disruptionsAllowed", 0), age(obj, ages)]


def pod_group(obj: JSON, ages: Ages) -> list[Any]:
    policy = "Gang" if (spec(obj).get("schedulingPolicy") or {}).get("gang") is not None else "Basic"
    state = "Pending"
    scheduled = condition(obj, "PodGroupScheduled")
    if scheduled is not None:
        state = "Scheduled" if scheduled.get("status") == "True" else "Unschedulable"
    disrupted = condition(obj, "DisruptionTarget")
    if disrupted is not None:
        state = disrupted.get("reason", "")
    template = spec(obj).get("podGroupTemplateRef")
    workload = NONE if template is None else (template.get("workload") or {}).get("workloadName", "")
    return [name(obj), policy, workload, state, age(obj, ages)]


def runtime_class(obj: JSON, ages: Ages) -> list[Any]:
    return [name(obj), obj.get("handler", ""), age(obj, ages)]


def flow_schema(obj: JSON, ages: Ages) -> list[Any]:
    its_spec = spec(obj)
    method = its_spec.get("distinguisherMethod")
    dangling = condition(obj, "Dangling")
    return [
        name(obj),
        (its_spec.get("priorityLevelConfiguration") or {}).get("name", ""),
        its_spec.get("matchingPrecedence", 0),
        NONE if method is None else method.get("type", ""),
        age(obj, ages),
        "?" if dangling is None else dangling.get("status", ""),
    ]


def priority_level(obj: JSON, ages: Ages) -> list[Any]:
    limited = spec(obj).get("limited")
    shares: Any = NONE
    queues: list[Any] = [NONE, NONE, NONE]
    if limited is not None:
        shares = limited.get("nominalConcurrencyShares", 0)
        queuing = (limited.get("limitResponse") or {}).get("queuing")
        if queuing is not None:
            queues = [queuing.get(key, 0) for key in ("queues", "handSize", "queueLengthLimit")]
    return [name(obj), spec(obj).get("type", ""), shares, *queues, age(obj, ages)]


CELLS: dict[str, Cells] = {
    "FlowSchema": flow_schema,
    "PodDisruptionBudget": disruption_budget,
    "PodGroup": pod_group,
    "PriorityClass": priority_class,
    "PriorityLevelConfiguration": priority_level,
    "RuntimeClass": runtime_class,
    "Workload": name_and_age,
}
