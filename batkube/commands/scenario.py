"""A scenario: a file of YAML with what else is typed behind `batkube run`, each option under its name.

Paths in it are relative to the file. What the command line has as well wins over the file.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from shutil import which
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from batkube.commands.scenario_keys import Key, is_choice, names_files
from batkube.kube.codec.go_yaml import MAPPING, Node, decoded, nodes
from batkube.kube.codec.yaml_scalars import YamlError
from batkube.named_file import read_named
from batkube.platforms.short_form import is_short_form
from batkube.schedulers.program_settings import ProgramSettings, read_program
from batkube.startup.lengths import read_length

Settings = TypeVar("Settings", bound=BaseModel)

STANDARD_INPUT = "-"
_IGNORED = ("$schema",)
_NAMED_IN_ERRORS = re.compile(r"(?<![\w-])(?:--[a-z][-a-z0-9]*|-[A-Za-z](?![\w-]))")


class ScenarioError(ValueError):
    """A scenario cannot be used. The text names the file, the line and the key."""


@dataclass
class Scenario:
    """A scenario that was read."""

    path: Path
    values: dict[str, Any] = field(default_factory=dict)
    """The values given, by parameter, as the command line would give them."""
    _lines: dict[str, int] = field(default_factory=dict)
    """The line of each option, by all its names."""

    def located(self, error: ValueError, taken: Iterable[str], keys: Iterable[Key]) -> str:
        """Return an error of settings with the line of the option that it names, if that is ``taken`` from here."""
        text = str(error)
        here = {name for key in keys if key.parameter in set(taken) for name in key.names}
        found = next((name for name in _NAMED_IN_ERRORS.findall(text) if name in here), None)
        return text if found is None else f"{self.path}, line {self._lines[found]}: {text}"

    def placed(self, settings: Settings, taken: Iterable[str]) -> Settings:
        """Return settings that say where the scheduler runs: beside the file that names it."""
        if "scheduler_folder" in type(settings).model_fields and {"scheduler_command", "scheduler"} & set(taken):
            return settings.model_copy(update={"scheduler_folder": self.path.parent})
        return settings


def read_scenario(path: Path, keys: Iterable[Key]) -> Scenario:
    """Read a scenario. Raises ScenarioError."""
    known = {spelling: key for key in keys for spelling in key.spellings}
    scenario = Scenario(path)
    for name, line, node in _members(path):
        where = f"{path}, line {line}"
        if name in _IGNORED:
            continue
        if (key := known.get(name)) is None:
            raise ScenarioError(f"{where}: {name!r} is no option of `batkube run`{_meant(name, known)}")
        if key.parameter in scenario.values:
            raise ScenarioError(f"{where}: {name}: is given twice")
        try:
            value = decoded(node)
            scenario.values[key.parameter] = _value(key, value, path.parent)
        except (YamlError, ValueError) as error:
            raise ScenarioError(f"{where}: {name}: {getattr(error, 'why', error)}") from None
        scenario._lines.update(dict.fromkeys(key.names, line))
    return scenario


def _members(path: Path) -> list[tuple[str, int, Node]]:
    """Return the keys of the file, each with its line and its value. Raises ScenarioError."""
    try:
        root = next(nodes(read_named(path)), None)
        if root is None or root.kind != MAPPING:
            raise ScenarioError(f"{path}: expected options of `batkube run`, such as `platform: cluster.xml`")
        return [(str(decoded(name)), name.line, value) for name, value in root.pairs()]
    except YamlError as error:
        raise ScenarioError(f"{path}, line {error.line}: no YAML: {error.why}") from None
    except OSError as error:
        raise ScenarioError(f"{path}: {error.strerror}") from None


def _meant(name: str, known: Mapping[str, Key]) -> str:
    near = get_close_matches(name.lstrip("-").replace("_", "-"), known, n=2)
    return f": did you mean {' or '.join(near)}?" if near else " (`batkube run --help` has them)"


def _value(key: Key, value: Any, folder: Path) -> Any:
    """Return a value as the command line would give it. Raises ValueError."""
    if value is None:
        raise ValueError("expected a value")
    if key.annotation is bool:
        if not isinstance(value, bool):
            raise ValueError(f"expected true or false, not {value!r}")
        return value
    if key.option is None:
        if not isinstance(value, int) or isinstance(value, bool) or value < 1:
            raise ValueError(f"expected a whole number above 0, not {value!r}")
        return value
    if not key.several:
        return _word(key, value, folder)
    if key.option.commas and isinstance(value, dict):
        return [f"{name}={str(one).lower() if isinstance(one, bool) else one}" for name, one in value.items()]
    read = _program if key.parameter == "programs" else partial(_word, key)
    return [read(one, folder) for one in (value if isinstance(value, list) else [value])]


def _word(key: Key, value: Any, folder: Path) -> str:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise ValueError(f"expected a text or a number, not {value!r}")
    return _beside(key, str(value), folder)


def _beside(key: Key, word: str, folder: Path) -> str:
    """Return a word that names a file with its path from here."""
    names = names_files(key.annotation) or key.parameter == "workflow_starts"
    if not names or word in ("", STANDARD_INPUT) or Path(word).is_absolute() or is_choice(key.annotation, word):
        return word
    if key.parameter == "platform" and is_short_form(word):
        return word
    if key.parameter.endswith("_binary") and "/" not in word and not (folder / word).exists() and which(word):
        return word
    return str(folder / word)


def _program(value: Any, folder: Path) -> ProgramSettings:
    """Return a program: a text as on the command line, or an object. Raises ValueError."""
    if isinstance(value, str):
        program: ProgramSettings = read_program(value)
        return program.model_copy(update={"folder": folder})
    allowed = [name for name in ProgramSettings.model_fields if name != "folder"]
    if not isinstance(value, dict):
        raise ValueError(f"expected an object with {', '.join(allowed)}, not {value!r}")
    if unknown := next((name for name in value if name not in allowed), None):
        raise ValueError(f"{unknown!r} is none of {', '.join(allowed)}")
    start = value.get("start")
    try:
        read = {"start": read_length(start)} if isinstance(start, str) else {}
        return ProgramSettings.model_validate({**value, **read, "folder": folder})
    except ValidationError as error:
        first = error.errors()[0]
        what = first["msg"].removeprefix("Value error, ")
        raise ValueError(f"{first['loc'][0]}: {what[:1].lower()}{what[1:]}") from None
