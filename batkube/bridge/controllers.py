"""The controllers of a simulation: those that are built in, and those that are played in any case.

These are the one of device claims, and that of nodes where failures are known at once, as Batsim tells of them.
"""

from collections.abc import Callable
from dataclasses import replace

from batkube.bridge.controller_settings import Which
from batkube.bridge.time import SimulatedTime
from batkube.controllers.catalogue import BUILT_IN, NODE_LIFECYCLE, RESOURCE_CLAIMS
from batkube.controllers.control_plane import MANAGER, ControlPlane
from batkube.controllers.flags import ALL, Flags
from batkube.controllers.kubelets import Kubelets
from batkube.controllers.resource_claims import ResourceClaimController
from batkube.kube.server import ApiServer

MOST_ONE_BY_ONE = 20
"""The most changes of one date that controllers are told one by one: each of them looks at all pods of an object."""


class Controllers:
    """Plays controllers from ``start`` to ``stop``.

    ``warn`` tells the user something. ``goes_on``: the simulation goes on for others than them. ``kubelets``: what is
    heard of nodes.
    """

    def __init__(
        self,
        server: ApiServer,
        time: SimulatedTime,
        warn: Callable[[str], None],
        which: Which | Flags,
        goes_on: Callable[[], bool],
        kubelets: Kubelets,
    ) -> None:
        flags, claims = (which if isinstance(which, Flags) else Flags()), ResourceClaimController.name
        self._planes = [ControlPlane(server, time, warn, kinds=[RESOURCE_CLAIMS], flags=flags, gives_way_to=claims)]
        self._nodes = None
        kinds = [kind for kind in BUILT_IN if kubelets.grace or kind is not NODE_LIFECYCLE]
        if not kubelets.grace:
            self._nodes = ControlPlane(
                server, time, warn, kinds=[NODE_LIFECYCLE], flags=replace(flags, controllers=(ALL,)), gives_way_to=None,
                kubelets=kubelets,
            )  # fmt: skip
            self._planes.append(self._nodes)
        if which is not Which.NONE:
            gives_way_to = MANAGER if which is Which.AUTO else None
            self._planes.append(
                ControlPlane(
                    server, time, warn, kinds=kinds, flags=flags, gives_way_to=gives_way_to, goes_on=goes_on,
                    kubelets=kubelets,
                )
            )  # fmt: skip
        kubelets.listeners.append(self._need_nodes)

    def _need_nodes(self, node: str) -> None:
        for plane in self._planes:
            plane.need(NODE_LIFECYCLE)

    def sync_nodes(self) -> None:
        """Let it be seen at once that nodes are lost, where there is no grace; nobody else acts."""
        if self._nodes is not None:
            self._nodes.sync()

    def start(self) -> None:
        """Begin to look for what needs them."""
        for plane in self._planes:
            plane.start()

    def stop(self) -> None:
        """Play no more. Stopping twice does nothing."""
        for plane in self._planes:
            plane.stop()

    def sync(self) -> None:
        """Let them act until nothing moves any more."""
        while any(plane.sync() for plane in self._planes):
            pass

    def sync_between(self, changes: int) -> None:
        """Let them act between two of so many changes of one date, which are told one by one to a program as well.

        Of many at once they see what comes out, as a controller does that takes longer than what it is told of.
        """
        if changes <= MOST_ONE_BY_ONE:
            self.sync()

    @property
    def next_date(self) -> float | None:
        """The date at which one of them wants to act by itself. Never the present."""
        return min((date for plane in self._planes if (date := plane.next_date) is not None), default=None)

    @property
    def act_by_themselves(self) -> bool:
        """True if one of them will act by itself, and the simulation goes on for that."""
        return any(plane.awaited_date is not None for plane in self._planes)
