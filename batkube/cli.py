"""The command ``batkube``: what a user types, turned into settings. The work is done elsewhere.

Exit codes: 0 finished, 1 the run failed, 2 bad usage or input, 130 interrupted.
"""

from pathlib import Path
from typing import Annotated

import typer

from batkube import __version__
from batkube.clock_cli import clock_app
from batkube.faults import exit_with
from batkube.options import (
    ClockOption,
    CrdOption,
    DeadlockOption,
    DecisionTimeOption,
    DisablePlugins,
    EnablePlugins,
    Epoch,
    FeatureGates,
    InClusterDir,
    ObjectsOption,
    PaceOption,
    Patience,
    Paused,
    QuietPeriod,
    RestOption,
    RuntimeConfig,
    SchedulerMetrics,
    SchedulerMetricsInsecure,
    SchedulerMetricsToken,
    SchedulerName,
    Seed,
    StartupOption,
    TimersOption,
    TimerWindow,
    Tls,
    WorkloadOption,
    api_settings,
    patience_of,
    settings_of,
    timers_of,
)
from batkube.settings import (
    DEFAULT_BATSIM_ENDPOINT,
    DEFAULT_EPOCH,
    DEFAULT_PACE,
    DEFAULT_QUIET_PERIOD,
    DEFAULT_TIMER_WINDOW,
    AccessSettings,
    Clock,
    FitSettings,
    OnDeadlock,
    RestMeans,
    RunSettings,
    ServeSettings,
    StepSettings,
    Timers,
)
from batkube.startup.families import Family

app = typer.Typer(
    name="batkube",
    help="Run any Kubernetes scheduler, unmodified, against a cluster that Batsim simulates.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(clock_app, name="clock")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"batkube {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def run(
    platform: Annotated[Path, typer.Option("--platform", "-p", help="SimGrid platform (XML).")],
    workload: WorkloadOption,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path("out"),
    scheduler: Annotated[
        str, typer.Option(help="fifo, kube-scheduler, or none: print the kubeconfig and wait for a stranger.")
    ] = "fifo",
    scheduler_cmd: Annotated[
        str | None,
        typer.Option(help="Any program; {kubeconfig}, {server} and {port} are filled in, KUBECONFIG is set."),
    ] = None,
    scheduler_binary: Annotated[
        Path | None, typer.Option(help="The kube-scheduler to start; else the one on PATH.")
    ] = None,
    scheduler_config: Annotated[
        Path | None, typer.Option(help="Your KubeSchedulerConfiguration; only its connection part is ours.")
    ] = None,
    scheduler_name: SchedulerName = "default-scheduler",
    clock: ClockOption = Clock.AUTO,
    timers: TimersOption = Timers.WINDOW.value,
    timer_window: TimerWindow = DEFAULT_TIMER_WINDOW,
    determinism: Annotated[
        bool,
        typer.Option(help="Give the scheduler an environment in which it does the same each time (GOMAXPROCS=1 ...)."),
    ] = True,
    simulator: Annotated[
        str,
        typer.Option(help="embedded, batsim (started here), or the endpoint at which a Batsim will call."),
    ] = "embedded",
    batsim_binary: Annotated[Path | None, typer.Option(help="The batsim to start; else the one on PATH.")] = None,
    enable_compute_sharing: Annotated[
        bool,
        typer.Option("--enable-compute-sharing", help="Jobs share hosts by their requests (Batsim's option)."),
    ] = False,
    startup: StartupOption = None,
    tls: Tls = False,
    in_cluster_dir: InClusterDir = None,
    enable_admission_plugins: EnablePlugins = None,
    disable_admission_plugins: DisablePlugins = None,
    feature_gates: FeatureGates = None,
    runtime_config: RuntimeConfig = None,
    crd: CrdOption = None,
    objects: ObjectsOption = None,
    on_deadlock: DeadlockOption = OnDeadlock.FAIL,
    rest: RestOption = RestMeans.AUTO,
    scheduler_metrics: SchedulerMetrics = None,
    scheduler_metrics_token: SchedulerMetricsToken = None,
    scheduler_metrics_insecure: SchedulerMetricsInsecure = False,
    quiet_period: QuietPeriod = DEFAULT_QUIET_PERIOD,
    patience: Patience = None,
    pace: PaceOption = None,
    paused: Paused = False,
    repeat: Annotated[
        int,
        typer.Option(min=1, help="Run so many times (the others into OUT/2 ...), and say whether all give the same."),
    ] = 1,
    decision_time: DecisionTimeOption = "zero",
    seed: Seed = 0,
    epoch: Epoch = DEFAULT_EPOCH,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing but errors.")] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Say what happens, event by event.")] = False,
) -> None:
    """Run a workload: API server, simulator, scheduler under test, results; one command for all."""
    if quiet and verbose:
        raise typer.BadParameter("-q and -v exclude each other")
    if clock is Clock.PACED and pace is None:
        pace = DEFAULT_PACE
    settings = settings_of(
        lambda: RunSettings(
            platform=platform,
            workloads=tuple(workload),
            out=out,
            scheduler=scheduler,
            scheduler_command=scheduler_cmd,
            scheduler_binary=scheduler_binary,
            scheduler_config=scheduler_config,
            scheduler_name=scheduler_name,
            clock=clock,
            determinism=determinism,
            simulator=simulator,
            batsim_binary=batsim_binary,
            compute_sharing=enable_compute_sharing,
            startup=startup,
            access=AccessSettings(tls=tls, in_cluster_dir=in_cluster_dir),
            api=api_settings(
                enable_admission_plugins,
                disable_admission_plugins,
                feature_gates,
                runtime_config,
                crd,
                objects,
            ),
            seed=seed,
            epoch=epoch,
            step=StepSettings(
                on_deadlock=on_deadlock,
                rest=rest,
                scheduler_metrics=scheduler_metrics,
                scheduler_metrics_token=scheduler_metrics_token,
                scheduler_metrics_insecure=scheduler_metrics_insecure,
                quiet_period=quiet_period,
                patience=patience_of(patience, pace),
                timers=timers_of(timers),
                timer_window=timer_window,
                decision_time=decision_time,
                pace=pace,
                paused=paused,
            ),
        )
    )
    verbosity = int(verbose) - int(quiet)
    if repeat > 1:
        from batkube import repeat as repetition

        raise typer.Exit(repetition.main(settings, repeat, verbosity=verbosity))
    from batkube import run as command

    raise typer.Exit(command.main(settings, verbosity=verbosity))


@app.command()
def compare(
    folders: Annotated[
        list[Path], typer.Argument(metavar="OUT OUT...", help="Folders of results; the first is compared with each.")
    ],
) -> None:
    """Say whether runs did the same, byte for byte, and if not, at which event they part."""
    from batkube import compare as command

    if len(folders) < 2:
        raise typer.BadParameter("compare needs two folders at least")
    raise typer.Exit(command.main(folders))


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on; 0 takes a free one.")] = 8001,
    batsim: Annotated[
        str, typer.Option(help="Endpoint at which Batsim will call (its option -s).")
    ] = DEFAULT_BATSIM_ENDPOINT,
    kubeconfig: Annotated[
        Path | None, typer.Option(help="Write the kubeconfig here; else into the results folder.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the results.")] = Path("out"),
    platform: Annotated[
        Path | None,
        typer.Option("--platform", "-p", help="The platform Batsim runs: gives core counts Batsim leaves out."),
    ] = None,
    api_only: Annotated[
        bool, typer.Option("--api-only", help="The API server alone: no simulator, nobody plays kubelet.")
    ] = False,
    tls: Tls = False,
    insecure: Annotated[
        bool, typer.Option("--insecure", help="Plain HTTP, on loopback only; there it is the default.")
    ] = False,
    token: Annotated[
        str | None,
        typer.Option(envvar="BATKUBE_TOKEN", help="The token that lets clients in; turns TLS on but for --insecure."),
    ] = None,
    client_certificate: Annotated[
        bool,
        typer.Option("--client-certificate", help="A client certificate in the kubeconfig, no token; turns TLS on."),
    ] = False,
    in_cluster_dir: InClusterDir = None,
    enable_admission_plugins: EnablePlugins = None,
    disable_admission_plugins: DisablePlugins = None,
    feature_gates: FeatureGates = None,
    runtime_config: RuntimeConfig = None,
    crd: CrdOption = None,
    objects: ObjectsOption = None,
    external_hostname: Annotated[
        str | None,
        typer.Option(help="Name by which clients call the server: goes into kubeconfig and certificate."),
    ] = None,
    scheduler_name: SchedulerName = "default-scheduler",
    startup: StartupOption = None,
    on_deadlock: DeadlockOption = OnDeadlock.FAIL,
    rest: RestOption = RestMeans.AUTO,
    scheduler_metrics: SchedulerMetrics = None,
    scheduler_metrics_token: SchedulerMetricsToken = None,
    scheduler_metrics_insecure: SchedulerMetricsInsecure = False,
    quiet_period: QuietPeriod = DEFAULT_QUIET_PERIOD,
    patience: Patience = None,
    pace: PaceOption = None,
    paused: Paused = False,
    decision_time: DecisionTimeOption = "zero",
    seed: Seed = 0,
    epoch: Epoch = DEFAULT_EPOCH,
) -> None:
    """Stay up, serve the API, and play cluster for one Batsim simulation after another."""
    from batkube import serve as command

    settings = settings_of(
        lambda: ServeSettings(
            host=host,
            port=port,
            batsim=batsim,
            kubeconfig=kubeconfig,
            out=out,
            platform=platform,
            scheduler_name=scheduler_name,
            api_only=api_only,
            startup=startup,
            access=AccessSettings(
                tls=tls,
                insecure=insecure,
                token=token,
                client_certificate=client_certificate,
                in_cluster_dir=in_cluster_dir,
                external_hostname=external_hostname,
            ),
            api=api_settings(
                enable_admission_plugins,
                disable_admission_plugins,
                feature_gates,
                runtime_config,
                crd,
                objects,
            ),
            seed=seed,
            epoch=epoch,
            step=StepSettings(
                on_deadlock=on_deadlock,
                rest=rest,
                scheduler_metrics=scheduler_metrics,
                scheduler_metrics_token=scheduler_metrics_token,
                scheduler_metrics_insecure=scheduler_metrics_insecure,
                quiet_period=quiet_period,
                patience=patience_of(patience, pace),
                decision_time=decision_time,
                pace=pace,
                paused=paused,
            ),
        )
    )
    raise typer.Exit(command.main(settings))


@app.command()
def fit_startup(
    recorded: Annotated[
        list[Path], typer.Argument(metavar="CSV...", help="Recorded pod times, a row a pod (see docs/startup.md).")
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="The model to write (YAML).")],
    test: Annotated[
        list[Path] | None,
        typer.Option(help="Compare with this file, and keep no rows aside; repeat for several.", show_default=False),
    ] = None,
    hold_out: Annotated[float, typer.Option(help="The part of the rows that is kept aside to compare with.")] = 0.2,
    family: Annotated[Family, typer.Option(help="What delays are taken for.")] = Family.QUANTILES,
    process_time: Annotated[
        float | None, typer.Option(help="Seconds each process ran, where no column exit_time says when it ended.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Chooses the rows that are kept aside.")] = 0,
) -> None:
    """Make a start-up model (--startup) from recorded pod times, and say how well it fits."""
    from batkube import fit_startup as command

    settings = settings_of(
        lambda: FitSettings(
            recorded=tuple(recorded),
            out=out,
            test=tuple(test or ()),
            hold_out=hold_out,
            family=family,
            process_time=process_time,
            seed=seed,
        )
    )
    raise typer.Exit(command.main(settings))


@app.command()
def kubeconfig(
    server: Annotated[str, typer.Option(help="URL of the server.")] = "http://127.0.0.1:8001",
) -> None:
    """Print a kubeconfig for a server started with `batkube serve` over plain HTTP."""
    from batkube.kube import kubeconfig

    typer.echo(kubeconfig.kubeconfig_text(kubeconfig.kubeconfig(server)), nl=False)


@app.command()
def doctor() -> None:
    """Say what this machine has of what batkube can use, and what happens without it."""
    from batkube import doctor as command

    raise typer.Exit(command.main())


def main() -> None:
    """Entry point: an error of the user's is told in a line or two, never as a traceback."""
    exit_with(app)
