"""Events as controllers write them: client-go's recorder (``tools/record``) with its correlator.

Ten different messages of one reason on one object within ten minutes become one that is counted; and of one object and
type no more than 25 are written at once, then one every five minutes.
"""

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from batkube.kube.apimachinery.status import ApiError

if TYPE_CHECKING:
    from batkube.controllers.cluster import Cluster
    from batkube.kube.in_process.caller import Caller

JSON = dict[str, Any]

NORMAL, WARNING = "Normal", "Warning"

_MOST_ALIKE, _ALIKE_WITHIN = 10, 600.0
_BURST, _TOKENS_A_SECOND = 25.0, 1.0 / 300.0
_REMEMBERED = 4096


T = TypeVar("T")


class _Latest(Generic[T]):
    """The last few thousand entries, as client-go's cache keeps them."""

    def __init__(self) -> None:
        self._entries: OrderedDict[Hashable, T] = OrderedDict()

    def look_up(self, key: Hashable) -> T | None:
        found = self._entries.get(key)
        if found is not None:
            self._entries.move_to_end(key)
        return found

    def keep(self, key: Hashable, value: T) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > _REMEMBERED:
            self._entries.popitem(last=False)


@dataclass
class _Alike:
    """The different messages of one reason."""

    last: float
    messages: dict[Hashable, None] = field(default_factory=dict)


@dataclass
class _Tokens:
    left: float
    since: float


class Recorder:
    """Writes the Events of ``component``."""

    def __init__(self, cluster: "Cluster", component: str, client: "Caller") -> None:
        self._cluster = cluster
        self._component = component
        self._client = client
        self._alike: _Latest[_Alike] = _Latest()
        self._seen: _Latest[JSON] = _Latest()
        self._tokens: _Latest[_Tokens] = _Latest()

    def event(self, about: JSON, kind: str, reason: str, message: str, *, reference: JSON | None = None) -> None:
        """Tell something of an object: ``kind`` is NORMAL or WARNING. ``reference``: to it, where it is not at hand."""
        involved = reference or _reference(about)
        now, namespace = self._cluster.text(), involved.get("namespace") or "default"
        event: JSON = {
            "metadata": {"name": self._cluster.event_name(namespace, involved["name"]), "namespace": namespace},
            "involvedObject": involved,
            "reason": reason,
            "message": message,
            "source": {"component": self._component},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": kind,
            "reportingComponent": self._component,
        }
        self._write(*self._combined(event))

    def _combined(self, event: JSON) -> tuple[JSON, Hashable]:
        """Return the event, or one that stands for many like it, and the key by which it is counted."""
        key, now = _key(event), self._cluster.now
        group = (*_object(event), event["type"], event["reason"])
        alike = self._alike.look_up(group)
        if alike is None or now - alike.last > _ALIKE_WITHIN:
            alike = _Alike(now)
        alike.last = now
        alike.messages[event["message"]] = None
        self._alike.keep(group, alike)
        if len(alike.messages) < _MOST_ALIKE:
            return event, key
        del alike.messages[next(iter(alike.messages))]
        combined = {name: value for name, value in event.items() if name != "reportingComponent"}
        return {**combined, "message": f"(combined from similar events): {event['message']}"}, ("group", *group)

    def _write(self, event: JSON, key: Hashable) -> None:
        seen = self._seen.look_up(key)
        if seen is not None:
            event["metadata"]["name"] = seen["metadata"]["name"]
            event["firstTimestamp"] = seen["firstTimestamp"]
            event["count"] = seen["count"] + 1
        self._seen.keep(key, event)
        if not self._allowed(event):
            return
        namespace, name = event["metadata"]["namespace"], event["metadata"]["name"]
        try:
            if seen is not None and self._cluster.get("events", namespace, name) is not None:
                changed = {member: event[member] for member in ("count", "lastTimestamp", "message")}
                self._client.modify("events", namespace, name, lambda found: found.update(changed))
            else:
                self._client.create("events", event, namespace)
        except ApiError:  # as where the namespace is about to go: it is never tried again
            return
        self._seen.keep(_key(event), event)

    def _allowed(self, event: JSON) -> bool:
        """Take a token; False if there is none."""
        key, now = (*_object(event), event["type"]), self._cluster.now
        tokens = self._tokens.look_up(key) or _Tokens(_BURST, now)
        tokens.left = min(_BURST, tokens.left + (now - tokens.since) * _TOKENS_A_SECOND)
        tokens.since = now
        allowed = tokens.left >= 1
        if allowed:
            tokens.left -= 1
        self._tokens.keep(key, tokens)
        return allowed


def _reference(obj: JSON) -> JSON:
    metadata = obj["metadata"]
    names = {name: metadata[name] for name in ("namespace", "name", "uid", "resourceVersion") if metadata.get(name)}
    return {"kind": obj["kind"], "apiVersion": obj["apiVersion"], **names}


def _object(event: JSON) -> tuple[Hashable, ...]:
    involved = event["involvedObject"]
    return tuple(involved.get(name) for name in ("kind", "namespace", "name", "uid", "apiVersion"))


def _key(event: JSON) -> tuple[Hashable, ...]:
    return (*_object(event), event["type"], event["reason"], event["message"])
