"""How an embedded simulation ends before its time."""

from batkube.batsim.errors import SimulatorError


class InvalidDecision(SimulatorError):
    """A decision on which Batsim aborts. The text names event and reason."""


class Deadlock(SimulatorError):
    """Nothing can happen any more, but jobs wait. Batsim prints ``Deadlock detected`` and just ends."""
