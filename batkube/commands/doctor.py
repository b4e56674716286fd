"""``batkube doctor``: what this machine has of what batkube can use, and what happens without it."""

import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.table import Table
from rich.text import Text

from batkube import __version__
from batkube.clock.probe import OBSERVED, ONCE, PEERS, TREE, Means, probe


@dataclass(frozen=True)
class Finding:
    """One thing that was looked for."""

    name: str
    found: bool
    detail: str
    """Return where a program was found and its version, or what happens without it."""


PROGRAMS = (
    ("kube-scheduler", ("--version",), "give --scheduler-binary, or build it with `make tools`"),
    ("kubectl", ("version", "--client"), "only needed to look into the cluster by hand"),
    ("batsim", ("--version",), "the embedded simulator takes its place; or give --batsim-binary"),
    ("go", ("version",), "only needed to build kube-scheduler and kubectl (`make tools`)"),
)


def main() -> int:
    """Print what was found; 0 always, since nothing of it is necessary."""
    console = Console(emoji=False, highlight=False)
    console.print(f"batkube {__version__}, Python {platform.python_version()}, {platform.platform()}")
    means = probe()
    table = Table(title="What a run does here", title_justify="left", show_header=False)
    for name, what in outcome(means):
        table.add_row(name, what)
    console.print(table)
    console.print(_table("By which means", [Finding(one.name, one.works, one.detail) for one in means]))
    console.print(_table("Programs", programs()))
    return 0


def outcome(means: Iterable[Means]) -> list[tuple[str, str]]:
    """Return what follows from the means that work."""
    works = {one.name for one in means if one.works}
    silence = "taken for granted after --quiet-period real seconds of silence"
    seen = OBSERVED in works
    strangers = f"seen where it runs on this machine, else {silence}" if {OBSERVED, PEERS} <= works else silence

    def clock(mode: str, needed: str) -> str:
        if {OBSERVED, needed} <= works:
            return f"simulated (--clock {mode}): its timers follow simulated time"
        return "real: its timers run in real time, and runs may differ"

    return [
        ("clock of a Go program", clock("once", ONCE)),
        ("clock of any other program", clock("tree", TREE)),
        ("quiescence of a scheduler", "seen: all its threads asleep, nothing in flight" if seen else silence),
        ("quiescence of one started elsewhere", strangers),
    ]


def programs() -> list[Finding]:
    """Return the programs that batkube starts or that are good to have."""
    findings = []
    for name, arguments, without in PROGRAMS:
        path = shutil.which(name)
        if path is None and name == "kube-scheduler" and (built := _built(name)):
            version = _version(str(built), arguments)
            findings.append(Finding(name, True, f"{version}, not on PATH: --scheduler-binary {built}"))
        else:
            findings.append(
                Finding(name, path is not None, f"{path}: {_version(path, arguments)}" if path else without)
            )
    return findings


def _built(name: str) -> Path | None:
    """Return the newest of those that `make tools` has built (the Makefile says where)."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "batkube"
    folder = Path(os.environ.get("BATKUBE_TOOLS") or cache) / "bin"
    versions = {tuple(map(int, re.findall(r"\d+", path.name))): path for path in folder.glob(f"{name}-*")}
    return versions[max(versions)] if versions else None


def _version(path: str, arguments: tuple[str, ...]) -> str:
    try:
        done = subprocess.run([path, *arguments], capture_output=True, text=True, errors="replace", timeout=10)
    except (OSError, subprocess.TimeoutExpired) as error:
        return f"does not answer: {error}"
    lines = (done.stdout or done.stderr).strip().splitlines()
    return lines[0] if lines else "says nothing of its version"


def _table(title: str, findings: Iterable[Finding]) -> Table:
    table = Table(title=title, title_justify="left", show_header=False)
    for finding in findings:
        answer = Text("yes", "green") if finding.found else Text("no", "yellow")
        table.add_row(answer, Text(finding.name), Text(finding.detail))
    return table
