"""Programs to observe: our small Go programs, built once, and Python snippets."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from batkube.clock.oracle import IdleOracle
from batkube.clock.verdict import Verdict
from tests.waiting import wait_until

from .oracle_stage import Server
from .stage import Stage

PROGRAMS = Path(__file__).parent / "programs"
GO_ENVIRONMENT = {**os.environ, "CGO_ENABLED": "0"}
"""As the Makefile builds schedulers: they are like these, and packages that it has compiled are not compiled again."""

GoProgram = Callable[[str], Path]
StartPython = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture(scope="session")
def go_program(tmp_path_factory: pytest.TempPathFactory) -> GoProgram:
    """Build ``programs/NAME.go``; skips where Go is missing."""
    folder = tmp_path_factory.mktemp("go")

    def build(name: str) -> Path:
        program = folder / name
        if not program.exists():
            go = shutil.which("go")
            if go is None:
                pytest.skip("Go is not installed")
            command = [go, "build", "-trimpath", "-o", str(program), f"{name}.go"]
            done = subprocess.run(command, cwd=PROGRAMS, env=GO_ENVIRONMENT, capture_output=True, text=True)
            assert done.returncode == 0, done.stderr
        return program

    return build


@pytest.fixture
def start_python() -> Iterator[StartPython]:
    """Run a piece of Python, with its arguments, as a process; ended after the test with all that it has started."""
    started = []

    def start(code: str, *arguments: object) -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-S", "-c", code, *map(str, arguments)]
        process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        started.append(process)
        return process

    yield start
    for process in started:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                with suppress(OSError):
                    stream.close()


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    """For one program on the simulated clock."""
    stage = Stage(tmp_path / "out")
    yield stage
    await stage.close()


@pytest.fixture
def server() -> Iterator[Server]:
    server = Server()
    yield server
    for one in [server.socket, *server.accepted]:
        one.close()


@pytest.fixture
def oracle(server: Server) -> Iterator[IdleOracle]:
    oracle = IdleOracle(server)
    yield oracle
    oracle.close()


def line(process: "subprocess.Popen[bytes]") -> str:
    """The next line that the process prints: it has come that far."""
    assert process.stdout is not None
    return process.stdout.readline().decode().strip()


def tell(process: "subprocess.Popen[bytes]", text: str = "\n") -> None:
    """Write to the standard input of the process."""
    assert process.stdin is not None
    process.stdin.write(text.encode())
    process.stdin.flush()


def state(pid: int) -> str:
    """The letter that the kernel gives for a process: R, S, T, Z ..."""
    return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0]


def idle(oracle: IdleOracle) -> bool:
    return oracle.look().idle


def settled(oracle: IdleOracle, kind: str) -> Verdict:
    """The verdict once its kind is the one expected."""
    last = oracle.look()

    def expected() -> bool:
        nonlocal last
        last = oracle.look()
        return last.kind == kind

    wait_until(f"the verdict is {kind!r}", expected)
    return last
