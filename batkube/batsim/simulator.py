"""The interface to whatever simulates: Batsim behind a socket, or the embedded simulator in process."""

from typing import Protocol

from batkube.batsim.errors import ProtocolError, SimulatorDied, SimulatorError
from batkube.batsim.messages import Message

__all__ = ["ProtocolError", "Simulator", "SimulatorDied", "SimulatorError"]


class Simulator(Protocol):
    """Strictly one message, one reply, one message ... Simulated time stands still between ``receive`` and ``send``."""

    async def receive(self) -> Message:
        """The next message. Raises SimulatorError (ProtocolError, SimulatorDied) where none will come."""
        ...

    async def send(self, reply: Message) -> None:
        """Answer the message received last. The last, SIMULATION_ENDS, wants an answer without events."""
        ...

    async def close(self) -> None:
        """Let go of the simulator at any time. It may be called twice."""
        ...
