"""Faults of batkube's own: told in a line, the traceback in a file."""

import sys
import tempfile
import traceback
from collections.abc import Callable

from batkube.commands import garbage


def exit_with(work: Callable[[], int | None]) -> None:
    """End the process with what ``work`` returns, or where it raises, with 1 and a line that names the details."""
    try:
        sys.exit(work())
    except Exception as error:
        with tempfile.NamedTemporaryFile("w", prefix="batkube-", suffix=".txt", delete=False) as file:
            traceback.print_exc(file=file)
        print(f"batkube: a fault of batkube's: {error!r}; {file.name} has the details", file=sys.stderr)
        sys.exit(1)
    finally:
        garbage.keep()
