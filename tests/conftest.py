"""The parts that all tests share: programs that `make tools` builds, the mark of quick tests, a line on skips."""

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import ports
import pytest

from tests.tools import tools_folder

BuiltTool = Callable[[str], Path]

QUICK = (
    "batsim", "bridge", "checks", "commands", "comparison", "kube", "results", "schedulers", "session", "simulator",
    "startup",
)  # fmt: skip
"""The folders of tests that start no program, as a rule."""


FOLDER = Path(__file__).parent


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Load no modules in vain where quick tests alone are asked for."""
    if config.getoption("markexpr") != "quick" or collection_path == FOLDER:
        return None
    return collection_path.relative_to(FOLDER).parts[0] not in QUICK or None


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is quick: `make test TESTS=quick` is for the daily loop. Order all, the longest first.

    Workers that are given few tests at a time then end together: what is left at the end takes milliseconds.
    """
    for item in items:
        slow = item.get_closest_marker("slow") or "built_tool" in getattr(item, "fixturenames", ())
        if item.path.relative_to(FOLDER).parts[0] in QUICK and not slow:
            item.add_marker(pytest.mark.quick)
    items.sort(key=_turn)


def _turn(item: pytest.Item) -> int:
    marks = ("slow", "", "real_time", "quick")
    return next((turn for turn, mark in enumerate(marks) if mark and item.get_closest_marker(mark)), marks.index(""))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say in a line what was skipped, and why."""
    skipped = terminalreporter.stats.get("skipped", [])
    reasons = Counter(report.longrepr[2].removeprefix("Skipped: ") for report in skipped)
    if reasons:
        told = "; ".join(f"{count} as {reason}" for reason, count in reasons.most_common())
        terminalreporter.write_line(f"skipped {reasons.total()} tests: {told}")


@pytest.fixture(scope="session")
def built_tool() -> BuiltTool:
    """Find a program by name and version: ``built_tool("kube-scheduler-1.36.3")``.

    A test that asks for one that is not there is skipped; with BATKUBE_CI set, where all must be there, it fails.
    """

    def find(name: str) -> Path:
        path = tools_folder() / name
        if not path.exists():
            if os.environ.get("BATKUBE_CI"):
                pytest.fail(f"{name} is not built")
            pytest.skip("kube-scheduler, kubectl and the like are not built (`make tools` needs Go)")
        return path

    return find


@pytest.fixture(scope="session")
def program_beside() -> BuiltTool:
    """Find a program that `make programs` builds: what takes so long to build that CI does without."""

    def find(name: str) -> Path:
        path = tools_folder() / name
        if not path.exists():
            pytest.skip(f"{name} is not built: `make {name}` does it where Go is installed")
        return path

    return find


@pytest.fixture(scope="session")
def sources() -> Callable[[str, str], Path]:
    """Find the sources of a Go module, from which its CustomResourceDefinitions are taken.

    ``sources("kueue", "sigs.k8s.io/kueue")``: a folder of tests/controllers whose ``go.mod`` asks for it, its path.
    """

    def find(folder: str, module: str) -> Path:
        go = shutil.which("go")
        if go is None:
            pytest.skip(f"Go is not installed, which knows where the sources of {module} are")
        words = [go, "list", "-m", "-f", "{{.Dir}}", module]
        told = subprocess.run(words, cwd=FOLDER / "controllers" / folder, capture_output=True, text=True, timeout=120)
        if not told.stdout.strip():
            pytest.skip(f"the sources of {module} are not at hand: `go mod download` in {folder} gets them")
        return Path(told.stdout.strip())

    return find


@pytest.fixture(scope="session")
def free_port() -> Callable[[], int]:
    """Find a port of the loopback address that nobody uses, and that nobody else will be given."""
    return ports.free_port
