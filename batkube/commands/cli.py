"""The command ``batkube``: what a user types, turned into settings. The work is in the module of the command's name,
which is loaded when it is asked for.

Exit codes: 0 finished, 1 the run failed, 2 bad usage or input, 3 a rule is broken, 130 interrupted, 143 ended by
SIGTERM.
"""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from batkube import __version__
from batkube.ci.settings import InitCiSettings
from batkube.commands.crash_report import exit_with
from batkube.commands.schema import Schema
from batkube.commands.settings_options import keys_of, with_settings
from batkube.commands.usage import carry_out, whole_number
from batkube.comparison.settings import CheckSettings, CompareSettings
from batkube.option import RESULTS, TIME
from batkube.scenarios.settings import InitScenarioSettings
from batkube.settings import BAD_INPUT, Determinism, FitSettings, ReplaySettings, RunSettings, ServeSettings
from batkube.snapshot.settings import SnapshotSettings
from batkube.workloads.settings import GenerateSettings, ImportSettings

app = typer.Typer(
    name="batkube",
    help="Run any Kubernetes scheduler, unmodified, against a cluster that Batsim simulates.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
init_app = typer.Typer(help="Write files to begin with.", no_args_is_help=True)
app.add_typer(init_app, name="init")
clock_app = typer.Typer(help="Control a simulation that goes on: its pace, pause, single steps.", no_args_is_help=True)
app.add_typer(clock_app, name="clock")


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"batkube {__version__}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, metavar="", help="Print the version and exit."),
    ] = False,
) -> None:
    pass


@app.command()
@with_settings
def run(
    settings: RunSettings,
    no_determinism: Annotated[
        bool,
        typer.Option("--no-determinism", metavar="", help="The same as --determinism none.", rich_help_panel=TIME),
    ] = False,
    repeat: Annotated[
        int,
        typer.Option(
            parser=whole_number,
            metavar="TIMES",
            help="Run so many times (the others into OUT/2 ...), and say whether all give the same.",
            rich_help_panel=RESULTS,
        ),
    ] = 1,
    seeds: Annotated[
        int,
        typer.Option(
            parser=whole_number,
            metavar="NUMBER",
            help="Run with so many seeds, from --seed on, into OUT/SEED, and sum up how figures spread.",
            rich_help_panel=RESULTS,
            show_default=False,
        ),
    ] = 1,
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", metavar="", help="Say nothing but errors.", rich_help_panel=RESULTS),
    ] = False,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", metavar="", help="Say what happens, event by event.", rich_help_panel=RESULTS),
    ] = False,
) -> None:
    """Run a workload: API server, simulator, scheduler under test, results; one command for all."""
    if quiet and verbose:
        raise typer.BadParameter("-q and -v exclude each other")
    if Path("-") in settings.workloads and (repeat > 1 or seeds > 1):
        raise typer.BadParameter("-w - is read once: with --repeat or --seeds, name a file")
    if repeat > 1 and seeds > 1:
        raise typer.BadParameter("--repeat and --seeds exclude each other")
    if no_determinism and "determinism" in settings.model_fields_set and settings.determinism is not Determinism.NONE:
        raise typer.BadParameter(f"--no-determinism and --determinism {settings.determinism} exclude each other")
    if no_determinism:
        settings = settings.model_copy(update={"determinism": Determinism.NONE})
    own_policy = ":" in settings.scheduler and settings.scheduler_command is None
    if own_policy and settings.determinism is not Determinism.NONE:
        from batkube.schedulers.policies.loading import order_sets

        order_sets()
    verbosity = int(verbose) - int(quiet)
    if seeds > 1:
        from batkube.commands import seeds as over_seeds

        raise typer.Exit(over_seeds.main(settings, seeds, verbosity=verbosity))
    if repeat > 1:
        from batkube.commands import repeat as repetition

        raise typer.Exit(repetition.main(settings, repeat, verbosity=verbosity))
    from batkube.commands import run as command

    raise typer.Exit(command.main(settings, verbosity=verbosity))


@app.command()
@with_settings
def compare(settings: CompareSettings) -> None:
    """Say whether runs did the same, and if not, where they part, what changed for whom, and can it be told.

    Exit codes: 0 the same, 1 not; with --fail-if: 3 where a condition is true, else 0.
    """
    from batkube.commands import compare as command

    raise typer.Exit(command.main(settings))


@app.command()
@with_settings
def check(settings: CheckSettings) -> None:
    """Hold results to rules: no regression against a baseline, and nothing that cannot be. Exit codes: 0, 3 if not."""
    from batkube.commands import check as command

    raise typer.Exit(command.main(settings))


@app.command()
def show(folder: Annotated[Path, typer.Argument(metavar="OUT", help="Folder of results.")]) -> None:
    """Sum up a run in the terminal: its figures, how they went over time, why pods waited."""
    from batkube.commands import show as command

    raise typer.Exit(command.main(folder))


class ReportForm(StrEnum):
    """The formats of a report."""

    HTML = "html"
    MD = "md"
    PNG = "png"
    SVG = "svg"


@app.command()
def report(
    folder: Annotated[Path, typer.Argument(metavar="OUT", help="Folder of results.")],
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            "-o",
            metavar="FILE",
            help="The file to write; - is standard output. Else report.html in OUT.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        ReportForm | None,
        typer.Option(
            "--format",
            help="A page, Markdown for a pull request, or a figure; else as FILE is named.",
            show_default=False,
        ),
    ] = None,
    opened: Annotated[bool, typer.Option("--open", metavar="", help="Show it in the browser.")] = False,
) -> None:
    """Make a report of a run: one page that needs no network, or Markdown, or a figure."""
    from batkube.commands import report as command

    raise typer.Exit(command.main(folder, out, form.value if form else None, opened=opened))


@init_app.command("ci")
@with_settings
def init_ci(settings: InitCiSettings) -> None:
    """Write workload, platform, rules and a workflow into the repository of a scheduler; nothing is overwritten."""
    from batkube.commands import init_ci as command

    raise typer.Exit(command.main(settings))


@init_app.command("scenario")
@with_settings
def init_scenario(settings: InitScenarioSettings) -> None:
    """Write a scenario to begin with (`batkube run scenario.yaml`), and the schema by which editors check it."""
    from batkube.commands import init_scenario as command

    raise typer.Exit(command.main(settings, keys_of(run)))


@app.command()
@with_settings
def serve(settings: ServeSettings) -> None:
    """Stay up, serve the API, and play cluster for one Batsim simulation after another."""
    from batkube.commands import serve as command

    raise typer.Exit(command.main(settings))


@app.command()
@with_settings
def replay(settings: ReplaySettings) -> None:
    """Play a recorded Batsim to a scheduler: are its decisions the recorded ones? Exit code 0 if so, 1 if not."""
    from batkube.commands import replay as command

    raise typer.Exit(command.main(settings))


@app.command()
@with_settings
def fit_startup(settings: FitSettings) -> None:
    """Make a start-up model (--startup) from recorded pod times, and say how well it fits."""
    from batkube.commands import fit_startup as command

    raise typer.Exit(command.main(settings))


@app.command(name="import")
@with_settings
def import_(settings: ImportSettings) -> None:
    """Convert a workload to another format, or a cluster to a platform of SimGrid's."""
    from batkube.commands import importing as command

    raise typer.Exit(command.main(settings))


@app.command()
@with_settings
def generate(settings: GenerateSettings) -> None:
    """Make a workload that is drawn from a seed, by distributions or like those of a trace."""
    from batkube.commands import generate as command

    raise typer.Exit(command.main(settings))


@app.command()
def kubeconfig(
    server: Annotated[str, typer.Option(metavar="URL", help="URL of the server.")] = "http://127.0.0.1:8001",
) -> None:
    """Print a kubeconfig for a server started with `batkube serve` over plain HTTP."""
    from batkube.commands import kubeconfig as command

    raise typer.Exit(command.main(server))


@app.command()
@with_settings
def snapshot(settings: SnapshotSettings) -> None:
    """Make a cluster, or what kubectl has written of it, into a scenario that `batkube run` replays."""
    from batkube.commands import snapshot as command

    raise typer.Exit(command.main(settings))


@app.command()
def schema(
    which: Annotated[Schema, typer.Argument(metavar="WHICH", help="scenario: files for `batkube run`.")],
) -> None:
    """Print the JSON schema of a file that batkube reads: editors check and complete by it."""
    from batkube.commands import schema as command

    raise typer.Exit(command.main(which, keys_of(run)))


@app.command()
def doctor() -> None:
    """Say what this machine has of what batkube can use, and what happens without it."""
    from batkube.commands import doctor as command

    raise typer.Exit(command.main())


ServerOption = Annotated[
    str | None,
    typer.Option(metavar="URL", help="URL of its server; else that of the kubeconfig.", show_default=False),
]
KubeconfigOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="The kubeconfig it wrote; else $KUBECONFIG, else out/kubeconfig, else the default of `batkube serve`.",
        show_default=False,
    ),
]


@clock_app.command("show")
def clock_show(server: ServerOption = None, kubeconfig: KubeconfigOption = None) -> None:
    """Say how simulated time goes on."""
    _control(server, kubeconfig, "GET")


@clock_app.command("pause")
def clock_pause(server: ServerOption = None, kubeconfig: KubeconfigOption = None) -> None:
    """Stop before the next message of the simulator is told."""
    _control(server, kubeconfig, "POST", "/pause")


@clock_app.command("resume")
def clock_resume(server: ServerOption = None, kubeconfig: KubeconfigOption = None) -> None:
    """Go on."""
    _control(server, kubeconfig, "POST", "/resume")


@clock_app.command("step")
def clock_step(
    times: Annotated[int, typer.Argument(parser=whole_number, metavar="TIMES", help="How many.")] = 1,
    server: ServerOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """While paused: let one message of the simulator through, and wait until it has been dealt with."""
    _control(server, kubeconfig, "POST", "/step", times=times)


@clock_app.command("pace")
def clock_pace(
    factor: Annotated[str, typer.Argument(help="Simulated seconds a real one; max: as fast as it goes.")],
    server: ServerOption = None,
    kubeconfig: KubeconfigOption = None,
) -> None:
    """Go on at another pace."""
    try:
        wanted = None if factor == "max" else float(factor)
    except ValueError:
        wanted = 0.0
    if wanted is not None and not 0 < wanted < float("inf"):
        raise typer.BadParameter(f"expected a positive number or max, not {factor!r}", param_hint="FACTOR")
    _control(server, kubeconfig, "PUT", "/pace", {"factor": wanted})


def _control(
    server: str | None,
    kubeconfig: Path | None,
    method: str,
    action: str = "",
    body: dict[str, float | None] | None = None,
    times: int = 1,
) -> None:
    from batkube.commands import clock as command

    raise typer.Exit(command.main(server, kubeconfig, method, action, body, times))


def main() -> None:
    """Entry point: an error of the user's is told in a line or two, never as a traceback."""
    for word in sys.argv[1:]:
        if not word.isprintable() and any("\udc80" <= letter <= "\udcff" for letter in word):
            print(f"batkube: {word!a} on the command line is not UTF-8", file=sys.stderr)
            sys.exit(BAD_INPUT)
    exit_with(lambda: carry_out(app))
