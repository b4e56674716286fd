"""``batkube schema``: the JSON schemas of files that batkube reads."""

import json
from enum import StrEnum

from batkube.commands.scenario_keys import Key
from batkube.settings import FINISHED


class Schema(StrEnum):
    """The files that have a schema."""

    SCENARIO = "scenario"


def main(which: Schema, keys: list[Key]) -> int:
    """Print the schema; the exit code."""
    print(text(which, keys), end="")
    return FINISHED


def text(which: Schema, keys: list[Key]) -> str:
    """Return the schema as a file has it."""
    from batkube.commands.scenario_schema import scenario_schema  # the command line has no need to load it

    schemas = {Schema.SCENARIO: scenario_schema}
    return json.dumps(schemas[which](keys), indent=1) + "\n"
