"""What can end a simulation, each with the text that its user reads."""


class RunFailed(Exception):
    """The run cannot go on (exit code 1). The text says why, in a line or two."""


class InputError(ValueError):
    """An input is wrong (exit code 2). The text names what and where."""


class InvariantBroken(RunFailed):
    """A promise of batkube's does not hold: a bug of batkube's, or of a simulator. The text names the event."""


class Stuck(RunFailed):
    """Nothing can ever happen again, and jobs wait."""
