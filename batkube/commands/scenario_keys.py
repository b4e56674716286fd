"""The keys of a scenario: the options of `batkube run`, each under its name."""

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, get_args, get_origin

from batkube.option import Option

SETTING = "scenario"
"""The setting that names the file."""


@dataclass(frozen=True)
class Key:
    """A key of a scenario: an option of the command."""

    parameter: str
    """The name of the setting, or of the parameter of the command."""
    names: tuple[str, ...]
    """The names of the option, the long one first."""
    annotation: Any
    help: str
    option: Option | None = None
    """The option; None for a parameter of the command that is no setting."""

    @property
    def several(self) -> bool:
        """True if it may be repeated: then it may be a list here."""
        return get_origin(self.annotation) is tuple

    @property
    def spellings(self) -> tuple[str, ...]:
        """The keys that it goes by; what may be repeated has a plural, too."""
        long = [name.removeprefix("--") for name in self.names if name.startswith("--")]
        return (*long, *(f"{name}s" for name in long[:1] if self.several and not name.endswith("s")))


def names_files(annotation: Any) -> bool:
    """Tell whether a setting names files."""
    return annotation is Path or any(names_files(part) for part in get_args(annotation))


def is_choice(annotation: Any, word: str) -> bool:
    """Tell whether a word is one of those that a setting has beside files."""
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return word in [choice.value for choice in annotation]
    return any(is_choice(part, word) for part in get_args(annotation))
