"""The option of a setting on the command line, declared beside the setting itself and nowhere else."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

INPUTS, SIMULATOR, SCHEDULER, QUIESCENCE = "Inputs", "Simulator", "Scheduler", "Scheduler: at rest, stuck, gone"
TIME, CLUSTER, API = "Time and repeatability", "Nodes, pods and controllers", "API"
ACCESS, RESULTS = "Access", "Results"
API_ONLY = "Without a simulator"
PANELS = (INPUTS, SIMULATOR, API_ONLY, SCHEDULER, QUIESCENCE, TIME, CLUSTER, API, ACCESS, RESULTS)
"""Headings of the help, in their order."""


@dataclass(frozen=True)
class Option:
    """Stands beside the type of a setting: ``Annotated[Path, Option("Folder for the results.", RESULTS, "DIR")]``."""

    help: str
    panel: str = ""
    """The heading of the help under which it stands."""
    metavar: str = ""
    """The name of its value; empty for a switch. Short: options share a line of 80 columns with their help."""
    short: str = ""
    name: str = ""
    """The long name, where it is not the setting's with dashes."""
    names: tuple[str, ...] = ()
    """All names, where there are more than these two."""
    argument: bool = False
    """True for an argument, which is given without a name."""
    envvar: str | None = None
    shows_default: bool = True
    """False: the help has another text for it, and who does not give it leaves it to the settings."""
    commas: bool = False
    """Several values may be given in one word, with commas between."""
    read: Callable[[str], Any] | None = None
    """The value that a text stands for; raises ValueError with what is wrong."""

    def names_of(self, setting: str) -> tuple[str, ...]:
        """Return the names of the option for a setting, the long one first."""
        if self.names:
            return self.names
        long = self.name or "--" + setting.replace("_", "-")
        return (long, self.short) if self.short else (long,)


@dataclass(frozen=True)
class Only:
    """Beside a setting that is a group of settings: these of the group alone can be given on the command line."""

    settings: tuple[str, ...]


@dataclass(frozen=True)
class Without:
    """The same: all of the group but these."""

    settings: tuple[str, ...]


def checked(read: Callable[[str], object]) -> Callable[[str], str]:
    """Return a validator for texts that ``read`` understands, and that stay as they are; it raises ValueError."""

    def check(text: str) -> str:
        read(text)
        return text

    return check
