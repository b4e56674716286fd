"""What an examination finds."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verdict:
    """Idle, or why not."""

    idle: bool
    reason: str = ""
    """Why not idle, for a person."""
    kind: str = ""
    """The reason's kind, for counting: ``running``, ``woken``, ``in flight``, ``server busy`` ..."""
    gone: bool = False
    """A process named to the oracle has ended."""


IDLE = Verdict(True)


def not_idle(kind: str, reason: str) -> Verdict:
    """Something goes on."""
    return Verdict(False, reason, kind)
