"""A run that goes on, as a process, and the browser that looks at it."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.report.conftest import looker  # noqa: F401
from tests.waiting import wait_until

ROOT = Path(__file__).parents[2]
BATKUBE = [sys.executable, "-c", "import sys; from batkube.commands.cli import main; sys.exit(main())"]
Running = Callable[..., "tuple[str, subprocess.Popen[str]]"]


@pytest.fixture
def run_paused(tmp_path: Path) -> Iterator[Running]:
    """Start ``batkube run --paused`` into a folder; its URL and its process, which is ended with the test."""
    started: list[subprocess.Popen[str]] = []

    def run(out: Path, *options: str) -> "tuple[str, subprocess.Popen[str]]":
        inputs = ["-p", ROOT / "platforms/small-cluster.xml", "-w", ROOT / "workloads/burst-then-trickle.json"]
        words = [*BATKUBE, "run", "--paused", "-q", "-o", out, *inputs, *options]
        process = subprocess.Popen(list(map(str, words)), text=True, cwd=tmp_path)
        started.append(process)

        def url() -> str | None:
            assert process.poll() is None, "it has ended"
            path = out / "kubeconfig"
            found = re.search(r"server\W+(http[\w:/.]+)", path.read_text()) if path.exists() else None
            return found[1] if found else None

        found = wait_until("the kubeconfig is written", url)
        assert found
        return found, process

    yield run
    for process in started:
        process.kill()
        process.wait()
