"""The settings of comparisons and checks."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from batkube.option import Option


class Format(StrEnum):
    """The form in which a comparison is printed."""

    TABLE = "table"
    JSON = "json"
    MD = "md"
    HTML = "html"


class CompareSettings(BaseModel):
    """``batkube compare``."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    folders: Annotated[
        tuple[Path, ...],
        Option("Folders of results, of one run or of several; each is compared with the first.", "", "OUT OUT...",
               argument=True),
    ]  # fmt: skip
    groups: Annotated[
        int,
        Field(ge=0),
        Option("The folders are so many groups of one size, one after another: compare groups.", metavar="NUMBER"),
    ] = 0
    fail_if: Annotated[
        tuple[str, ...],
        Option("Exit with 3 if it is true, else with 0, as in 'mean_wait > +5%'; may be repeated.", "", "CONDITION"),
    ] = ()
    format: Annotated[Format, Option("table, json, md (Markdown) or html.", metavar="FORM")] = Format.TABLE
    pods: Annotated[int, Field(ge=0), Option("How many of the pods that changed most are shown.", metavar="NUMBER")] = (
        10
    )
    out: Annotated[Path | None, Option("Write it to this file, and say nothing.", metavar="FILE", short="-o")] = None

    @model_validator(mode="after")
    def _there_is_something_to_compare(self) -> Self:
        if len(self.folders) < 2:
            raise ValueError("compare needs two folders at least")
        if self.groups == 1 or (self.groups and len(self.folders) % self.groups):
            raise ValueError(f"--groups: {len(self.folders)} folders are not {self.groups} groups of one size")
        return self


class CheckSettings(BaseModel):
    """``batkube check``."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    out: Annotated[
        Path, Option("Folder of results, of one run or of several; or a jobs.csv.", metavar="OUT", argument=True)
    ]
    against: Annotated[Path | None, Option("Results that rules call the baseline.", metavar="BASELINE")] = None
    baseline_optional: Annotated[bool, Option("Where there is no BASELINE (yet), skip the rules that need one.")] = (
        False
    )
    rules: Annotated[Path | None, Option("Rules (YAML, docs/comparing.md).", metavar="FILE")] = None
    shared_hosts: Annotated[
        bool, Option("Of a jobs.csv alone: jobs may share hosts, so that no double booking can be told.")
    ] = False
    junit: Annotated[Path | None, Option("Write the verdicts as JUnit does (XML).", metavar="FILE")] = None
    markdown: Annotated[Path | None, Option("Write them as Markdown, with what changed.", metavar="FILE")] = None
    quiet: Annotated[bool, Option("Say nothing but what is broken.", short="-q")] = False
