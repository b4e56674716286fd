"""The errors that end an embedded simulation before its time."""

from batkube.batsim.errors import SimulatorError


class InvalidDecision(SimulatorError):
    """A decision on which Batsim aborts. The text names event and reason."""


class Deadlock(SimulatorError):
    """A simulation in which nothing can happen any more, though jobs wait.

    Batsim prints ``Deadlock detected`` and ends.
    """


class SimulationAborted(SimulatorError):
    """An event in the simulated world on which Batsim aborts, though no decision is wrong."""
