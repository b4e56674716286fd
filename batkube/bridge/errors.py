"""The errors that can end a simulation, each with the text that its user reads."""


class RunFailed(Exception):
    """The run cannot go on (exit code 1). The text says why, in a line or two."""


class InputError(ValueError):
    """An input is wrong (exit code 2). The text names what and where."""


class InvariantBroken(RunFailed):
    """A guarantee of batkube does not hold: a bug of batkube, or of a simulator. The text names the event."""


class Stuck(RunFailed):
    """A run in which nothing can ever happen again, though jobs wait."""
