"""The settings of the files that `batkube init scenario` writes."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict

from batkube.option import Option


class InitScenarioSettings(BaseModel):
    """``batkube init scenario``."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    folder: Annotated[Path, Option("Where to; the current folder.", metavar="FOLDER", argument=True)] = Path()
