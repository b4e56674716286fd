"""The options of each command, a line each, and the schema: ``python -m tests.commands.options`` writes them anew."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from batkube.commands.cli import app, run
from batkube.commands.schema import Schema, text
from batkube.commands.settings_options import keys_of

LIST = Path(__file__).parent / "options.txt"
SCHEMA = Path(__file__).parents[2] / "docs" / "scenario.schema.json"


def lines() -> Iterator[str]:
    """Each option of each command: its names, or an argument's, and its default."""
    for name, command in commands():
        for parameter in command.params:
            spelled = ",".join(parameter.opts + parameter.secondary_opts)
            if parameter.param_type_name == "argument":
                spelled = parameter.metavar or parameter.name.upper()
            default = " (required)" if parameter.required else ""
            if parameter.default is not None and parameter.default is not False:
                default = f" = {parameter.default}"
            yield f"{name} {spelled}{default}"


def commands() -> Iterator[tuple[str, Any]]:
    """The program and all its commands, by what is typed."""
    yield from _below("batkube", typer.main.get_command(app))


def _below(name: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield name, command
    for word, one in getattr(command, "commands", {}).items():
        yield from _below(f"{name} {word}", one)


def main() -> None:
    """Write the list, and the schema of scenarios, which is made of the same options."""
    LIST.write_text("".join(f"{line}\n" for line in sorted(lines())))
    SCHEMA.write_text(text(Schema.SCENARIO, keys_of(run)))


if __name__ == "__main__":
    main()
