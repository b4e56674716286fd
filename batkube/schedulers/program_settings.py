"""Programs that a user wants beside the scheduler, as the command line and files name them."""

import re
import shlex
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from batkube.option import SCHEDULER, Option

RESERVED = ("scheduler", "batsim")
"""Names whose logs are others' in the folder of results."""
_NAME = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?")
_FORM = "expected NAME=COMMAND or NAME:RESTART=COMMAND"


class Restart(StrEnum):
    """The cases in which a program is started again that has ended."""

    NEVER = "never"
    ON_FAILURE = "on-failure"
    ALWAYS = "always"


class ProgramSettings(BaseModel):
    """A program beside the scheduler."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: str
    """The name of its log, too."""
    command: str
    """The command line; ``{kubeconfig}``, ``{server}`` and ``{port}`` are filled in."""
    restart: Restart = Restart.NEVER
    start: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """The simulated second at which it is started; None: before the simulation begins, with the scheduler."""
    folder: Path | None = None
    """The folder in which it runs; None: where batkube does."""

    @field_validator("name")
    @classmethod
    def _is_a_name(cls, name: str) -> str:
        if not _NAME.fullmatch(name) or len(name) > 63:
            raise ValueError(f"{name!r}: expected a name of small letters, digits and dashes")
        if name in RESERVED:
            raise ValueError(f"{name!r}: {name}.log is another's")
        return name

    @field_validator("command")
    @classmethod
    def _names_a_program(cls, command: str) -> str:
        try:
            words = shlex.split(command)
        except ValueError as error:
            raise ValueError(f"{command!r}: {error}") from None
        if not words:
            raise ValueError(f"{command!r}: no program named")
        return command


def read_program(given: Any) -> Any:
    """Return the parts of ``NAME=COMMAND`` or ``NAME:RESTART=COMMAND``; what is no text as it is. Raises ValueError."""
    if not isinstance(given, str):
        return given
    head, equals, command = given.partition("=")
    name, colon, restart = head.strip().partition(":")
    if not equals or not _NAME.fullmatch(name):
        raise ValueError(f"{given!r}: {_FORM}")
    if colon and restart not in list(Restart):
        raise ValueError(f"{given!r}: {restart!r} is none of {', '.join(Restart)}")
    try:
        return ProgramSettings(name=name, command=command, restart=Restart(restart or Restart.NEVER))
    except ValidationError as error:
        raise ValueError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def _differ(given: tuple[ProgramSettings, ...]) -> tuple[ProgramSettings, ...]:
    """Raise ValueError where two programs have one name."""
    names = [program.name for program in given]
    if twice := next((name for name in names if names.count(name) > 1), None):
        raise ValueError(f"{twice!r} is the name of two programs")
    return given


GivenPrograms = Annotated[
    tuple[Annotated[ProgramSettings, BeforeValidator(read_program)], ...],
    AfterValidator(_differ),
    Option(
        "A program beside the scheduler, on its clock: NAME=COMMAND, or NAME:on-failure=COMMAND (or always) to have it "
        "started again (docs/programs.md); may be repeated.",
        SCHEDULER,
        "NAME=COMMAND",
        name="--program",
    ),
]
