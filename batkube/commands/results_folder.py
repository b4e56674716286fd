"""Reading a folder of results for commands that show it."""

from pathlib import Path

from batkube.commands.errors import tell
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
    tell(text)
    return BAD_INPUT
