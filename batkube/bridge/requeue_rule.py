"""The rule for jobs that the cluster disrupts: the value of ``--requeue``."""

import math
from dataclasses import dataclass

from batkube.startup.lengths import read_length

NEVER, RESTART, CHECKPOINT = "never", "restart", "checkpoint"
SHORTEST = 1e-6
"""The least length of work in seconds: a profile must take some time."""
_DIGITS = 6


@dataclass(frozen=True)
class RequeueRule:
    """The rule for a job that is disrupted."""

    text: str
    checkpoint: float | None
    """Seconds of work between two checkpoints; None for a job that begins anew."""

    def saved(self, ran: float) -> float:
        """Return the seconds of work that a job which ran for so long need not do again."""
        if self.checkpoint is None:
            return 0.0
        # A checkpoint that is due at the very end counts, whatever the last bit of a difference of dates.
        return round(min(math.floor(ran / self.checkpoint + 1e-9) * self.checkpoint, ran), _DIGITS)


def read_requeue(text: str) -> RequeueRule | None:
    """Read the value of ``--requeue``; None for ``never``. Raises ValueError."""
    kind, colon, length = text.partition(":")
    if text == NEVER:
        return None
    if text == RESTART:
        return RequeueRule(text, None)
    if kind == CHECKPOINT and colon:
        seconds = read_length(length)
        if seconds < SHORTEST:
            raise ValueError(f"expected a length above 0 after {CHECKPOINT}:, not {length!r}")
        return RequeueRule(text, seconds)
    raise ValueError(f"expected {NEVER}, {RESTART} or {CHECKPOINT}:SECONDS, not {text!r}")
