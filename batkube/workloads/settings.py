"""Settings of the commands that read, convert and make workloads."""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Self, TypeVar

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from batkube.option import INPUTS, Option, checked
from batkube.workloads.packing import PODS, checked_packing
from batkube.workloads.values import quantity, seconds, tidy, whole

Choice = TypeVar("Choice")

HIGHEST_PRIORITY = 1_000_000_000
"""The highest value of a PriorityClass that is not Kubernetes' own."""


class ReadingSettings(BaseModel):
    """Settings of the reading of workloads."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    format: Annotated[
        str | None, Option("The format of workloads, where their content does not tell.", INPUTS, "NAME")
    ] = None
    packing: Annotated[
        str,
        AfterValidator(checked_packing),
        Option(
            "A job of n processors is n pods (pods), or as few as hosts have cores for (cores, cores=N).",
            INPUTS,
            "HOW",
        ),
    ] = PODS


def _seconds(value: object) -> object:
    return seconds(value) if isinstance(value, str) else value


def _weighted(text: str, read: Callable[[str], Choice]) -> tuple[tuple[Choice, float], ...]:
    """Return the choices of ``1=60,4=30,16=10``, or of ``1,4``, with their weights. Raises ValueError."""
    choices = []
    for word in text.split(","):
        choice, equals, weight = word.partition("=")
        choices.append((read(choice), float(whole(weight, least=1)) if equals else 1.0))
    return tuple(choices)


def sizes_of(text: str) -> tuple[tuple[int, float], ...]:
    """Return numbers of pods with their weights. Raises ValueError."""
    return _weighted(text, lambda word: whole(word, least=1))


def cpus_of(text: str) -> tuple[tuple[str, float], ...]:
    """Return what pods ask for, with its weights. Raises ValueError."""
    return _weighted(text, quantity)


def priorities_of(text: str) -> tuple[tuple[int, float], ...]:
    """Return priorities of jobs, with their weights. Raises ValueError."""
    return _weighted(text, lambda word: whole(word, most=HIGHEST_PRIORITY))


Seconds = Annotated[float, BeforeValidator(_seconds), Field(ge=0, le=1e12, allow_inf_nan=False)]
SomeSeconds = Annotated[float, BeforeValidator(_seconds), Field(gt=0, le=1e9, allow_inf_nan=False)]


class WritingSettings(BaseModel):
    """Settings of the writing of a workload."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    out: Annotated[Path, Option("The file to write.", metavar="FILE", short="-o")]
    to: Annotated[
        str | None,
        Option("Its format: batsim, csv or swf; else by the end of its name (.json, .csv, .swf).", metavar="NAME"),
    ] = None


class ImportSettings(WritingSettings):
    """``batkube import``: a workload or a cluster in another form."""

    workload: Annotated[
        Path | None, Option("The workload, in any format that `run` takes.", metavar="FILE", argument=True)
    ] = None
    platform: Annotated[
        tuple[Path, ...],
        Option(
            "Convert a cluster to a platform of SimGrid's: kubectl's nodes, '16 x 32cpu,128Gi' ...; may be repeated.",
            metavar="FILE|TEXT",
            short="-p",
        ),
    ] = ()
    add_nodes: Annotated[tuple[str, ...], Option("Further nodes: '20 like n1'.", metavar="TEXT")] = ()
    begin: Annotated[
        Seconds,
        Option("Leave out what is submitted before (30d, 12h), and count from then.", name="--from", metavar="TIME"),
    ] = 0.0
    until: Annotated[Seconds | None, Option("Leave out what is submitted from then on.", metavar="TIME")] = None
    reading: ReadingSettings = ReadingSettings()

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if (self.workload is None) == (not self.platform):
            raise ValueError("expected a workload, or a cluster (-p)")
        if self.add_nodes and not self.platform:
            raise ValueError("--add-nodes needs --platform")
        if self.platform and (
            self.to is not None or self.begin or self.until is not None or self.reading != ReadingSettings()
        ):
            raise ValueError("--to, --from, --until, --format and --packing are for workloads, not for --platform")
        if self.until is not None and self.until <= self.begin:
            raise ValueError(f"--until: expected a time after --from, not {tidy(self.until)}")
        return self


class GenerateSettings(WritingSettings):
    """``batkube generate``: a workload that is drawn."""

    jobs: Annotated[int, Field(ge=1, le=10_000_000), Option("How many.", metavar="NUMBER")] = 1000
    seed: Annotated[int, Option("The same seed gives the same workload.", metavar="NUMBER")] = 0
    like: Annotated[
        Path | None,
        Option(
            "Draw jobs, and the times between them, from this workload, in any format that `run` takes.", metavar="FILE"
        ),
    ] = None
    format: Annotated[
        str | None, Option("The format of that workload, where its content does not tell.", metavar="NAME")
    ] = None
    every: Annotated[
        SomeSeconds | None,
        Option(
            "Mean time between submissions, which come at random [default: 30s, or that of --like].", metavar="TIME"
        ),
    ] = None
    duration: Annotated[
        SomeSeconds, Option("Median of durations, which are lognormal.", metavar="TIME", shows_default=False)
    ] = 600.0
    spread: Annotated[
        float,
        Field(ge=0, le=10, allow_inf_nan=False),
        Option("Standard deviation of their logarithm.", metavar="NUMBER"),
    ] = 1.0
    sizes: Annotated[
        str,
        AfterValidator(checked(sizes_of)),
        Option("Pods of a job, with weights: 1=60,4=30,16=10.", metavar="N=WEIGHT,..."),
    ] = "1"
    cpu: Annotated[
        str,
        AfterValidator(checked(cpus_of)),
        Option("What a pod asks for, likewise: 500m=1,4=1.", metavar="CPU=WEIGHT,..."),
    ] = "1"
    users: Annotated[
        int, Field(ge=1, le=100_000), Option("The n-th has 1/n of the first one's jobs.", metavar="NUMBER")
    ] = 10
    priorities: Annotated[
        Annotated[str, AfterValidator(checked(priorities_of))] | None,
        Option("Priorities of jobs, with weights: 0=80,10=15,100=5; else they have none.", metavar="N=WEIGHT,..."),
    ] = None

    @model_validator(mode="after")
    def _options_go_together(self) -> Self:
        shaping = {"duration", "spread", "sizes", "cpu", "users", "priorities"} & self.model_fields_set
        if self.like is not None and shaping:
            raise ValueError(f"--{min(shaping)} and --like exclude each other: the trace says it")
        if self.format is not None and self.like is None:
            raise ValueError("--format needs --like")
        return self
