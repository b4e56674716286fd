"""The controllers of a cluster, each from the moment at which there is an object that needs it."""

from collections.abc import Callable, Sequence
from itertools import chain
from typing import Any, TypeAlias

from batkube.controllers.catalogue import BUILT_IN, Listed
from batkube.controllers.cluster import Cluster
from batkube.controllers.controller import ALL, Controller
from batkube.controllers.flags import Flags
from batkube.controllers.kubelets import Kubelets
from batkube.controllers.work_queue import Clock
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import ADDED, DELETED, Change

MANAGER = "kube-controller-manager"
"""The program whose part is played here, as it calls itself in its User-Agent."""
MOST_AT_ONCE = 1_000_000
"""The most keys that are looked at at one date: more are controllers that never come to rest."""


_Kind: TypeAlias = type[Controller] | Listed


class RestlessControllers(Exception):
    """A fault: controllers that go on for ever without time going on."""


class ControlPlane:
    """Plays controllers from ``start`` to ``stop``: at ``sync`` until nothing moves any more.

    ``kinds``: those that are played; None for all that are built in. ``flags``: what a user says of them.
    ``gives_way_to``: nothing is played as soon as a client has called whose User-Agent has this in it. ``goes_on``,
    ``kubelets``: see Cluster. ``warn`` tells the user something.
    """

    def __init__(
        self,
        server: ApiServer,
        clock: Clock,
        warn: Callable[[str], None],
        *,
        kinds: Sequence[_Kind] | None = None,
        flags: Flags | None = None,
        gives_way_to: str | None = MANAGER,
        goes_on: Callable[[], bool] = lambda: True,
        kubelets: Kubelets | None = None,
    ) -> None:
        self._server = server
        self._warn = warn
        self._cluster = Cluster(server, clock, warn, goes_on, self._work, flags, kubelets)
        given: Sequence[_Kind] = BUILT_IN if kinds is None else kinds
        self._kinds = [kind for kind in given if not isinstance(kind, Listed) or self._cluster.flags.play(kind.names)]
        self._acting: list[Controller] = []
        self._asleep: dict[str, list[_Kind]] = {}
        """The controllers that no object needs yet, by the kinds that wake them."""
        self._sleepers: dict[str, tuple[_Kind, ...]] = {}
        """The same, with those that any kind wakes, as far as asked for."""
        self._woken: dict[_Kind, None] = {}
        self._running: dict[_Kind, Controller] = {}
        self._controllers: list[Controller] = []
        """Those that run, in the order of ``kinds``."""
        self._agents_seen = 0
        self._gives_way_to = gives_way_to
        self._listening = False

    def start(self) -> None:
        """Begin to look for objects that need controllers; those that there are count."""
        for kind in self._kinds:
            for resource in kind.wakes:
                self._asleep.setdefault(resource, []).append(kind)
        if not self._asleep:
            return
        self._server.store.subscribe(self._on_change, self._concerned())
        self._listening = True
        for collection in self._server.store.collections():
            if collection.storage in self._asleep or ALL in self._asleep:
                for version in collection.select():
                    self._note(collection.storage, version.obj)

    def stop(self) -> None:
        """Play no more. Stopping twice does nothing."""
        if self._listening:
            self._server.store.unsubscribe(self._on_change)
            self._cluster.close()
        self._listening = False
        self._asleep, self._sleepers, self._woken, self._running, self._controllers = {}, {}, {}, {}, []

    def need(self, kind: _Kind) -> None:
        """Start a controller of ``kinds``, whatever objects there are, if it does not run."""
        if self._listening and kind in self._kinds and kind not in self._running:
            self._woken[kind] = None

    def sync(self) -> bool:
        """Let all controllers act, at the present date, until none has anything to do; tell whether one had."""
        if not (self._woken or self._controllers) or self._stands_aside():
            return False
        for count in range(MOST_AT_ONCE):
            if self._woken:
                self._wake()
            if not self._work():
                return count > 0
        names = ", ".join(controller.name for controller in self._controllers)
        raise RestlessControllers(f"the controllers never come to rest: {names}")

    def _work(self) -> bool:
        """Let one of those that are not acting already look at one key; False if none has anything to do."""
        for controller in self._controllers:
            if controller in self._acting:
                continue
            self._acting.append(controller)
            try:
                if controller.work():
                    return True
            finally:
                self._acting.pop()
        return False

    @property
    def next_date(self) -> float | None:
        """The date at which one of them wants to act by itself; None: never."""
        return min((date for each in self._controllers if (date := each.queue.next_date) is not None), default=None)

    @property
    def awaited_date(self) -> float | None:
        """The same, of those things that the simulation goes on for."""
        return min((date for each in self._controllers if (date := each.queue.awaited_date) is not None), default=None)

    def _concerned(self) -> list[str] | None:
        follows = ((ALL,) if isinstance(kind, Listed) else kind.follows for kind in self._kinds)
        concerned = dict.fromkeys(chain(self._asleep, *follows))
        return None if ALL in concerned else list(concerned)

    def _on_change(self, change: Change) -> None:
        resource = change.resource.storage
        for controller in self._controllers:
            if resource in controller.follows or ALL in controller.follows:
                controller.changed(change)
        if self._asleep:
            self._note(resource, change.version.obj, gone=change.type == DELETED)

    def _note(self, resource: str, obj: dict[str, Any], *, gone: bool = False) -> None:
        concerned = self._sleepers.get(resource)
        if concerned is None:
            concerned = self._sleepers[resource] = (*self._asleep.get(resource, ()), *self._asleep.get(ALL, ()))
        for kind in concerned:
            loaded = _loaded(kind)
            if loaded.missed(obj) if gone else loaded.wanted(obj, self._cluster.flags):
                self._woken[kind] = None

    def _wake(self) -> None:
        """Start those that are needed now, and tell them what there is."""
        woken, self._woken = self._woken, {}
        self._sleepers.clear()
        for resource, kinds in list(self._asleep.items()):
            self._asleep[resource] = [kind for kind in kinds if kind not in woken]
            if not self._asleep[resource]:
                del self._asleep[resource]
        started = [_loaded(kind)(self._cluster) for kind in woken]
        self._running |= dict(zip(woken, started, strict=True))
        self._controllers = [self._running[kind] for kind in self._kinds if kind in self._running]
        for controller in started:
            followed = controller.follows
            if ALL in followed:
                followed = tuple(sorted(each.storage for each in self._server.store.collections()))
            for resource in followed:
                for version in self._server.store.collection(resource).select():
                    controller.changed(Change(version.revision, ADDED, version, None))

    def _stands_aside(self) -> bool:
        """Tell whether a kube-controller-manager is there, which does all this itself; then play no more."""
        if self._gives_way_to is None or len(self._server.agents) == self._agents_seen:
            return False
        self._agents_seen = len(self._server.agents)
        if not any(self._gives_way_to in agent for agent in self._server.agents):
            return False
        names = ", ".join(controller.name for controller in self._controllers) or "none so far"
        self._warn(
            f"a kube-controller-manager is there: the controllers that are built in stand aside ({names}); "
            "--controllers none says so from the start, builtin has them act all the same"
        )
        self.stop()
        return True


def _loaded(kind: _Kind) -> type[Controller]:
    return kind.load() if isinstance(kind, Listed) else kind
