"""Command lines of programs, as users give them."""

import shlex
import shutil
from pathlib import Path


def words_of(command: str, folder: Path | None) -> list[str]:
    """Return the words of a command, whose program is found from ``folder``. Raises ValueError if there is none."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ValueError(f"{error}: {command}") from None
    if not words:
        raise ValueError("no program named")
    if folder is not None and "/" in words[0]:
        words[0] = str(folder.absolute() / words[0])
    if "{" not in words[0] and shutil.which(words[0]) is None:
        raise ValueError(f"no program {words[0]} on this machine")
    return words
