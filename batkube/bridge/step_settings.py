"""Settings of the step loop: how it waits for a scheduler, and what it does when it waits in vain."""

import math
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from batkube.bridge.decision_time import ZERO, DecisionTime
from batkube.option import CLUSTER, QUIESCENCE, TIME, Option

DEFAULT_PATIENCE, DEFAULT_PATIENCE_AT_PACE = 3.0, 30.0
"""Real seconds; see StepSettings."""


class OnDeadlock(StrEnum):
    """The reaction of a run to jobs that wait when nothing can ever happen again."""

    FAIL = "fail"
    REJECT = "reject"


class OnSchedulerLoss(StrEnum):
    """The reaction of a simulation when the scheduler that placed its pods is gone."""

    WAIT = "wait"
    """Simulated time stands still until a scheduler is back."""
    FAIL = "fail"


class QuiescenceMeans(StrEnum):
    """The means to know that a scheduler on the real clock is at rest."""

    AUTO = "auto"
    """A scheduler on this machine is observed; for others METRICS are used if they are given, else QUIET."""
    METRICS = "metrics"
    """The scheduler's own metrics say so, as those of kube-scheduler can."""
    QUIET = "quiet"
    """The scheduler has sent no request for a while."""


class Timers(StrEnum):
    """The timers of a scheduler on the simulated clock that are stops of the simulation."""

    EVENTS = "events"
    """No timer as long as events are to come; then as WINDOW."""
    LAZY = "lazy"
    """All timers while pods wait, and no others."""
    WINDOW = "window"
    """The timers within some time after the last change while pods wait, and the five-minute flush."""
    ALL = "all"


def read_timers(text: str) -> Timers | float:
    """Read the value of ``--timers``: a policy, or a number of seconds. Raises ValueError with what is wrong."""
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
    """The step loop's settings for waiting for a scheduler. Times are real seconds if nothing else is said."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    on_deadlock: Annotated[
        OnDeadlock,
        Option("When nothing can ever happen again: fail, or reject the waiting jobs.", QUIESCENCE, "fail|reject"),
    ] = OnDeadlock.FAIL
    on_scheduler_loss: Annotated[
        OnSchedulerLoss,
        Option("When a scheduler that was not started here is gone: wait, or fail.", QUIESCENCE, "wait|fail"),
    ] = OnSchedulerLoss.WAIT
    """A scheduler that was started here fails the run when it dies."""
    quiescence: Annotated[
        QuiescenceMeans,
        Option(
            "How quiescence is known on the real clock: auto (the best means there is), metrics, quiet.",
            QUIESCENCE,
            "HOW",
        ),
    ] = QuiescenceMeans.AUTO
    scheduler_metrics: Annotated[
        Annotated[str, Field(pattern="^https?://[^/]")] | None,
        Option("Metrics of a kube-scheduler that cannot be observed (https://HOST:10259).", QUIESCENCE, "URL"),
    ] = None
    scheduler_metrics_token: Annotated[
        Path | None, Option("A file with a bearer token for these metrics.", QUIESCENCE, "FILE")
    ] = None
    scheduler_metrics_insecure: Annotated[
        bool, Option("Take any certificate there (kube-scheduler makes its own).", QUIESCENCE)
    ] = False
    quiet_period: Annotated[
        float,
        Field(gt=0),
        Option(
            "Real seconds without a request after which a scheduler out of sight is at rest.", QUIESCENCE, "SECONDS"
        ),
    ] = 0.5
    patience: Annotated[
        float,
        Field(gt=0),
        Option(
            "Real seconds a scheduler at rest may stay silent, with no event to come, before it is stuck."
            f" [default: {DEFAULT_PATIENCE:g}, at a pace {DEFAULT_PATIENCE_AT_PACE:g}]",
            QUIESCENCE,
            "SECONDS",
            shows_default=False,
        ),
    ] = DEFAULT_PATIENCE
    quiescence_timeout: Annotated[float, Field(gt=0)] = 60.0
    """The seconds of processor time that a scheduler may use for one event, and of real time in which it uses next to
    none and does not rest, before the run fails."""
    startup_timeout: Annotated[float, Field(gt=0)] = 60.0
    """The longest time that a scheduler may be busy before it asks for pods the first time."""
    timers: Annotated[
        Timers | Annotated[float, Field(gt=0, allow_inf_nan=False)],
        Option(
            f"At which of the scheduler's own timers to stop ({', '.join(Timers)}: docs/time.md), or: so many seconds "
            "apart.",
            TIME,
            "WHICH|SECONDS",
            read=read_timers,
        ),
    ] = Timers.WINDOW
    """A number: all timers while pods wait, but only at whole multiples of so many simulated seconds."""
    timer_window: Annotated[
        float,
        Field(gt=0),
        Option("Simulated seconds after the last change for which `--timers window` follows timers.", TIME, "SECONDS"),
    ] = 20.0
    """Twice the longest back-off of kube-scheduler."""
    keep_finished: Annotated[
        Annotated[int, Field(ge=0)] | None,
        Option(
            "Keep so many pods that have ended in the API, and take the oldest out, as pod garbage collection does;"
            " else all.",
            CLUSTER,
            "PODS",
        ),
    ] = None
    decision_time: Annotated[
        DecisionTime,
        BeforeValidator(lambda given: DecisionTime.parse(given) if isinstance(given, str) else given),
        Option(
            "How long each reaction of the scheduler lasts in simulated time: zero, SECONDS, or real[:FACTOR].",
            TIME,
            "HOW-LONG",
            read=str,
        ),
    ] = ZERO
    pace: Annotated[
        Annotated[float, Field(gt=0, allow_inf_nan=False)] | None,
        Option("Simulated seconds a real one (60: a minute a second); else as fast as it goes.", TIME, "FACTOR"),
    ] = None
    paused: Annotated[bool, Option("Begin paused, for `batkube clock step` and `resume`.", TIME)] = False

    @model_validator(mode="before")
    @classmethod
    def _patient_at_a_pace(cls, given: Any) -> Any:
        """Set a longer patience at a pace: timers of a scheduler may still come, such as kube-scheduler's back-off."""
        if isinstance(given, dict) and given.get("pace") is not None and "patience" not in given:
            return {**given, "patience": DEFAULT_PATIENCE_AT_PACE}
        return given

    def at_pace(self, pace: float) -> Self:
        """Return these settings for a simulation at this pace."""
        return type(self)(**{name: getattr(self, name) for name in self.model_fields_set} | {"pace": pace})
