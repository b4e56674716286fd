"""Settings of the commands: what the command line says, checked once, in one place."""

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from batkube.bridge.decision_time import ZERO, DecisionTime
from batkube.startup.families import Family

FINISHED, FAILED, BAD_INPUT, INTERRUPTED = 0, 1, 2, 130
"""Exit codes of the commands."""

DEFAULT_EPOCH = 1_577_836_800.0
"""Unix seconds at which simulated time 0 lies: 2020-01-01T00:00:00Z, fixed so that two runs agree."""

DEFAULT_BATSIM_ENDPOINT = "tcp://127.0.0.1:28000"
"""Where Batsim looks for its decision process unless told otherwise (Batsim's ``-s``)."""

DEFAULT_QUIET_PERIOD = 0.5
DEFAULT_PATIENCE = 3.0
DEFAULT_PATIENCE_AT_PACE = 30.0
"""Real seconds; see StepSettings. At a pace timers of a scheduler may still come, such as kube-scheduler's back-off."""
DEFAULT_PACE = 1.0
"""Of Clock.PACED."""


DATED_BY_PACE = "--decision-time: at a pace, what a scheduler on the real clock does is dated when it does it"


Epoch = Annotated[float, Field(ge=0, le=9e9)]
"""From 1970 to 2255: a clock of 64-bit nanoseconds ends in 2262."""

DEFAULT_TIMER_WINDOW = 20.0
"""Simulated seconds: twice the longest back-off of kube-scheduler."""


class OnDeadlock(StrEnum):
    """What a run does with jobs that wait when nothing can ever happen again."""

    FAIL = "fail"
    REJECT = "reject"


class Clock(StrEnum):
    """The clock of a scheduler that is started here."""

    AUTO = "auto"
    """Simulated where that can be done, else real."""
    ONCE = "once"
    """Simulated; enough for Go programs."""
    TREE = "tree"
    """Simulated; for all programs, and all that they start."""
    REAL = "real"
    PACED = "paced"
    """Real, at a pace (StepSettings.pace), with nobody observed: decisions are dated when they are made."""


class RestMeans(StrEnum):
    """How it is known that a scheduler on the real clock is at rest."""

    AUTO = "auto"
    """It is observed where it runs on this machine; else METRICS where they are given, else QUIET."""
    METRICS = "metrics"
    """By kube-scheduler's metrics."""
    QUIET = "quiet"
    """When it has sent no request for a while."""


class Timers(StrEnum):
    """Which timers of a scheduler on the simulated clock are stops of the simulation."""

    EVENTS = "events"
    """None as long as events are to come; then as WINDOW."""
    LAZY = "lazy"
    """All while pods wait, none else."""
    WINDOW = "window"
    """Those within some time after the last change while pods wait, and the five-minute flush."""
    ALL = "all"


def read_timers(text: str) -> Timers | float:
    """What ``--timers`` says: a policy, or a number of seconds. Raises ValueError with what is wrong."""
    if text in list(Timers):
        return Timers(text)
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not (seconds > 0 and math.isfinite(seconds)):
        raise ValueError(f"expected {', '.join(Timers)} or a number of seconds, not {text!r}")
    return seconds


class StepSettings(BaseModel):
    """How the step loop waits for a scheduler, in seconds of real time."""

    model_config = ConfigDict(frozen=True)

    on_deadlock: OnDeadlock = OnDeadlock.FAIL
    rest: RestMeans = RestMeans.AUTO
    scheduler_metrics: Annotated[str, Field(pattern="^https?://[^/]")] | None = None
    """Where a kube-scheduler out of sight serves its metrics."""
    scheduler_metrics_token: Path | None = None
    """A file with the bearer token for that."""
    scheduler_metrics_insecure: bool = False
    """Take any certificate there."""
    quiet_period: Annotated[float, Field(gt=0)] = DEFAULT_QUIET_PERIOD
    """A scheduler out of sight is at rest when it has sent no request for so long."""
    patience: Annotated[float, Field(gt=0)] = DEFAULT_PATIENCE
    """How long a scheduler at rest may stay silent, with no event to come, before the run is stuck."""
    rest_timeout: Annotated[float, Field(gt=0)] = 60.0
    """How long a scheduler may stay busy with one event before the run fails."""
    startup_timeout: Annotated[float, Field(gt=0)] = 60.0
    """How long a scheduler may be busy before it asks for pods the first time."""
    timers: Timers | Annotated[float, Field(gt=0, allow_inf_nan=False)] = Timers.WINDOW
    """A number: all while pods wait, but at whole multiples of so many simulated seconds only."""
    timer_window: Annotated[float, Field(gt=0)] = DEFAULT_TIMER_WINDOW
    """Simulated seconds; see Timers.WINDOW."""
    decision_time: Annotated[
        DecisionTime, BeforeValidator(lambda given: DecisionTime.parse(given) if isinstance(given, str) else given)
    ] = ZERO
    """How long the scheduler's reactions last in simulated time."""
    pace: Annotated[float, Field(gt=0, allow_inf_nan=False)] | None = None
    """Simulated seconds a real second; None: as fast as it goes."""
    paused: bool = False
    """Begin paused."""

    @model_validator(mode="after")
    def _metrics_are_somewhere(self) -> Self:
        if self.rest is RestMeans.METRICS and self.scheduler_metrics is None:
            raise ValueError("--rest metrics needs --scheduler-metrics URL")
        return self


class AccessSettings(BaseModel):
    """Who may come in, and how clients learn it; see access.py."""

    model_config = ConfigDict(frozen=True)

    tls: bool = False
    insecure: bool = False
    """Plain HTTP, said aloud."""
    token: str | None = None
    client_certificate: bool = False
    """The kubeconfig has a client certificate instead of the token."""
    in_cluster_dir: Path | None = None
    external_hostname: str | None = None


class ApiSettings(BaseModel):
    """What the API server does and knows from its start."""

    model_config = ConfigDict(frozen=True)

    enable_admission_plugins: tuple[str, ...] = ()
    disable_admission_plugins: tuple[str, ...] = ()
    feature_gates: tuple[str, ...] = ()
    runtime_config: tuple[str, ...] = ()
    definitions: tuple[Path, ...] = ()
    """Files and folders of CustomResourceDefinitions."""
    objects: tuple[Path, ...] = ()
    """Files and folders of objects of any kind."""


class RunSettings(BaseModel):
    """``batkube run``: one simulation from start to end."""

    model_config = ConfigDict(frozen=True)

    platform: Path
    workloads: tuple[Path, ...]
    out: Path
    scheduler: str = "fifo"
    scheduler_command: str | None = None
    scheduler_binary: Path | None = None
    scheduler_config: Path | None = None
    scheduler_name: str = "default-scheduler"
    clock: Clock = Clock.AUTO
    determinism: bool = True
    """Give Go programs an environment in which they do the same each time."""
    simulator: str = "embedded"
    batsim_binary: Path | None = None
    compute_sharing: bool = False
    startup: Path | None = None
    """How long pods take to start and to end; None: no time."""
    access: AccessSettings = AccessSettings()
    api: ApiSettings = ApiSettings()
    seed: int = 0
    epoch: Epoch = DEFAULT_EPOCH
    step: StepSettings = StepSettings()

    @model_validator(mode="after")
    def _paced_has_a_pace(self) -> Self:
        if self.clock is Clock.PACED and self.step.pace is None:
            raise ValueError("--clock paced needs a pace")
        if self.clock in (Clock.PACED, Clock.REAL):
            _check_dating(self.step)
        return self


class ServeSettings(BaseModel):
    """``batkube serve``: the API, and one simulation after another."""

    model_config = ConfigDict(frozen=True)

    host: str = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8001
    batsim: str = DEFAULT_BATSIM_ENDPOINT
    kubeconfig: Path | None = None
    out: Path = Path("out")
    platform: Path | None = None
    scheduler_name: str = "default-scheduler"
    api_only: bool = False
    startup: Path | None = None
    access: AccessSettings = AccessSettings()
    api: ApiSettings = ApiSettings()
    seed: int = 0
    epoch: Epoch = DEFAULT_EPOCH
    step: StepSettings = StepSettings()

    @model_validator(mode="after")
    def _one_dating(self) -> Self:
        _check_dating(self.step)
        return self


class FitSettings(BaseModel):
    """``batkube fit-startup``: a start-up model from recorded pod times."""

    model_config = ConfigDict(frozen=True)

    recorded: tuple[Path, ...]
    out: Path
    test: tuple[Path, ...] = ()
    """Files to compare the model with; without them a part of the rows of ``recorded`` is kept aside."""
    hold_out: Annotated[float, Field(gt=0, lt=1)] = 0.2
    family: Family = Family.QUANTILES
    process_time: Annotated[float, Field(ge=0)] | None = None
    """Seconds that each process ran, where the files do not say when it ended."""
    seed: int = 0


def _check_dating(step: StepSettings) -> None:
    """Raises ValueError where a scheduler on the real clock is given a decision time and a pace."""
    if step.pace is not None and step.decision_time != ZERO:
        raise ValueError(DATED_BY_PACE)
