"""Reading a folder of results for commands that show it."""

import sys
from pathlib import Path

from batkube.report.run_data import RunData
from batkube.results.csv_rows import ResultsError
from batkube.results.result import load
from batkube.settings import BAD_INPUT


def read_results(folder: Path) -> RunData | None:
    """Return the results; None where they cannot be used, which was said."""
    try:
        return RunData(load(folder))
    except ResultsError as error:
        complain(str(error))
        return None


def complain(text: str) -> int:
    """Say what is wrong; the exit code of bad input."""
    print(f"batkube: {text}", file=sys.stderr)
    return BAD_INPUT
