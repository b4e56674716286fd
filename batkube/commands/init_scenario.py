"""``batkube init scenario``: a scenario to begin with, its jobs, and the schema by which editors check it."""

from importlib.resources import files

from batkube.commands.errors import tell
from batkube.commands.new_files import write_new
from batkube.commands.scenario_keys import Key
from batkube.commands.schema import Schema, text
from batkube.scenarios.settings import InitScenarioSettings
from batkube.settings import BAD_INPUT, FINISHED

SCHEMA = "scenario.schema.json"


def main(settings: InitScenarioSettings, keys: list[Key]) -> int:
    """Write the files; the exit code: 0, or 2 where one of them is there already, and none is written then."""
    contents = {name: files("batkube.scenarios").joinpath(name).read_text("utf-8") for name in _TEMPLATES}
    contents[SCHEMA] = text(Schema.SCENARIO, keys)
    try:
        for path in write_new(settings.folder, contents.items()):
            print(path)
    except OSError as error:
        tell(error)
        return BAD_INPUT
    print(f"batkube run {settings.folder / _TEMPLATES[0]}")
    return FINISHED


_TEMPLATES = ("scenario.yaml", "jobs.csv")
