"""The start-up model: how long a pod takes from its binding to Running, and from its process's end to its own end.
It is a YAML file with a delay for each stage. A stage that it leaves out takes no time. ::
    pulling: {quantiles: [0.4, 0.5, 2.9]}       # from binding until the image begins to be pulled
    pulled: 0.95                                # ... until it is there
    created: {lognormal: {median: 0.04, sigma: 0.4}}
    started: {exponential: {mean: 0.03, shift: 0.02}}
    ended: {trace: {file: ends.csv, column: seconds}}   # from the end of the process to the end of the pod
    images: {sizes: {app:1: 500Mi}, rate: 50Mi}         # images.py
"""

from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from pydantic import BaseModel, model_validator

from batkube.startup.delays import STRICT, Delay
from batkube.startup.images import Images
from batkube.startup.model_file import read_model

STAGES = ("pulling", "pulled", "created", "started", "ended")
"""The stages in order. All but the last lie before Running."""

MICROSECONDS = 6
"""The decimals of a delay: those of all dates that Batsim tells."""

NO_TIME = Delay(constant=0.0)


@dataclass(frozen=True, slots=True)
class PodDelays:
    """The delays of one pod, in simulated seconds, each since the stage before."""

    pulling: float
    pulled: float
    created: float
    started: float
    ended: float


class StartupModel(BaseModel):
    """The whole file."""

    model_config = STRICT

    pulling: Delay = NO_TIME
    """The delay from the binding until the kubelet pulls the image: its own work, volumes and network of the pod."""
    pulled: Delay = NO_TIME
    created: Delay = NO_TIME
    started: Delay = NO_TIME
    ended: Delay = NO_TIME
    """The delay from the end of the process until the pod is seen to have ended."""
    images: Images | None = None
    """The images, pulled one by one; None if they do not matter."""

    @model_validator(mode="before")
    @classmethod
    def _mapping(cls, value: Any) -> Any:
        if not isinstance(value, dict) or not value:
            raise ValueError(f"expected some of {', '.join(STAGES)}, each with a delay, or images")
        return value

    def delays(self, seed: int, pod: str, job: str) -> PodDelays:
        """Return the delays of the pod with this name: the same for the same seed, whatever other pods there are.

        ``job``: the name of its job, by which a trace may know it. Raises StartupError if a trace does not.
        """
        return PodDelays(*(self._delay(stage, seed, pod, job) for stage in STAGES))

    def _delay(self, stage: str, seed: int, pod: str, job: str) -> float:
        delay: Delay = getattr(self, stage)
        # The seed is a text, and used for one number only: neither the order of stages nor that of pods matters.
        p = Random(f"{seed} {pod} {stage}").random() or 0.5
        return round(delay.of(pod, job, p), MICROSECONDS)


def read_startup(path: Path) -> StartupModel:
    """Read a model. Raises StartupError, which names the file, the line and the field."""
    return read_model(path, StartupModel)
