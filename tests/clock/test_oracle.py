"""Each reason for which a scheduler is not idle, seen; and each part of the method, missed where it is left out."""

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from batkube.clock.oracle import IdleOracle
from batkube.clock.server_side import ServerLook
from batkube.clock.threads import Thread
from batkube.clock.verdict import Verdict

from .conftest import StartPython, line, state, tell, until

WAITS = "print('ready', flush=True); input()"
SPINS = "print('ready', flush=True)\nwhile True: pass"


class Server:
    """A ServerSide in the hands of a test: nothing is accepted or read unless the test does."""

    def __init__(self) -> None:
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port: int = self.socket.getsockname()[1]
        self.accepted: list[socket.socket] = []
        self.is_busy = False

    def accept(self) -> socket.socket:
        connection, _ = self.socket.accept()
        self.accepted.append(connection)
        return connection

    def busy(self) -> bool:
        return self.is_busy

    def connections(self) -> list[socket.socket]:
        return self.accepted

    def listener(self) -> socket.socket | None:
        return self.socket


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


def idle(oracle: IdleOracle) -> bool:
    return oracle.look().idle


def name(connection: socket.socket) -> str:
    host, port = connection.getpeername()
    return f"{host}:{port}"


def settled(oracle: IdleOracle, kind: str) -> Verdict:
    """The verdict once its kind is the one expected."""
    last = oracle.look()

    def expected() -> bool:
        nonlocal last
        last = oracle.look()
        return last.kind == kind

    until(expected)
    return last


CONNECTS = """
import socket, sys, time
s = socket.create_connection(('127.0.0.1', int(sys.argv[1])))
print('ready', flush=True)
"""


class TestProcesses:
    def test_a_process_that_waits_is_idle(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(WAITS)
        line(process)
        oracle.add(process.pid)
        until(lambda: idle(oracle))
        assert oracle.look() == Verdict(True)

    def test_a_busy_one_is_running(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(SPINS)
        line(process)
        oracle.add(process.pid)
        for _ in range(200):
            assert not idle(oracle)
        verdict = settled(oracle, "running")
        assert verdict.reason == f"thread {process.pid} of process {process.pid} runs"
        assert oracle.counts.not_idle["running"] > 0

    def test_one_busy_thread_of_many_is_enough(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(
            "import threading, time\n"
            "def spin():\n while True: pass\n"
            "for _ in range(5): threading.Thread(target=time.sleep, args=(1000,), daemon=True).start()\n"
            "threading.Thread(target=spin, daemon=True).start()\n"
            "print('ready', flush=True); input()"
        )
        line(process)
        oracle.add(process.pid)
        for _ in range(200):
            assert not idle(oracle)

    def test_asleep_while_it_writes_is_not_idle(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python("import os\nwhile True: os.write(1, bytes(4096))")  # nobody reads: the pipe gets full
        oracle.add(process.pid)
        verdict = settled(oracle, "working")
        assert verdict.reason == f"thread {process.pid} of process {process.pid} is in system call write"

    def test_a_stopped_one_is_not_idle(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(WAITS)
        line(process)
        oracle.add(process.pid)
        until(lambda: idle(oracle))
        os.kill(process.pid, signal.SIGSTOP)
        until(lambda: state(process.pid) == "T")
        assert not idle(oracle)
        until(lambda: oracle.look().reason == f"thread {process.pid} of process {process.pid} is in state T")

    def test_a_dead_one_is_gone_not_idle(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(WAITS)
        line(process)
        oracle.add(process.pid)
        until(lambda: idle(oracle))
        process.kill()
        until(lambda: state(process.pid) == "Z")  # nobody has waited for it yet
        assert oracle.look() == Verdict(False, f"process {process.pid} has ended", "gone", gone=True)
        process.wait()
        assert oracle.look().gone

    def test_one_that_dies_between_the_looks_is_not_idle(
        self, oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        process = start_python(WAITS)
        line(process)
        oracle.add(process.pid)
        until(lambda: idle(oracle))

        def die() -> bool:
            process.kill()
            process.wait()
            return False

        monkeypatch.setattr(server, "busy", die)
        assert not idle(oracle)
        assert oracle.look().gone

    def test_one_that_has_become_a_zombie_between_the_looks_is_not_idle(
        self, oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        process = start_python(WAITS)
        line(process)
        oracle.add(process.pid)
        until(lambda: idle(oracle))

        def die() -> bool:
            process.kill()
            until(lambda: state(process.pid) == "Z")
            return False

        monkeypatch.setattr(server, "busy", die)
        assert not idle(oracle)

    def test_a_pid_that_never_was_is_gone(self, oracle: IdleOracle) -> None:
        oracle.add(2**22)
        assert oracle.look().gone

    def test_a_forgotten_process_does_not_count(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(SPINS)
        line(process)
        oracle.add(process.pid)
        assert not idle(oracle)
        oracle.remove(process.pid)
        assert idle(oracle)

    def test_it_does_not_observe_itself(self, oracle: IdleOracle) -> None:
        with pytest.raises(ValueError, match="itself"):
            oracle.add(os.getpid())


class TestDescendants:
    def test_a_busy_child_counts(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(
            "import subprocess, sys\n"
            "child = subprocess.Popen([sys.executable, '-S', '-c', 'while True: pass'])\n"
            "print(child.pid, flush=True); input(); child.kill(); child.wait(); print('killed', flush=True); input()"
        )
        child = int(line(process))
        oracle.add(process.pid)
        for _ in range(200):
            assert not idle(oracle)
        until(lambda: oracle.look().reason == f"thread {child} of process {child} runs")
        tell(process)
        assert line(process) == "killed"
        until(lambda: idle(oracle))

    def test_an_orphan_is_still_followed(self, oracle: IdleOracle, start_python: StartPython) -> None:
        """Its parent has ended, so that nothing under /proc leads from the root to it."""
        orphan = (
            "import os, signal\n"
            "def spin(*args):\n while True: pass\n"
            "signal.signal(signal.SIGUSR1, spin); print(os.getpid(), flush=True); signal.pause()"
        )
        parent = "import signal, subprocess, sys; subprocess.Popen(sys.argv[1:]); signal.pause()"
        process = start_python(
            "import subprocess, sys\n"
            f"orphan = [sys.executable, '-S', '-c', {orphan!r}]\n"
            f"parent = subprocess.Popen([sys.executable, '-S', '-c', {parent!r}, *orphan])\n"
            "input(); parent.kill(); parent.wait(); print('orphaned', flush=True); input()"
        )
        pid = int(line(process))
        oracle.add(process.pid)
        until(lambda: idle(oracle))
        tell(process)
        assert line(process) == "orphaned"
        until(lambda: idle(oracle))
        os.kill(pid, signal.SIGUSR1)
        until(lambda: oracle.look().reason == f"thread {pid} of process {pid} runs")

    def test_a_shell_that_polls_is_idle_while_it_sleeps(self, oracle: IdleOracle) -> None:
        process = subprocess.Popen(["/bin/sh", "-c", "while true; do sleep 1000; done"], start_new_session=True)
        try:
            oracle.add(process.pid)
            until(lambda: idle(oracle))
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def test_a_shell_that_starts_one_program_after_the_other_is_never_idle(self, oracle: IdleOracle) -> None:
        process = subprocess.Popen(["/bin/sh", "-c", "while true; do /bin/true; done"], start_new_session=True)
        try:
            until(lambda: Path(f"/proc/{process.pid}/comm").read_text() != Path("/proc/self/comm").read_text())
            oracle.add(process.pid)
            end = time.monotonic() + 1
            while time.monotonic() < end:
                assert not idle(oracle)
        finally:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()


class TestServerSide:
    def test_a_busy_server(self, oracle: IdleOracle, server: Server) -> None:
        assert idle(oracle)
        server.is_busy = True
        assert oracle.look().kind == "server busy"

    def test_a_connection_to_be_accepted(self, oracle: IdleOracle, server: Server, start_python: StartPython) -> None:
        process = start_python(CONNECTS + "input()", server.port)
        line(process)
        oracle.add(process.pid)
        assert settled(oracle, "to accept").reason == "a connection waits to be accepted"
        server.accept()
        until(lambda: idle(oracle))

    def test_without_the_listening_socket_that_is_missed(
        self, oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The ablation: a request sits in a connection that nobody has accepted, and all looks idle."""
        process = start_python(CONNECTS + "s.sendall(b'request'); print('sent', flush=True); input()", server.port)
        line(process), line(process)
        oracle.add(process.pid)
        monkeypatch.setattr(server, "listener", lambda: None)
        until(lambda: idle(oracle))

    def test_bytes_the_server_has_not_read(self, oracle: IdleOracle, server: Server, start_python: StartPython) -> None:
        process = start_python(CONNECTS + "s.sendall(b'request'); input()", server.port)
        line(process)
        connection = server.accept()
        oracle.add(process.pid)
        assert settled(oracle, "in flight").reason == f"7 bytes are on their way from {name(connection)}"
        assert connection.recv(100) == b"request"
        until(lambda: idle(oracle))

    def test_bytes_the_program_has_not_read(
        self, oracle: IdleOracle, server: Server, start_python: StartPython
    ) -> None:
        process = start_python(CONNECTS + "input(); s.recv(100); print('read', flush=True); input()", server.port)
        line(process)
        connection = server.accept()
        oracle.add(process.pid)
        until(lambda: idle(oracle))
        connection.sendall(b"event")
        assert settled(oracle, "in flight").reason == f"5 bytes are on their way to {name(connection)}"
        tell(process)
        assert line(process) == "read"
        until(lambda: idle(oracle))

    def test_bytes_still_in_the_queue_of_the_sender(
        self, oracle: IdleOracle, server: Server, start_python: StartPython
    ) -> None:
        server.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        code = CONNECTS + "s.setblocking(False)\nprint(s.send(bytes(1 << 20)), flush=True); input()"
        process = start_python(code, server.port)
        line(process)
        left = int(line(process))
        connection = server.accept()
        oracle.add(process.pid)
        while left:
            assert settled(oracle, "in flight")
            left -= len(connection.recv(1 << 16))
        until(lambda: idle(oracle))

    def test_without_the_look_at_sockets_both_are_missed(
        self, oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The ablation: the server has answered, the program has not been woken yet."""
        process = start_python(CONNECTS + "s.sendall(b'request'); input()", server.port)
        line(process)
        server.accept().sendall(b"event")
        oracle.add(process.pid)
        assert settled(oracle, "in flight")
        monkeypatch.setattr(ServerLook, "look", lambda self, again=False: None)
        until(lambda: idle(oracle))

    def test_what_others_leave_unread_does_not_matter(
        self, oracle: IdleOracle, server: Server, start_python: StartPython
    ) -> None:
        process = start_python(WAITS)
        line(process)
        oracle.add(process.pid)
        with socket.create_connection(("127.0.0.1", server.port)):
            server.accept().sendall(b"event")
            until(lambda: idle(oracle))

    def test_connections_to_other_servers_do_not_matter(
        self, oracle: IdleOracle, server: Server, start_python: StartPython
    ) -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            process = start_python(CONNECTS + "s.sendall(b'x'); input()", other.getsockname()[1])
            line(process)
            connection, _ = other.accept()
            with connection:
                connection.sendall(b"unread")
                oracle.add(process.pid)
                until(lambda: idle(oracle))

    def test_a_client_of_the_other_address_family(self, server: Server, start_python: StartPython) -> None:
        """A server on :: sees IPv4 clients in IPv6 clothes; the clients know nothing of that."""
        with socket.create_server(("::", 0), family=socket.AF_INET6, dualstack_ipv6=True) as listener:
            server.socket.close()
            server.socket = listener
            process = start_python(CONNECTS + "input()", listener.getsockname()[1])
            line(process)
            oracle = IdleOracle(server)
            oracle.add(process.pid)
            connection = server.accept()
            until(lambda: idle(oracle))
            connection.sendall(b"event")
            assert settled(oracle, "in flight")
            oracle.close()

    def test_a_connection_closed_by_the_program(
        self, oracle: IdleOracle, server: Server, start_python: StartPython
    ) -> None:
        process = start_python(
            CONNECTS + "s.sendall(b'bye'); s.close(); print('closed', flush=True); input()", server.port
        )
        line(process), line(process)
        oracle.add(process.pid)
        connection = server.accept()
        assert settled(oracle, "in flight")
        assert connection.recv(100) == b"bye"
        until(lambda: idle(oracle))


class TestTwoLooks:
    """Two processes take turns: one runs only while the other sleeps, so that at no moment both sleep."""

    TURNS = """
import os, sys
mine, others = int(sys.argv[1]), int(sys.argv[2])
os.set_blocking(mine, False)
print('ready', flush=True)
def spin_until_told():
    while True:
        try:
            return os.read(mine, 1)
        except BlockingIOError:
            pass
while True:
    os.set_blocking(mine, True); os.read(mine, 1)     # asleep
    os.set_blocking(mine, False); spin_until_told()   # busy
"""

    @pytest.fixture
    def takes_turns(
        self, oracle: IdleOracle, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[list["subprocess.Popen[bytes]"]]:
        """The second process is busy; as soon as the first was looked at, they change places."""
        pipes = [os.pipe(), os.pipe()]
        processes = []
        for number in (0, 1):
            mine, others = pipes[number][0], pipes[1 - number][0]
            process = subprocess.Popen(
                [sys.executable, "-S", "-c", self.TURNS, str(mine), str(others)],
                pass_fds=(mine, others),
                stdout=subprocess.PIPE,
            )
            line(process)
            processes.append(process)
        first, second = processes
        until(lambda: state(first.pid) == state(second.pid) == "S")
        os.write(pipes[1][1], b"x")
        until(lambda: state(second.pid) == "R")
        look = Thread.look

        def change_places(thread: Thread) -> None:
            look(thread)
            if thread.pid == first.pid and state(first.pid) == "S" and state(second.pid) == "R":
                os.write(pipes[0][1], b"x")
                until(lambda: state(first.pid) == "R")
                os.write(pipes[1][1], b"x")
                until(lambda: state(second.pid) == "S")

        monkeypatch.setattr(Thread, "look", change_places)
        for process in processes:
            oracle.add(process.pid)
        yield processes
        for process in processes:
            process.kill()
            process.communicate()
        for pipe in pipes:
            for fd in pipe:
                os.close(fd)

    def test_never_idle(self, oracle: IdleOracle, takes_turns: object) -> None:
        verdict = oracle.look()
        assert verdict.kind == "woken", verdict

    def test_with_one_look_only_that_is_missed(
        self, oracle: IdleOracle, takes_turns: object, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The ablation: each was asleep when it was looked at."""
        monkeypatch.setattr(IdleOracle, "_second_look", lambda self: None)
        assert idle(oracle)

    def test_one_that_ran_between_the_looks_and_sleeps_again(
        self, oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        process = start_python("import sys\nfor line in sys.stdin: print('turn', flush=True)")
        tell(process)
        line(process)
        oracle.add(process.pid)
        until(lambda: idle(oracle))

        def turn() -> bool:
            tell(process)
            line(process)
            until(lambda: state(process.pid) == "S")
            return False

        monkeypatch.setattr(server, "busy", turn)
        assert oracle.look().reason == f"thread {process.pid} of process {process.pid} ran meanwhile"


class TestAtRest:
    async def test_waits_for_the_end_of_work(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(
            "import time\nprint('ready', flush=True); end = time.monotonic() + 0.2\n"
            "while time.monotonic() < end: pass\n"
            "print('done', flush=True); input()"
        )
        line(process)
        oracle.add(process.pid)
        assert (await oracle.at_rest(timeout=20)).idle
        assert process.stdout is not None
        os.set_blocking(process.stdout.fileno(), False)
        assert line(process) == "done"
        assert oracle.counts.rests == 1
        assert oracle.counts.looks < 400  # it looks less and less often
        assert oracle.counts.longest_wait > 0.1

    async def test_says_why_not_when_time_is_over(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(SPINS)
        line(process)
        oracle.add(process.pid)
        verdict = await oracle.at_rest(timeout=0.1)
        assert not verdict.idle
        assert not verdict.gone
        assert verdict.reason

    async def test_reports_a_death_at_once(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(SPINS)
        line(process)
        oracle.add(process.pid)
        asyncio.get_running_loop().call_later(0.1, process.kill)
        assert (await oracle.at_rest(timeout=None)).gone

    async def test_others_go_on_meanwhile(self, oracle: IdleOracle, start_python: StartPython) -> None:
        process = start_python(SPINS)
        line(process)
        oracle.add(process.pid)
        turns = 0

        async def count() -> None:
            nonlocal turns
            while True:
                await asyncio.sleep(0.01)
                turns += 1

        counting = asyncio.create_task(count())
        await oracle.at_rest(timeout=0.3)
        counting.cancel()
        assert turns >= 5

    @pytest.mark.parametrize(("turns", "missed"), [(0, True), (5, False)])
    async def test_a_connection_just_accepted_is_waited_for(
        self, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch, turns: int, missed: bool
    ) -> None:
        """An event loop tells the server about a connection some turns after it has accepted it."""
        monkeypatch.setattr("batkube.clock.oracle.TURNS", turns)
        process = start_python(CONNECTS + "s.sendall(b'request'); input()", server.port)
        line(process)
        until(lambda: state(process.pid) == "S")
        connection, _ = server.socket.accept()
        loop = asyncio.get_running_loop()
        loop.call_soon(loop.call_soon, loop.call_soon, server.accepted.append, connection)
        oracle = IdleOracle(server)
        oracle.add(process.pid)
        verdict = await oracle.at_rest(timeout=0)
        assert verdict.idle == missed, verdict
        oracle.close()
        server.accepted.append(connection)
