"""A file of results that is written while the run goes on."""

from pathlib import Path


class ResultStream:
    """A text file, in UTF-8, whose errors name it: a full disk shows when buffers are written, long after the opening.

    All methods raise OSError with the file's name.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._file = path.open("w", encoding="utf-8", newline="")

    def write(self, text: str) -> int:
        """Add a text."""
        try:
            return self._file.write(text)
        except OSError as error:
            error.filename = str(self.path)
            raise

    def close(self) -> None:
        """Write out what is buffered. Closing twice does nothing."""
        try:
            self._file.close()
        except OSError as error:
            error.filename = str(self.path)
            raise
