"""Options of the commands, most of them of both `run` and `serve`: their names, what they say of themselves, and how
settings are made of them.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer
from pydantic import BaseModel, ValidationError

from batkube.kube.gates import GATES
from batkube.settings import (
    DEFAULT_PATIENCE,
    DEFAULT_PATIENCE_AT_PACE,
    ApiSettings,
    Clock,
    OnDeadlock,
    RestMeans,
    Timers,
    read_timers,
)

Settings = TypeVar("Settings", bound=BaseModel)

WorkloadOption = Annotated[
    list[Path], typer.Option("--workload", "-w", help="Batsim workload (JSON); repeat for several.")
]
SchedulerName = Annotated[
    str,
    typer.Option("--scheduler-name", help="The name the scheduler under test goes by, in a pod's schedulerName."),
]
DeadlockOption = Annotated[
    OnDeadlock,
    typer.Option("--on-deadlock", help="When nothing can ever happen again: fail, or reject the waiting jobs."),
]
ClockOption = Annotated[
    Clock,
    typer.Option(
        help="Clock of the scheduler: simulated (once, tree), real, paced (real, nobody observed, goes at --pace),"
        " or auto: simulated where that works."
    ),
]
TimersOption = Annotated[
    str,
    typer.Option(
        metavar=f"[{'|'.join(Timers)}|SECONDS]",
        help="At which of the scheduler's own timers to stop (docs/time.md), or: so many seconds apart.",
    ),
]
TimerWindow = Annotated[
    float,
    typer.Option(help="Simulated seconds after the last change for which `--timers window` follows timers."),
]
QuietPeriod = Annotated[
    float,
    typer.Option(help="Real seconds without a request after which a scheduler out of sight is at rest."),
]
RestOption = Annotated[
    RestMeans,
    typer.Option(help="How rest of a scheduler on the real clock is known: auto takes the best means there is."),
]
SchedulerMetrics = Annotated[
    str | None,
    typer.Option(metavar="URL", help="Metrics of a kube-scheduler that cannot be observed (https://HOST:10259)."),
]
SchedulerMetricsToken = Annotated[Path | None, typer.Option(help="File with a bearer token for these metrics.")]
SchedulerMetricsInsecure = Annotated[
    bool,
    typer.Option("--scheduler-metrics-insecure", help="Take any certificate there (kube-scheduler makes its own)."),
]
Patience = Annotated[
    float | None,
    typer.Option(
        help="Real seconds a scheduler at rest may stay silent, with no event to come, before it is stuck."
        f" [default: {DEFAULT_PATIENCE:g}, at a pace {DEFAULT_PATIENCE_AT_PACE:g}]",
        show_default=False,
    ),
]
PaceOption = Annotated[
    float | None,
    typer.Option(
        help="Simulated seconds a real one (1: real time, 60: a minute a second); else as fast as it goes.",
        show_default=False,
    ),
]
Paused = Annotated[bool, typer.Option("--paused", help="Begin paused, for `batkube clock step` and `resume`.")]
DecisionTimeOption = Annotated[
    str,
    typer.Option(
        metavar="zero|SECONDS|real[:FACTOR]",
        help="How long each reaction of the scheduler lasts in simulated time: bindings are dated so much later.",
    ),
]
StartupOption = Annotated[
    Path | None,
    typer.Option(help="How long pods take to start and to end (YAML, see docs/startup.md); else no time."),
]
Tls = Annotated[
    bool, typer.Option("--tls", help="HTTPS, and nobody comes in without the kubeconfig's token or certificate.")
]
InClusterDir = Annotated[
    Path | None,
    typer.Option(help="Write token, ca.crt and namespace here, as a pod finds them; turns TLS on.", show_default=False),
]


def _several(name: str, metavar: str, text: str) -> Any:
    """An option that can be repeated."""
    return typer.Option(name, metavar=metavar, help=text, show_default=False)


EnablePlugins = Annotated[
    list[str] | None,
    _several("--enable-admission-plugins", "NAME,...", "Admission plugins to have at work, by kube-apiserver's names."),
]
DisablePlugins = Annotated[
    list[str] | None,
    _several("--disable-admission-plugins", "NAME,...", "Admission plugins to do without, by kube-apiserver's names."),
]
FeatureGates = Annotated[
    list[str] | None,
    _several("--feature-gates", "NAME=BOOL,...", f"Feature gates of kube-apiserver: {', '.join(GATES)}."),
]
RuntimeConfig = Annotated[
    list[str] | None,
    _several(
        "--runtime-config",
        "VERSION=BOOL,...",
        "API versions that discovery shows, as kube-apiserver's: api/all=true, GROUP/VERSION=true.",
    ),
]
CrdOption = Annotated[
    list[Path] | None,
    _several(
        "--crd",
        "FILE|DIR",
        "CustomResourceDefinitions to serve from the start (YAML, JSON); repeat for several.",
    ),
]
ObjectsOption = Annotated[
    list[Path] | None,
    _several("--objects", "FILE|DIR", "Objects of any kind to have from the start (YAML, JSON); repeat for several."),
]
Epoch = Annotated[float, typer.Option(help="Unix seconds at which simulated time 0 lies.", show_default=False)]
Seed = Annotated[int, typer.Option(help="Where uids and generated names come from.")]


def patience_of(given: float | None, pace: float | None) -> float:
    """Real seconds; where nothing is said, more at a pace."""
    if given is not None:
        return given
    return DEFAULT_PATIENCE if pace is None else DEFAULT_PATIENCE_AT_PACE


def api_settings(
    enable: list[str] | None,
    disable: list[str] | None,
    gates: list[str] | None,
    versions: list[str] | None,
    definitions: list[Path] | None,
    objects: list[Path] | None,
) -> ApiSettings:
    """Names may be given one by one or, as kube-apiserver takes them, with commas between."""

    def split(given: list[str] | None) -> tuple[str, ...]:
        return tuple(name for names in given or () for name in names.split(",") if name)

    return ApiSettings(
        enable_admission_plugins=split(enable),
        disable_admission_plugins=split(disable),
        feature_gates=split(gates),
        runtime_config=split(versions),
        definitions=tuple(definitions or ()),
        objects=tuple(objects or ()),
    )


def timers_of(text: str) -> Timers | float:
    """What --timers says. Raises typer.BadParameter."""
    try:
        return read_timers(text)
    except ValueError as error:
        raise typer.BadParameter(f"--timers: {error}") from None


def settings_of(make: Callable[[], Settings]) -> Settings:
    """The settings. What they do not take is told as an error of usage, by its name: raises typer.BadParameter."""
    try:
        return make()
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"])
        what = first["msg"].removeprefix("Value error, ")
        if not where:
            raise typer.BadParameter(what) from None
        raise typer.BadParameter(f"{where}: {what}, not {first['input']!r}") from None
