"""Everything that simulator and bridge said to each other, and where two such dialogues part."""

import json
from dataclasses import dataclass, field
from typing import Any

from batkube.batsim.codec import encode, encode_as_batsim
from batkube.batsim.messages import Message, SimulationBegins
from batkube.batsim.simulator import Simulator

DATE = 1.5e-6
"""Seconds that two dates may be apart."""
SHOWN = 3
"""Messages before the first that differs."""


@dataclass
class Listening:
    """A Simulator that keeps what it says, and what it is answered."""

    inner: Simulator
    said: list[str] = field(default_factory=list)
    """Texts, what the simulator says with ``<`` before it, answers with ``>``."""

    async def receive(self) -> Message:
        message = await self.inner.receive()
        if not isinstance(next(iter(message.events), None), SimulationBegins):
            self.said.append(f"< {encode_as_batsim(message).decode()}")
        return message

    async def send(self, reply: Message) -> None:
        self.said.append(f"> {encode(reply).decode()}")
        await self.inner.send(reply)

    async def close(self) -> None:
        await self.inner.close()


def parting(one: list[str], other: list[str]) -> list[str]:
    """The first message that differs, and some before it; nothing where all are the same."""
    for index, (this, that) in enumerate(zip(one, other, strict=False)):
        if this[0] != that[0] or not same(json.loads(this[2:]), json.loads(that[2:])):
            before = [f"both    {text}" for text in one[max(0, index - SHOWN) : index]]
            return [*before, f"batsim  {this}", f"ours    {that}"]
    return [] if len(one) == len(other) else [f"one says {len(one)} messages, the other {len(other)}"]


def same(this: Any, that: Any) -> bool:
    """Tell whether two values of JSON are the same, but for the last decimals of numbers."""
    if isinstance(this, float | int) and isinstance(that, float | int):
        return abs(this - that) <= DATE
    if isinstance(this, dict) and isinstance(that, dict):
        return this.keys() == that.keys() and all(same(this[key], that[key]) for key in this)
    if isinstance(this, list) and isinstance(that, list):
        return len(this) == len(that) and all(map(same, this, that))
    return bool(this == that)
