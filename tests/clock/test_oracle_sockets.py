"""Each reason on the way between scheduler and server for which it is not idle; missed without the look there."""

import socket
from unittest.mock import AsyncMock

import pytest
import uvloop

from batkube.clock.oracle import IdleOracle
from batkube.clock.pause import FinePause
from batkube.clock.server_side import ServerLook
from batkube.clock.tcp import Connection, End, SockDiag
from tests.waiting import wait_until

from .conftest import StartPython, idle, line, settled, state, tell
from .oracle_stage import CONNECTS, WAITS, Server
from .order_server import OrderServer


def name(connection: socket.socket) -> str:
    host, port = connection.getpeername()
    return f"{host}:{port}"


class TestSettled:
    """A connection on which nothing moved since all was settled is not asked about."""

    def test_far_ends_are_asked_once(
        self, oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        process = start_python(CONNECTS + "input()", server.port)
        line(process)
        connection = server.accept()
        oracle.add(process.pid)
        wait_until("the process is idle", lambda: idle(oracle))
        far_ends, questions = SockDiag.far_ends, list[Connection]()

        def asked(diag: SockDiag, connections: list[Connection]) -> list[End | None]:
            questions.extend(connections)
            return far_ends(diag, connections)

        monkeypatch.setattr(SockDiag, "far_ends", asked)
        wait_until("the process is idle", lambda: idle(oracle))
        assert not questions
        connection.sendall(b"event")
        assert settled(oracle, "in flight")
        assert questions

    def test_what_waits_for_an_acknowledgement_is_seen(
        self, oracle: IdleOracle, server: Server, start_python: StartPython
    ) -> None:
        """Nagle's algorithm: until the first piece is acknowledged, the second stays with the program."""
        process = start_python(
            CONNECTS
            + "for piece in (b'req', b'uest'): input(); print('sent', s.send(piece), flush=True)\n"
            + "input()",
            server.port,
        )
        line(process)
        connection = server.accept()
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_QUICKACK, 0)  # acknowledge after 40 ms, or with an answer
        oracle.add(process.pid)
        wait_until("the process is idle", lambda: idle(oracle))
        tell(process)
        line(process)
        assert connection.recv(100) == b"req"
        wait_until("the process is idle", lambda: idle(oracle))
        tell(process)
        line(process)
        wait_until("the process sleeps", lambda: state(process.pid) == "S")
        assert not idle(oracle)
        assert connection.recv(100) == b"uest"

    async def test_one_that_the_server_does_not_know_yet_is_asked(
        self, oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An event loop needs some turns from accepting a connection to knowing it."""
        process = start_python(CONNECTS + "s.sendall(b'request'); print('sent', flush=True); input()", server.port)
        line(process), line(process)
        wait_until("the process sleeps", lambda: state(process.pid) == "S")
        server.accept()
        oracle.add(process.pid)
        with monkeypatch.context() as unknown:
            unknown.setattr(server, "connections", list)
            wait_until("the process is idle", lambda: idle(oracle))
        assert (await oracle.wait_for_quiescence(timeout=0.2)).kind == "in flight"


@pytest.mark.parametrize("count", range(1, 8))
def test_connections_that_an_event_loop_accepts_one_by_one(
    count: int, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that it has accepted in its last turn is neither waiting to be accepted nor known to the server."""
    monkeypatch.setattr(FinePause, "sleep", AsyncMock())  # it leaves the loop time, too
    code = f"{CONNECTS}t = [socket.create_connection(s.getpeername()) for _ in range({count - 1})]\n"

    async def play() -> None:
        server = OrderServer()
        port = (await server.start()).rpartition(":")[2]
        process = start_python(
            code + "[one.sendall(b'request') for one in [s, *t]]; print('sent', flush=True); input()", port
        )
        line(process), line(process)
        wait_until("the process sleeps", lambda: state(process.pid) == "S")
        oracle = IdleOracle(server)
        oracle.add(process.pid)
        verdict = await oracle.wait_for_quiescence(timeout=0)
        assert server.heard == count or not verdict.idle
        oracle.close()
        await server.stop()

    uvloop.run(play())


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
        wait_until("the process is idle", lambda: idle(oracle))

    def test_without_the_listening_socket_that_is_missed(
        self, oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The ablation: a request sits in a connection that nobody has accepted, and all looks idle."""
        process = start_python(CONNECTS + "s.sendall(b'request'); print('sent', flush=True); input()", server.port)
        line(process), line(process)
        oracle.add(process.pid)
        monkeypatch.setattr(server, "listener", lambda: None)
        wait_until("the process is idle", lambda: idle(oracle))

    def test_bytes_the_server_has_not_read(self, oracle: IdleOracle, server: Server, start_python: StartPython) -> None:
        process = start_python(CONNECTS + "s.sendall(b'request'); input()", server.port)
        line(process)
        connection = server.accept()
        oracle.add(process.pid)
        assert settled(oracle, "in flight").reason == f"7 bytes are on their way from {name(connection)}"
        assert connection.recv(100) == b"request"
        wait_until("the process is idle", lambda: idle(oracle))

    def test_bytes_the_program_has_not_read(
        self, oracle: IdleOracle, server: Server, start_python: StartPython
    ) -> None:
        process = start_python(CONNECTS + "input(); s.recv(100); print('read', flush=True); input()", server.port)
        line(process)
        connection = server.accept()
        oracle.add(process.pid)
        wait_until("the process is idle", lambda: idle(oracle))
        connection.sendall(b"event")
        assert settled(oracle, "in flight").reason == f"5 bytes are on their way to {name(connection)}"
        tell(process)
        assert line(process) == "read"
        wait_until("the process is idle", lambda: idle(oracle))

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
        wait_until("the process is idle", lambda: idle(oracle))

    def test_without_the_look_at_sockets_both_are_missed(
        self, oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The ablation: the server has answered, the program has not been woken yet."""
        process = start_python(CONNECTS + "s.sendall(b'request'); input()", server.port)
        line(process)
        server.accept().sendall(b"event")
        oracle.add(process.pid)
        assert settled(oracle, "in flight")
        monkeypatch.setattr(ServerLook, "look", lambda self: None)
        monkeypatch.setattr(ServerLook, "arrived", lambda self: None)
        wait_until("the process is idle", lambda: idle(oracle))

    def test_what_others_leave_unread_does_not_matter(
        self, oracle: IdleOracle, server: Server, start_python: StartPython
    ) -> None:
        process = start_python(WAITS)
        line(process)
        oracle.add(process.pid)
        with socket.create_connection(("127.0.0.1", server.port)):
            server.accept().sendall(b"event")
            wait_until("the process is idle", lambda: idle(oracle))

    def test_a_program_that_does_not_take_all_that_is_written(
        self, oracle: IdleOracle, server: Server, start_python: StartPython
    ) -> None:
        process = start_python(CONNECTS + "input()", server.port)
        line(process)
        connection = server.accept()
        oracle.add(process.pid)
        wait_until("the process is idle", lambda: idle(oracle))
        server.not_read = [connection]
        assert oracle.look().kind == "server busy"

    def test_what_others_do_not_take_does_not_matter(
        self, oracle: IdleOracle, server: Server, start_python: StartPython
    ) -> None:
        process = start_python(WAITS)
        line(process)
        oracle.add(process.pid)
        with socket.create_connection(("127.0.0.1", server.port)):
            server.not_read = [server.accept()]
            wait_until("the process is idle", lambda: idle(oracle))

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
                wait_until("the process is idle", lambda: idle(oracle))

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
            wait_until("the process is idle", lambda: idle(oracle))
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
        wait_until("the process is idle", lambda: idle(oracle))
