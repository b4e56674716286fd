"""The looks at a cluster: at each look what has changed since the last, with dates in simulated seconds."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from .naming import Names

JSON = dict[str, Any]

DATE = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
_CHANCE = ("resourceVersion", "managedFields")
"""Members, of metadata and of references, that are other ones each time."""
_KUBELETS = (
    "startTime",
    "containerStatuses",
    "initContainerStatuses",
    "podIP",
    "podIPs",
    "hostIP",
    "hostIPs",
    "qosClass",
)
"""Members of a pod's status that no controller writes."""
_PODS_OWN = ("nodeName", "hostname", "subdomain", "affinity", "tolerations", "volumes")
"""Members of a pod's spec that are not only its template's."""
_DEPRECATED = "beta.kubernetes.io/"
"""The beginning of labels that the node life-cycle controller gives nodes beside those that they have."""
_NOT_TOLD = ("RegisteredNode", "RemovingNode")
"""Reasons of events that the controllers that are built in do not tell."""
_SYSTEM = ("default", "kube-node-lease", "kube-public", "kube-system")


class Looks:
    """The notes of a scenario. Pods are named at the end, by what became of them (`naming.py`)."""

    def __init__(self, names: Names, epoch: float) -> None:
        self._names = names
        self._epoch = epoch
        self._looks: list[tuple[float, list[tuple[str, JSON]]]] = []
        self._answers: list[JSON] = []

    def evicted(self, at: float, status: int) -> None:
        """Note how an eviction was answered."""
        self._answers.append({"at": at, "eviction": status})

    def add(self, at: float, found: list[tuple[str, list[JSON]]]) -> None:
        """Note what there is."""
        self._looks.append((at, [(kind, obj) for kind, objects in found for obj in objects]))

    def notes(self) -> list[JSON]:
        """Return what has changed from look to look."""
        for at, found in self._looks:
            for kind, obj in found:
                self._names.saw(at, obj["metadata"]["name"] if kind == "v1/pods" else "", _dated(obj, self._epoch))
        told = self._names.by_fate()
        notes: list[JSON] = list(self._answers)
        last: dict[str, JSON] = {}
        for at, found in self._looks:
            seen = self._seen([(kind, _dated(told(obj), self._epoch)) for kind, obj in found])
            changed = {key: _news(last.get(key, {}), seen[key]) for key in sorted(seen)}
            gone = sorted(key for key in last if key not in seen and not key.startswith("event "))
            news = {key: each for key, each in changed.items() if each}
            notes.append({"at": at, **({"changed": news} if news else {}), **({"gone": gone} if gone else {})})
            last = seen
        return sorted(notes, key=lambda note: float(note["at"]))

    def _seen(self, found: list[tuple[str, JSON]]) -> dict[str, JSON]:
        seen: dict[str, JSON] = {}
        for kind, obj in found:
            if kind == "v1/events":
                if (event := _event(obj)) is not None:
                    key = f"event {event['on']}: {event['reason']}: {event['message']} ({event['first']})"
                    seen[key] = {name: event[name] for name in ("type", "last", "count")}
            elif (shown := _shown(kind, obj)) is not None:
                seen[_name(kind, obj)] = shown
        return seen


def _dated(value: Any, epoch: float) -> Any:
    """Return the value with its dates in simulated seconds."""
    if isinstance(value, dict):
        return {key: _dated(each, epoch) for key, each in value.items() if key not in _CHANCE}
    if isinstance(value, list):
        return [_dated(each, epoch) for each in value]
    if isinstance(value, str):
        return DATE.sub(lambda date: _seconds(date.group(), epoch), value)
    return value


def _seconds(date: str, epoch: float) -> str:
    return f"+{int(datetime.fromisoformat(date).timestamp() - epoch)}s"


def _name(kind: str, obj: JSON) -> str:
    metadata = obj["metadata"]
    namespace = metadata.get("namespace", "")
    place = f"{namespace}/" if namespace not in ("", "default") else ""
    return f"{kind.rpartition('/')[2]} {place}{metadata['name']}"


def _shown(kind: str, obj: JSON) -> JSON | None:
    """Return what is noted of an object; None for nothing."""
    metadata = obj["metadata"]
    if kind.endswith("/namespaces") and metadata["name"] in _SYSTEM:
        return None
    shown = {**obj, "metadata": {key: value for key, value in metadata.items() if key != "uid"}}
    shown.pop("kind", None)
    shown.pop("apiVersion", None)
    if kind == "v1/pods":
        spec, status = obj["spec"], obj.get("status") or {}
        shown["spec"] = {key: value for key, value in spec.items() if key in _PODS_OWN}
        conditions = [_condition(condition) for condition in status.get("conditions") or ()]
        shown["status"] = {key: value for key, value in status.items() if key not in _KUBELETS}
        if conditions:
            shown["status"]["conditions"] = sorted(conditions, key=lambda condition: str(condition["type"]))
    if kind == "v1/nodes":
        labels = {key: value for key, value in metadata.get("labels", {}).items() if not key.startswith(_DEPRECATED)}
        shown["metadata"]["labels"] = labels
        shown["status"] = {"conditions": (obj.get("status") or {}).get("conditions", [])}
        shown["spec"] = {key: value for key, value in (obj.get("spec") or {}).items() if key != "podCIDR"}
    return shown


def _condition(condition: JSON) -> JSON:
    """Return the condition of a pod, without the kubelet's words and what nobody reads."""
    kept = ("type", "status", "reason", "lastTransitionTime")
    more = ("message",) if condition["type"] == "DisruptionTarget" else ()
    return {key: condition[key] for key in (*kept, *more) if key in condition}


def _event(event: JSON) -> JSON | None:
    """Return what is noted of an event; None for those that no controller has written."""
    source = (event.get("source") or {}).get("component") or event.get("reportingComponent") or ""
    if source in ("kubelet", "default-scheduler", "") or event["reason"] in _NOT_TOLD:
        return None
    on = event["involvedObject"]
    place = f"{on['namespace']}/" if on.get("namespace", "default") != "default" else ""
    return {
        "on": f"{on['kind']} {place}{on['name']} by {source}",
        "reason": event["reason"],
        "message": event["message"],
        "type": event["type"],
        "first": event.get("firstTimestamp") or event.get("eventTime"),
        "last": event.get("lastTimestamp") or event.get("eventTime"),
        "count": event.get("count", 1),
    }


def _news(old: JSON, new: JSON) -> JSON:
    """Return the members that have changed; one that is gone is None."""
    changed = {key: value for key, value in new.items() if old.get(key) != value}
    return {**changed, **{key: None for key in old if key not in new}}
