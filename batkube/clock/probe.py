"""The means of this machine to observe processes and to give them the clock, and what is done without them.

Each means is tried on a process of our own.
"""

import os
import platform
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from batkube.clock import tree, vdso
from batkube.clock.oracle import IdleOracle, unobservable
from batkube.clock.page import ClockPage
from batkube.clock.peers import peer_pid
from batkube.clock.ptrace import HeldProcess, TraceError, let_parent_trace
from batkube.clock.syscalls import WAITING
from batkube.clock.tcp import Connection, HasFileDescriptor, SockDiag
from batkube.clock.threads import counts_in_schedstat

ONCE, TREE, OBSERVED, PEERS = "ptrace", "seccomp", "idle oracle", "peer lookup"
"""The names of the means that decide what a run can do."""

PATIENCE = 30.0
"""Real seconds within which a process of ours must do what it is told; it takes milliseconds on an idle machine."""
SHOWN = 1_234_567_890
"""Unix seconds that the simulated clock shows to the processes it is tried on."""


@dataclass(frozen=True)
class Means:
    """One thing that the kernel may or may not let us do with processes."""

    name: str
    works: bool
    detail: str
    """The use of the means; if it does not work, the reason and what is done instead."""
    reason: str = ""
    """The reason alone, if it does not work."""


class Unavailable(Exception):
    """The means does not work. The text says why."""


def probe() -> list[Means]:
    """Try each means on this machine."""
    reason = unobservable()
    if reason:
        instead = "schedulers keep the real clock, and are at rest after a while of silence (--quiet-period)"
        return [Means("observation", False, f"{reason}: {instead}")]
    return [
        *_clock(),
        _try(
            "schedstat", _schedstat, "counts how often a thread ran", "context switches tell the same, read more slowly"
        ),
        _try(
            "syscall",
            lambda: _reads("syscall"),
            "tells a thread that waits from one in the middle of its work",
            "any sleep is taken for waiting",
        ),
        _try(
            "children",
            lambda: _reads("children"),
            "finds the processes that a scheduler starts",
            "processes that a scheduler starts are not observed",
        ),
        _try(
            "sock_diag",
            _sock_diag,
            "tells what is on its way between two ends of a connection",
            "only bytes that have arrived are seen",
        ),
        _try(
            OBSERVED,
            _observe,
            "sees whether a process has anything left to do",
            "silence has to do (--quiet-period)",
        ),
        _try(
            PEERS,
            _peer,
            "finds a scheduler on this machine that somebody else has started",
            "such a scheduler is out of sight: its metrics (--scheduler-metrics) or silence have to do",
        ),
    ]  # fmt: skip


def means_for(mode: Literal["once", "tree"]) -> Means:
    """Try the means that starts a program on the simulated clock in this mode."""
    reason = vdso.missing()
    if reason:
        return Means("architecture", False, f"{reason}: schedulers keep the real clock", reason)
    if mode == "once":
        return _try(
            ONCE,
            _once,
            "gives Go programs the simulated clock (--clock once)",
            "schedulers keep the real clock",
        )
    return _try(
        TREE,
        _tree,
        "gives programs of any kind the simulated clock (--clock tree)",
        "schedulers that are no Go programs keep the real clock",
    )


def _clock() -> list[Means]:
    if vdso.missing():
        return [means_for("once")]
    built = "the helper is built already" if tree.built() else "the helper of --clock tree cannot be built"
    return [
        means_for("once"),
        _try("C compiler", _compile, "builds the helper of --clock tree, once", built),
        means_for("tree"),
    ]


def _try(name: str, attempt: Callable[[], None], purpose: str, instead: str) -> Means:
    try:
        attempt()
    except Unavailable as error:
        reason = str(error)
    except OSError as error:
        reason = error.strerror or str(error)
    except subprocess.SubprocessError as error:
        reason = str(error)
    except (AttributeError, ValueError) as error:  # a function that this Python, or the C library, does not have
        reason = f"not on this system ({error})"
    else:
        return Means(name, True, purpose)
    reason = " ".join(reason.split())
    return Means(name, False, f"{reason}: {instead}", reason)


def _schedstat() -> None:
    if not counts_in_schedstat():
        raise Unavailable("not kept by this kernel (CONFIG_SCHED_INFO)")


@contextmanager
def _python(code: str, *arguments: object) -> Iterator["subprocess.Popen[bytes]"]:
    """Run a Python process that says something when it is ready, and end it with the context."""
    command = [sys.executable, "-S", "-c", code, *map(str, arguments)]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        assert child.stdout is not None
        child.stdout.readline()
        yield child
    finally:
        child.kill()
        child.communicate()


def _reads(name: str) -> None:
    if name == "syscall" and WAITING is None:
        raise Unavailable(f"system call numbers of {platform.machine()} are not known")
    with _python("print('ready', flush=True); input()") as child:
        Path(f"/proc/{child.pid}/task/{child.pid}/{name}").read_bytes()


def _sock_diag() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        server, _ = listener.accept()
        with server:
            client.sendall(b"x")
            diag = SockDiag()
            try:
                (far,) = diag.far_ends([Connection(server.fileno())])
            finally:
                diag.close()
    if far is None or far.sent != 1:
        raise Unavailable("the kernel does not tell how much was sent")


class _NoServer:
    """A server that nobody talks to, as the oracle sees it."""

    def busy(self) -> bool:
        return False

    def when_bytes_come(self, heed: Callable[[], None]) -> None:
        pass

    def held_up(self) -> Sequence[HasFileDescriptor]:
        return ()

    def connections(self) -> Sequence[HasFileDescriptor]:
        return ()

    def active(self) -> None:
        return None

    def listener(self) -> None:
        return None


def _observe() -> None:
    """Check that a process that waits is seen at rest, and one that works is not."""
    oracle = IdleOracle(_NoServer())
    try:
        with _python("print('ready', flush=True); input()") as waits:
            oracle.add(waits.pid)
            _until(lambda: oracle.look().idle, "a process that waits is not seen at rest")
        oracle.remove(waits.pid)
        with _python("print('ready', flush=True)\nwhile True: pass") as works:
            oracle.add(works.pid)
            if any(oracle.look().idle for _ in range(20)):
                raise Unavailable("a process that works is seen at rest")
    finally:
        oracle.close()


def _peer() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        connect = "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); print(); input()"
        with _python(connect, listener.getsockname()[1]) as child:
            connection, _ = listener.accept()
            with connection:
                if peer_pid(connection) != child.pid:
                    raise Unavailable("the process at the other end of a connection is not told")


def _until(condition: Callable[[], bool], otherwise: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise Unavailable(otherwise)
        time.sleep(0.001)


def _program(words: list[str], code: str) -> list[str]:
    """Return the small program, or if it does not exist, Python code that does the same."""
    return words if shutil.which(words[0]) else [sys.executable, "-S", "-c", code]


@contextmanager
def _page() -> Iterator[ClockPage]:
    page = ClockPage(SHOWN * 1_000_000_000)
    try:
        yield page
    finally:
        page.close()


def _once() -> None:
    """Check that a program sees the time of the clock page."""
    command = _program(["date", "+%s"], "import time; print(int(time.time()))")
    with _page() as page:
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
            preexec_fn=let_parent_trace,
        )  # fmt: skip
        try:
            with HeldProcess(child.pid) as held:
                vdso.install(held, page.path)
            shown, _ = child.communicate(timeout=PATIENCE)
        except TraceError as error:
            raise Unavailable(error.strerror or str(error)) from None
        finally:
            if child.returncode is None:
                _end_held(child)
    if shown.strip() != str(SHOWN).encode():
        raise Unavailable(f"a program that should see the time {SHOWN} sees {shown.decode(errors='replace').strip()}")


def _end_held(child: "subprocess.Popen[bytes]") -> None:
    """End a process that may be held: subprocess takes its stop for its end."""
    os.kill(child.pid, signal.SIGKILL)
    while os.WIFSTOPPED(os.waitpid(child.pid, 0)[1]):
        pass
    child.returncode = -signal.SIGKILL
    child.communicate()


def _compile() -> None:
    with tempfile.TemporaryDirectory() as folder:
        tree.build(Path(folder) / "tree")


def _tree() -> None:
    """Check that a sleep of 1,000 seconds ends when the clock page has moved on by 1,000 seconds."""
    with _page() as page, closing(tree.Helper()) as helper:
        sleep = _program(["sleep", "1000"], "import time; time.sleep(1000)")
        command = helper.command(page.path, sleep, seed=0)
        child = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
            pass_fds=helper.descriptors, start_new_session=True,
        )  # fmt: skip
        started = False
        try:
            started = helper.started()
            if started:
                _until(lambda: helper.tell().waiting > 0, "a sleep is not seen")
                page.advance(1_001 * 1_000_000_000)
                helper.wake()
                _until(lambda: child.poll() is not None, "a sleep does not end with the simulated time")
        finally:
            helper.close()
            with suppress(ProcessLookupError):
                os.killpg(child.pid, signal.SIGKILL)
            _, said = child.communicate()
    if not started:
        words = said.decode(errors="replace").strip().splitlines()
        raise Unavailable(words[-1].removeprefix("batkube: ") if words else "the helper could not hold a program")
