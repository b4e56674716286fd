"""The actors that wait for a date that the decision process has asked for (Batsim's ``waiter_process``)."""

from functools import partial

from batkube.batsim.topology import Host
from batkube.simulator.controls.control import Control
from batkube.simulator.server.server import Server
from batkube.simulator.time.event_queue import Rank

SHORTEST_WAIT = 1e-5
"""The shortest sleep of Batsim's waiters, in simulated seconds."""


class Waiter:
    """Sends REQUESTED_CALL at the dates that CALL_ME_LATER names."""

    def __init__(self, server: Server, control: Control, master: Host | None) -> None:
        self._server = server
        self._control = control
        self._master = master

    def call_later(self, timestamp: float) -> None:
        """Make the actor that sends REQUESTED_CALL at a date."""
        self._server.waiters += 1
        wait = max(self._control.time(timestamp) - self._control.now(), self._control.time(SHORTEST_WAIT))
        called = partial(self._control.send, self._master, self._server.called)
        self._control.spawn(lambda: self._control.wait(wait, Rank.CALL, called))
