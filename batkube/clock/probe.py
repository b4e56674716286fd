"""What of this machine can be used to observe processes and to give them the clock, and what is done without it."""

import platform
import socket
import subprocess
import sys
from dataclasses import dataclass
from typing import Literal

from batkube.clock import tree, vdso
from batkube.clock.page import ClockPage
from batkube.clock.ptrace import HeldProcess, let_parent_trace
from batkube.clock.syscalls import WAITING
from batkube.clock.tcp import Connection, SockDiag
from batkube.clock.threads import counts_in_schedstat


@dataclass(frozen=True)
class Means:
    """One thing that the kernel may or may not let us do with processes."""

    name: str
    works: bool
    detail: str
    """Why it does not work and what is done instead, or what it is used for."""


def probe() -> list[Means]:
    """Try each means on this machine."""
    if sys.platform != "linux":
        return [Means("idle oracle", False, f"needs Linux, this is {sys.platform}: a quiet period has to do")]
    return [_schedstat(), *_child(), _sock_diag(), _clock_at_exec(), _wait_takeover()]


def means_for(mode: Literal["once", "tree"]) -> Means:
    """Whether a program can be started on the simulated clock in this mode."""
    return _clock_at_exec() if mode == "once" else _wait_takeover()


def _schedstat() -> Means:
    if counts_in_schedstat():
        return Means("schedstat", True, "counts how often a thread ran")
    return Means("schedstat", False, "not kept by this kernel (CONFIG_SCHED_INFO): context switches, slower to read")


def _child() -> list[Means]:
    child = subprocess.Popen([sys.executable, "-S", "-c", "input()"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    try:
        base = f"/proc/{child.pid}/task/{child.pid}/"
        return [_syscall(base + "syscall"), _children(base + "children")]
    finally:
        child.kill()
        child.communicate()


def _syscall(path: str) -> Means:
    name, instead = "syscall", "any sleep is taken for waiting"
    if WAITING is None:
        return Means(name, False, f"system call numbers of {platform.machine()} are not known: {instead}")
    error = _unreadable(path)
    if error:
        return Means(name, False, f"{error}: {instead}")
    return Means(name, True, "tells a thread that waits from one in the middle of its work")


def _children(path: str) -> Means:
    error = _unreadable(path)
    if error:
        return Means("children", False, f"{error}: processes that a scheduler starts are not observed")
    return Means("children", True, "finds the processes that a scheduler starts")


def _unreadable(path: str) -> str:
    try:
        with open(path, "rb") as file:  # noqa: PTH123
            file.read()
    except OSError as error:
        return f"{error.strerror} (/proc/PID/task/TID/{path.rsplit('/', 1)[1]})"
    return ""


def _sock_diag() -> Means:
    name, instead = "sock_diag", "bytes on their way are not seen, only those that have arrived"
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        server, _ = listener.accept()
        with server:
            client.sendall(b"x")
            try:
                diag = SockDiag()
                try:
                    (far,) = diag.far_ends([Connection(server.fileno())])
                finally:
                    diag.close()
            except OSError as error:
                return Means(name, False, f"{error.strerror or error}: {instead}")
    if far is None or far.sent != 1:
        return Means(name, False, f"the kernel does not tell how much was sent: {instead}")
    return Means(name, True, "compares what one end of a connection has sent with what the other has read")


def _clock_at_exec() -> Means:
    name, instead = "simulated clock", "schedulers keep the real clock"
    if vdso.missing():
        return Means(name, False, f"{vdso.missing()}: {instead}")
    page = ClockPage(0)
    try:
        child = subprocess.Popen([sys.executable, "-S", "-c", ""], preexec_fn=let_parent_trace)
        try:
            with HeldProcess(child.pid) as held:
                vdso.install(held, page.path)
        finally:
            child.kill()
            child.wait()
    except (OSError, subprocess.SubprocessError) as error:
        return Means(name, False, f"ptrace: {error}: {instead}")
    finally:
        page.close()
    return Means(name, True, "programs get it at exec (ptrace); enough for schedulers in Go")


def _wait_takeover() -> Means:
    name, instead = "wait takeover", "schedulers that are not Go programs keep the real clock"
    try:
        program = tree.program()
    except OSError as error:
        return Means(name, False, f"{error}: {instead}")
    return Means(name, True, f"gives the simulated clock to programs of any kind ({program})")
