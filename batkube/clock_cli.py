"""The commands ``batkube clock``."""

from pathlib import Path
from typing import Annotated

import typer

clock_app = typer.Typer(help="Control a simulation that goes on: its pace, pause, single steps.", no_args_is_help=True)

ServerOption = Annotated[
    str | None, typer.Option(help="URL of its server; else that of the kubeconfig.", show_default=False)
]
KubeconfigOption = Annotated[
    Path | None,
    typer.Option(
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
    times: Annotated[int, typer.Argument(min=1, help="How many.")] = 1,
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
    from batkube import remote_clock as command

    raise typer.Exit(command.main(server, kubeconfig, method, action, body, times))
