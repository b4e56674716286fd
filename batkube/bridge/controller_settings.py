"""The choice of the controllers that are played here."""

from enum import StrEnum
from pathlib import Path

from batkube.bridge.errors import InputError
from batkube.controllers.flags import Flags
from batkube.startup.errors import StartupError


class Which(StrEnum):
    """The controllers of a simulated cluster."""

    AUTO = "auto"
    """The built-in ones, until a kube-controller-manager calls."""
    BUILTIN = "builtin"
    """The same, whoever calls."""
    NONE = "none"


def controller_file(chosen: Which | Path) -> Path | None:
    """Return the file with flags, where that is the choice."""
    return None if isinstance(chosen, Which) else chosen


def read_controllers(chosen: Which | Path) -> Which | Flags:
    """Return what is chosen; of a file its flags. Raises InputError, which names the file, the line and the field."""
    if isinstance(chosen, Which):
        return chosen
    from batkube.controllers.flag_file import read_flags  # most have no need to load it

    if not chosen.exists():
        raise InputError(f"--controllers: {chosen} is none of {', '.join(Which)}, and no file")
    try:
        return read_flags(chosen)
    except StartupError as error:
        raise InputError(str(error)) from None
