"""``batkube init ci``: a workload, a platform, rules and a workflow for the repository of a scheduler."""

import json
from importlib.resources import files
from pathlib import Path
from random import Random

from batkube import __version__
from batkube.ci.settings import Forge, InitCiSettings
from batkube.commands.errors import tell
from batkube.commands.new_files import write_new
from batkube.settings import BAD_INPUT, FINISHED

FOLDER = Path(".batkube")
USES = f"OWNER/batkube@v{__version__}"
"""Stands in the workflow until somebody says where the repository of batkube is."""
JOBS = 120


def main(settings: InitCiSettings) -> int:
    """Write the files; the exit code: 0, or 2 where one of them is there already, and none is written then."""
    try:
        for path in write_new(settings.folder, contents(settings).items()):
            print(path)
    except OSError as error:
        tell(error)
        return BAD_INPUT
    if settings.forge is Forge.GITHUB and settings.uses is None:
        print(f"In the workflow stands `uses: {USES}`: put the repository of batkube there (--uses).")
    if settings.forge is Forge.GITLAB:
        print(f"In .gitlab-ci.yml: include: {FOLDER / 'gitlab.yml'}")
    return FINISHED


def contents(settings: InitCiSettings) -> dict[Path, str]:
    """Return the files by their paths below the folder."""
    words = {"@USES@": settings.uses or USES, "@BUILD@": _yaml(settings.build), "@COMMAND@": _yaml(settings.command)}
    workflow = _template(f"{settings.forge}.yml")
    for mark, word in words.items():
        workflow = workflow.replace(mark, word)
    place = Path(".github/workflows/batkube.yml") if settings.forge is Forge.GITHUB else FOLDER / "gitlab.yml"
    return {
        place: workflow,
        FOLDER / "rules.yaml": _template("rules.yaml"),
        FOLDER / "platform.xml": _template("platform.xml"),
        FOLDER / "workload.json": json.dumps(workload(), indent=1) + "\n",
    }


def workload() -> dict[str, object]:
    """Return jobs that keep eight nodes about busy: of three lengths and three users."""
    draw = Random(0)
    delays = {"short": 60, "middle": 300, "long": 1200}
    jobs, date = [], 0
    for number in range(JOBS):
        date += 0 if number % 10 < 4 else round(draw.random() * 100)
        length = "short" if draw.random() < 0.6 else "middle" if draw.random() < 0.8 else "long"
        asked = {"user": ("ann", "bob", "cyd")[int(draw.random() * 3)]}
        walltime = 2 * delays[length]
        jobs.append(
            {
                "id": f"job-{number}",
                "subtime": date,
                "res": 1,
                "walltime": walltime,
                "profile": length,
                "batkube": asked,
            }
        )
    profiles = {name: {"type": "delay", "delay": seconds} for name, seconds in delays.items()}
    return {"nb_res": 8, "jobs": jobs, "profiles": profiles}


def _template(name: str) -> str:
    return files("batkube.ci").joinpath(name).read_text(encoding="utf-8")


def _yaml(text: str) -> str:
    """Return a text as a value of YAML in one line: JSON is YAML, too."""
    return json.dumps(text, ensure_ascii=False)
