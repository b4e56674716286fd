"""Sessions: the commands of a transcript, run one after the other by bash, against a server of their own."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from pathlib import Path

import yaml

from ..conformance.servers import Server
from .transcript import Transcript, parse, settled

FOLDER = Path(__file__).parent / "sessions"
VERSIONS = ("1.36.3", "1.34.3")
"""Of kubectl. What the first prints stands in NAME.md, what another does in NAME.VERSION.md, where that differs."""

_NEWEST_ALONE = ("apply", "ask", "custom", "end", "kinds", "make", "pods", "workloads")
"""Sessions, long ones, in which it is the server that counts: both versions print the same."""

PATIENCE = 180.0
"""Seconds that a command may take."""


def names() -> list[str]:
    """Of all sessions."""
    return sorted(path.stem for path in FOLDER.glob("*.md") if not path.stem.endswith(VERSIONS))


def versions(name: str) -> tuple[str, ...]:
    """Of kubectl, by which a session is played."""
    return VERSIONS[:1] if name in _NEWEST_ALONE else VERSIONS


def file_of(name: str, version: str = VERSIONS[0]) -> Path:
    """Return where a session is written down, as this version of kubectl has it."""
    return FOLDER / (f"{name}.md" if version == VERSIONS[0] else f"{name}.{version}.md")


def recorded(name: str, version: str) -> Transcript:
    """The session as this version of kubectl had it with the real server."""
    file = file_of(name, version)
    return parse((file if file.exists() else file_of(name)).read_text(encoding="utf-8"))


def played(session: Transcript, server: Server, kubectl: Path) -> Transcript:
    """The same session with this server, and what is printed now."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "bin").mkdir()
        (home / "bin" / "kubectl").symlink_to(kubectl)
        (home / "kubeconfig").write_text(yaml.safe_dump(server.kubeconfig()))
        environment = {
            "HOME": folder,
            "PATH": f"{home / 'bin'}:{os.environ['PATH']}",
            "KUBECONFIG": str(home / "kubeconfig"),
            "TZ": "UTC",
            "LC_ALL": "C.UTF-8",
            "GOGC": "off",  # a fifth of the time of a kubectl, which is gone before its memory matters
        }
        work = home / "work"
        work.mkdir()
        return session.answered([_run(step.command, work, environment) for step in session.steps])


def _run(command: str, folder: Path, environment: dict[str, str]) -> str:
    with subprocess.Popen(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    ) as process:
        try:
            printed, _ = process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, _ = process.communicate()
            return f"{printed}(went on for more than {PATIENCE:g} s)\n"
    output = settled(printed.replace(str(folder), "<folder>"))
    return f"{output}(exit {process.returncode})\n" if process.returncode else output
