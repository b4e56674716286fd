"""What can be wrong with a start-up model or with recorded times."""


class StartupError(ValueError):
    """A file cannot be used. The text names the file, and the line and field, or row and column."""
