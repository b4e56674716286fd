"""The cluster as controllers see it: objects, who owns them, dates."""

from collections.abc import Callable, Iterator
from typing import Any

from batkube.controllers.flags import Flags
from batkube.controllers.kubelets import Kubelets
from batkube.controllers.owners import controller_of
from batkube.controllers.placed_pods import PlacedPods
from batkube.controllers.work_queue import Clock
from batkube.kube.apimachinery.times import read_second
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import DELETED, Change

JSON = dict[str, Any]
Key = tuple[str, str]
"""Namespace and name."""


class Owned:
    """The objects of a kind by the uid of the controller that owns them, in the order in which they came.

    Those that nobody owns are found by their labels, as there may be many of them.
    """

    def __init__(self, server: ApiServer, storage: str) -> None:
        self._server = server
        self._storage = storage
        self._groups: dict[str, dict[Key, None]] = {}
        self._groups_of: dict[Key, tuple[str, ...]] = {}
        for obj in server.store.list(storage):
            self._note(obj)
        server.store.subscribe(self._on_change, (storage,))

    def stop(self) -> None:
        """Follow no more."""
        self._server.store.unsubscribe(self._on_change)

    def of(self, uid: str) -> list[JSON]:
        """Return the objects whose controller has this uid."""
        return list(self._found(uid))

    def candidates(self, owner: JSON) -> list[JSON]:
        """Return the objects of this owner, and those of nobody that its selector may fit."""
        metadata = owner["metadata"]
        return [*self.of(metadata["uid"]), *self.of_nobody(metadata["namespace"], owner["spec"].get("selector"))]

    def of_nobody(self, namespace: str, selector: JSON | None = None) -> list[JSON]:
        """Return the objects of a namespace that have no controller: of those that the selector fits, all."""
        group = f"/{namespace}"
        for label in ((selector or {}).get("matchLabels") or {}).items():
            group = _labelled(namespace, *label)
            break
        return list(self._found(group))

    def _found(self, group: str) -> Iterator[JSON]:
        for key in self._groups.get(group, ()):
            if (obj := self._server.store.get(self._storage, *key)) is not None:
                yield obj

    def _on_change(self, change: Change) -> None:
        if change.type == DELETED:
            self._move(change.version.key, ())
        else:
            self._note(change.version.obj)

    def _note(self, obj: JSON) -> None:
        metadata = obj["metadata"]
        namespace = metadata.get("namespace", "")
        if (reference := controller_of(obj)) is not None:
            groups = [str(reference["uid"])]
        else:
            labels = metadata.get("labels") or {}
            groups = [f"/{namespace}", *(_labelled(namespace, *label) for label in labels.items())]
        self._move((namespace, metadata["name"]), tuple(groups))

    def _move(self, key: Key, groups: tuple[str, ...]) -> None:
        before = self._groups_of.pop(key, ())
        if groups:
            self._groups_of[key] = groups
        for group in before:
            if group not in groups:
                keys = self._groups[group]
                del keys[key]
                if not keys:
                    del self._groups[group]
        for group in groups:
            if group not in before:
                self._groups.setdefault(group, {})[key] = None


def _labelled(namespace: str, key: str, value: str) -> str:
    return f"/{namespace}/{key}={value}"


class Cluster:
    """The part that all controllers share. ``warn`` tells the user something, once.

    ``goes_on``: the simulation goes on in any case, so that what happens by schedule may begin. ``flags``: what a user
    says of controllers.

    Dates are simulated seconds; those in objects are whole seconds, cut off, as `metav1.Time` is written.
    """

    def __init__(
        self,
        server: ApiServer,
        clock: Clock,
        warn: Callable[[str], None],
        goes_on: Callable[[], bool] = lambda: True,
        work: Callable[[], bool] = lambda: False,
        flags: Flags | None = None,
        kubelets: Kubelets | None = None,
    ) -> None:
        self.server = server
        self.clock = clock
        self.warn = warn
        self.goes_on = goes_on
        self.flags = flags or Flags()
        self.kubelets = kubelets or Kubelets()
        """The signs of life of the nodes."""
        self._work = work
        self._owned: dict[str, Owned] = {}
        self._placed_pods: PlacedPods | None = None
        self._event_number = 0

    def let_others_act(self) -> None:
        """Let the other controllers see, and act on, what one has written in the middle of its work."""
        while self._work():
            pass

    def close(self) -> None:
        """Follow no more changes."""
        for owned in self._owned.values():
            owned.stop()
        self._owned.clear()
        if self._placed_pods is not None:
            self._placed_pods.stop()

    @property
    def now(self) -> float:
        """The present."""
        return self.clock.now

    def get(self, resource: str, namespace: str, name: str) -> JSON | None:
        """Return an object, which must not be changed."""
        return self.server.store.get(resource, namespace, name)

    def meant(self, resource: str, namespace: str, reference: JSON | None) -> JSON | None:
        """Return the object of this kind that a reference means; None if it means another kind, or one that is gone."""
        if reference is None or reference["kind"] != self.server.registry.named(resource).kind:
            return None
        found = self.get(resource, namespace, reference["name"])
        return found if found is not None and found["metadata"]["uid"] == reference["uid"] else None

    def owner(self, resource: str, obj: JSON) -> JSON | None:
        """Return the object's controller, if it is of this kind and there."""
        return self.meant(resource, obj["metadata"].get("namespace", ""), controller_of(obj))

    def list(self, resource: str, namespace: str | None = None) -> "list[JSON]":
        """Return the objects of a namespace, or of all, by namespace and name; they must not be changed."""
        return self.server.store.list(resource, namespace)

    def owned(self, resource: str) -> Owned:
        """Return the objects of a kind by their owners."""
        if resource not in self._owned:
            self._owned[resource] = Owned(self.server, resource)
        return self._owned[resource]

    @property
    def placed_pods(self) -> PlacedPods:
        """The pods that have not ended, by their nodes."""
        if self._placed_pods is None:
            self._placed_pods = PlacedPods(self.server)
        return self._placed_pods

    def text(self, date: float | None = None) -> str:
        """Return a date, by default the present, as objects have it."""
        return self.clock.rfc3339(date)

    def date(self, text: str) -> float:
        """Return a date that an object has."""
        return read_second(text) - self.clock.epoch

    def since(self, text: str) -> float:
        """Return the seconds since a date that an object has."""
        return self.now - self.date(text)

    def event_name(self, namespace: str, about: str) -> str:
        """Return a name for an Event: with nanoseconds of the present, or one more than the last."""
        unix = round((self.clock.epoch + self.now) * 1e6) * 1000
        while True:
            self._event_number = max(unix, self._event_number + 1)
            name = f"{about}.{self._event_number:x}"
            if self.get("events", namespace, name) is None:  # else a kubelet has told something, too
                return name
