"""The controllers of a simulation: those that are built in, and the part of one that no scheduler can do without."""

from collections.abc import Callable

from batkube.bridge.controller_settings import Which
from batkube.bridge.device_claims import DeviceClaims
from batkube.bridge.time import SimulatedTime
from batkube.controllers.control_plane import ControlPlane
from batkube.kube.server import ApiServer


class Controllers:
    """Plays controllers from ``start`` to ``stop``.

    ``warn`` tells the user something. ``goes_on``: the simulation goes on for others than them.
    """

    def __init__(
        self,
        server: ApiServer,
        time: SimulatedTime,
        warn: Callable[[str], None],
        which: Which,
        goes_on: Callable[[], bool],
    ) -> None:
        self._claims = DeviceClaims(server, warn)
        self._plane = None
        if which is not Which.NONE:
            self._plane = ControlPlane(server, time, warn, gives_way=which is Which.AUTO, goes_on=goes_on)

    def start(self) -> None:
        """Begin to look for what needs them."""
        self._claims.start()
        if self._plane is not None:
            self._plane.start()

    def stop(self) -> None:
        """Play no more. Stopping twice does nothing."""
        self._claims.stop()
        if self._plane is not None:
            self._plane.stop()

    def sync(self) -> None:
        """Let them act until nothing moves any more."""
        self._claims.sync()
        if self._plane is not None and self._plane.sync():
            self._claims.sync()

    @property
    def next_date(self) -> float | None:
        """The date at which one of them wants to act by itself. Never the present."""
        return self._plane.next_date if self._plane is not None else None

    @property
    def act_by_themselves(self) -> bool:
        """True if one of them will act by itself, and the simulation goes on for that."""
        return self._plane is not None and self._plane.awaited_date is not None
