"""The table of kinds that have rules of their own, and of the actions: one line each, in order of their names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from . import conversion
from .binding import bind
from .kinds import events
from .kinds.events import Events
from .kinds.leases import Leases
from .kinds.nodes import Nodes
from .strategy import Action, Context, Strategy

JSON = dict[str, Any]


class Pods(Strategy):
    selectable_fields = frozenset(
        (
            "spec.nodeName",
            "spec.schedulerName",
            "spec.restartPolicy",
            "spec.serviceAccountName",
            "spec.hostNetwork",
            "status.phase",
            "status.podIP",
            "status.nominatedNodeName",
        )
    )
    answers_deleted_object = True

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        super().prepare_create(obj, ctx)
        obj["spec"].setdefault("schedulerName", "default-scheduler")
        obj["spec"].setdefault("restartPolicy", "Always")
        obj["status"] = {"phase": "Pending"}

    def grace_period(self, obj: JSON, requested: int | None, ctx: Context) -> int | None:
        if not obj["spec"].get("nodeName") or obj.get("status", {}).get("phase") in ("Succeeded", "Failed"):
            return 0
        if requested is not None:
            return requested
        return int(obj["spec"].get("terminationGracePeriodSeconds", 30))

    def field_labels(self, obj: JSON) -> dict[str, str] | None:
        spec, status = obj["spec"], obj.get("status", {})
        return {
            "spec.nodeName": spec.get("nodeName", ""),
            "spec.schedulerName": spec.get("schedulerName", ""),
            "spec.restartPolicy": spec.get("restartPolicy", ""),
            "spec.serviceAccountName": spec.get("serviceAccountName", ""),
            "spec.hostNetwork": "true" if spec.get("hostNetwork") else "false",
            "status.phase": status.get("phase", ""),
            "status.podIP": status.get("podIP", ""),
            "status.nominatedNodeName": status.get("nominatedNodeName", ""),
        }


class Namespaces(Strategy):
    counts_generation = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj["spec"] = {"finalizers": ["kubernetes"]}
        obj["status"] = {"phase": "Active"}


STRATEGIES: Mapping[str, Strategy] = {
    "events": Events(),
    "leases.coordination.k8s.io": Leases(),
    "namespaces": Namespaces(),
    "nodes": Nodes(),
    "pods": Pods(),
}

ACTIONS: Mapping[tuple[str, str], Action] = {
    ("bindings", ""): bind,
    ("pods", "binding"): bind,
}


for version in (events.NEW, "events.k8s.io/v1beta1"):
    conversion.FROM_STORED[events.STORAGE, version] = events.to_new
    conversion.TO_STORED[events.STORAGE, version] = events.to_core
