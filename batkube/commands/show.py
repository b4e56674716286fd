"""``batkube show``: the summary of a folder of results in the terminal."""

from pathlib import Path

from rich.console import Console

from batkube.commands.results_folder import read_results
from batkube.report.terminal import show
from batkube.settings import BAD_INPUT, FINISHED


def main(folder: Path) -> int:
    """Show it; the exit code."""
    data = read_results(folder)
    if data is None:
        return BAD_INPUT
    show(data, Console(emoji=False, highlight=False))
    return FINISHED
