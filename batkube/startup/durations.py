"""The file of ``--durations``: the run times of pods that clients of the API make.

It is a YAML file with rules. The first whose conditions all hold gives the run time of a pod. ::

    rules:
      - selector: app=web                   # as kubectl -l has it
        namespace: default
        owner: Job                          # the kind of the pod's controller
        duration: 1h30m                     # seconds, a length, forever, or a distribution as in --startup
        fail: 5%                            # of the runs, drawn by --seed
        exitCode: 3                         # of those that fail; of all, without fail
        usage: cpu=50%; 10m cpu=80%         # what it really uses (usage.py)
      - container: migrate                  # of the container of this name alone
        duration: 20
      - duration: {exponential: {mean: 600}}
"""

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from batkube.startup.delays import STRICT, Delay
from batkube.startup.lengths import read_length
from batkube.startup.model_file import read_model
from batkube.startup.pod_condition import PodCondition, PodFacts
from batkube.startup.shares import share_if_percent
from batkube.startup.usage import parse_usage

FOREVER = "forever"
MICROSECONDS = 6
"""The decimals of a run time: those of all dates that Batsim tells."""


@dataclass(frozen=True, slots=True)
class RunTime:
    """The run of a pod's process."""

    seconds: float | None
    """Simulated seconds; None for a process that never ends by itself."""
    exit_code: int = 0
    by_chance: bool = False
    """True if the next run of the pod may end otherwise."""


class Rule(PodCondition):
    """One rule of the file."""

    container: str | None = None
    """The container, or init container, that it is about; None for a pod as a whole."""
    duration: Delay | None = None
    """A distribution of seconds; None for ever, or if the rule says nothing of it."""
    usage: str | None = None
    """The real use of the pod over time; None if the rule says nothing of it."""
    fail: Annotated[Annotated[float, Field(ge=0, le=1)], BeforeValidator(share_if_percent)] = 0.0
    exit_code: Annotated[Annotated[int, Field(ge=1, le=255)] | None, Field(alias="exitCode")] = None

    @model_validator(mode="before")
    @classmethod
    def _named(cls, value: Any) -> Any:
        if not isinstance(value, dict) or not value.keys() & {"duration", "usage"}:
            raise ValueError("expected a rule with a duration, or a usage")
        if "duration" not in value:
            return value
        match value["duration"]:
            case None:
                raise ValueError(f"duration: expected seconds, a length such as 1h30m, a distribution, or {FOREVER}")
            case "forever":
                return {**value, "duration": None}
            case str(text):
                return {**value, "duration": read_length(text)}
        return value

    @model_validator(mode="after")
    def _goes_together(self) -> "Rule":
        if self.usage is not None:
            if self.container is not None:
                raise ValueError("usage is about a pod as a whole, and not about a container")
            try:
                parse_usage(self.usage)
            except ValueError as error:
                raise ValueError(f"usage: {error}") from None
        if not self.times and (self.fail or self.exit_code is not None):
            raise ValueError("fail and exitCode need a duration")
        return self

    @property
    def times(self) -> bool:
        """True if the rule says how long pods run."""
        return "duration" in self.model_fields_set

    def run_time(self, draws: str, pod: str, job: str) -> RunTime:
        """Return the run time of a pod's process. ``draws``: the text from which its chance follows.

        Raises StartupError if a trace does not know the pod.
        """
        chance = Random(draws)
        place, luck = chance.random() or 0.5, chance.random()
        fails = luck < self.fail if self.fail else self.exit_code is not None
        code = (self.exit_code or 1) if fails else 0
        by_chance = 0 < self.fail < 1
        if self.duration is None:
            return RunTime(None, code, by_chance)
        return RunTime(round(self.duration.of(pod, job, place), MICROSECONDS), code, by_chance)


class Durations(BaseModel):
    """The whole file."""

    model_config = STRICT

    rules: Annotated[list[Rule], Field(min_length=1)]

    def rule_for(self, pod: PodFacts, container: str | None = None) -> Rule | None:
        """Return the first rule on how long such a pod as a whole runs, or its container of this name."""
        concerned = (rule for rule in self.rules if rule.times and rule.container == container)
        return next((rule for rule in concerned if rule.matches(pod)), None)

    @property
    def say_usage(self) -> bool:
        """True if some rule says what pods use."""
        return any(rule.usage is not None for rule in self.rules)

    def usage_of(self, pod: PodFacts) -> str | None:
        """Return what such a pod uses, by the first rule that says so; None if none does."""
        said = (rule.usage for rule in self.rules if rule.usage and rule.matches(pod))
        return next(said, None)


def read_durations(path: Path) -> Durations:
    """Read the file. Raises StartupError, which names the file, the line and the field."""
    return read_model(path, Durations)
