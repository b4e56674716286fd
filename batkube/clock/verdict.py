"""The result of an examination."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """The finding: idle, or the reason why not."""

    idle: bool
    reason: str = ""
    """The reason why not idle, for a person."""
    kind: str = ""
    """The reason's kind, for counting: ``running``, ``woken``, ``in flight``, ``server busy`` ..."""
    gone: bool = False
    """True if a process named to the oracle has ended."""


IDLE = Verdict(True)


def not_idle(kind: str, reason: str) -> Verdict:
    """Return a verdict that something goes on."""
    return Verdict(False, reason, kind)
