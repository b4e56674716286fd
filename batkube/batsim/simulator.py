"""The interface to a simulator: Batsim behind a socket, or the embedded simulator in process."""

from typing import Protocol

from batkube.batsim.errors import ProtocolError, SimulatorDied, SimulatorError
from batkube.batsim.messages import Message

__all__ = ["ProtocolError", "Simulator", "SimulatorDied", "SimulatorError"]


class Simulator(Protocol):
    """A simulator: one message, then one reply, and so on.

    Simulated time stands still between ``receive`` and ``send``.
    """

    async def receive(self) -> Message:
        """Return the next message. Raises SimulatorError (ProtocolError, SimulatorDied) if none will come."""
        ...

    async def send(self, reply: Message) -> None:
        """Answer the message received last. The answer to SIMULATION_ENDS, the last one, must have no events."""
        ...

    async def close(self) -> None:
        """Close the simulator at any time. It may be called twice."""
        ...
