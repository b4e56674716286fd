"""The command line carried out; what is wrong with its words is told in two lines, as all bad input is."""

import re
import sys

import typer

from batkube.commands.errors import tell
from batkube.settings import INTERRUPTED

_INVALID = re.compile(r"Invalid value(?: for \'?(?P<name>[^\':]*)\'?(?: / \'[^\']*\')*)?: (?P<why>.*)", re.DOTALL)


def carry_out(app: typer.Typer) -> int | None:
    """Do what the words of the command line say; the exit code."""
    try:
        done = app(standalone_mode=False)
        return done if isinstance(done, int) else None
    except typer.Abort:
        return INTERRUPTED
    except Exception as error:
        # Which module has Typer's own errors depends on its version.
        formatted, context = getattr(error, "format_message", None), getattr(error, "ctx", None)
        if formatted is None:
            raise
        if type(error).__name__ != "NoArgsIsHelpError":  # the help is there already
            tell(in_a_line(formatted()))
            if context is not None:
                print(f"Try '{_typed(context.command_path)} -h' for help.", file=sys.stderr)
        return int(getattr(error, "exit_code", 2))


def whole_number(text: str) -> int:
    """Read a number of times. Raises BadParameter."""
    try:
        number = int(text)
    except ValueError:
        number = 0
    if number < 1:
        raise typer.BadParameter(f"expected a whole number above 0, not {text!r}")
    return number


def in_a_line(message: str) -> str:
    """Return Typer's words in the form of ours."""
    if found := _INVALID.fullmatch(message):
        why = found["why"].removeprefix("Value error, ")
        message = f"{found['name']}: {why}" if found["name"] else why
    else:
        message = message[:1].lower() + message[1:]
    return message.removesuffix(".")


def _typed(path: str) -> str:
    """Return how a command is called, however this process was started."""
    return path.replace("python -m batkube", "batkube")
