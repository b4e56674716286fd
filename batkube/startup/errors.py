"""The errors of a start-up model or of recorded times."""


class StartupError(ValueError):
    """A file that cannot be used. The text names the file, and the line and field, or row and column."""
