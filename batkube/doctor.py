"""``batkube doctor``: what this machine has of what batkube can use, and what happens without it."""

import platform
import shutil
import subprocess
from dataclasses import dataclass

from rich.console import Console
from rich.table import Table

from batkube import __version__


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for."""

    name: str
    found: bool
    detail: str
    """Where and which, or what happens without it."""


PROGRAMS = (
    ("kube-scheduler", ("--version",), "give --scheduler-binary, or build it with `make tools`"),
    ("kubectl", ("version", "--client"), "only needed to look into the cluster by hand"),
    ("batsim", ("--version",), "the embedded simulator takes its place; or give --batsim-binary"),
    ("go", ("version",), "only needed to build kube-scheduler and kubectl (`make tools`)"),
)


def main() -> int:
    """Print what was found; 0 always, since nothing of it is necessary."""
    console = Console(highlight=False)
    console.print(f"batkube {__version__}, Python {platform.python_version()}, {platform.platform()}")
    table = Table(show_header=False)
    for finding in [*programs(), *means_of_rest()]:
        table.add_row("[green]yes[/]" if finding.found else "[yellow]no[/]", finding.name, finding.detail)
    console.print(table)
    return 0


def programs() -> list[Finding]:
    """The programs that batkube starts or that are good to have."""
    findings = []
    for name, arguments, without in PROGRAMS:
        path = shutil.which(name)
        detail = f"{path}: {_version(path, arguments)}" if path else without
        findings.append(Finding(name, path is not None, detail))
    return findings


def means_of_rest() -> list[Finding]:
    """The means by which a scheduler is seen to be at rest."""
    from batkube.clock.probe import probe

    return [Finding(means.name, means.works, means.detail) for means in probe()]


def _version(path: str, arguments: tuple[str, ...]) -> str:
    try:
        done = subprocess.run([path, *arguments], capture_output=True, text=True, timeout=10)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not answer: {error}"
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if lines else "says nothing of its version"
