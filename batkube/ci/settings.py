"""The settings of the files that `batkube init ci` writes."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict

from batkube.option import Option


class Forge(StrEnum):
    """The place where the repository is."""

    GITHUB = "github"
    GITLAB = "gitlab"


class InitCiSettings(BaseModel):
    """``batkube init ci``."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    folder: Annotated[Path, Option("The repository.", metavar="FOLDER", argument=True)] = Path()
    forge: Annotated[Forge, Option("Where it is: github or gitlab.", metavar="WHICH")] = Forge.GITHUB
    command: Annotated[
        str,
        Option("The scheduler, as --scheduler-cmd of `batkube run`.", metavar="COMMAND", name="--scheduler-cmd"),
    ] = "./bin/scheduler --kubeconfig {kubeconfig}"
    build: Annotated[str, Option("The command that builds it.", metavar="COMMAND")] = "make"
    uses: Annotated[str | None, Option("batkube's action: OWNER/REPOSITORY@VERSION (github).", metavar="ACTION")] = None
