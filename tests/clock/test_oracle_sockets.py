"""Each reason on the way between scheduler and server for which it is not idle; missed without the look there."""

import socket
from collections.abc import Iterator

import pytest

from batkube.clock.loopback import Loopback
from batkube.clock.oracle import IdleOracle
from batkube.clock.server_side import ServerLook
from batkube.clock.tcp import Connection, End

from .conftest import StartPython, idle, line, settled, state, tell, until
from .oracle_stage import CONNECTS, WAITS, Server


def name(connection: socket.socket) -> str:
    host, port = connection.getpeername()
    return f"{host}:{port}"


class TestTraffic:
    """Where nothing was sent since all was settled, no connection is asked."""

    def test_it_differs_after_something_was_sent(self, server: Server) -> None:
        loopback = Loopback()
        before = loopback.traffic()
        assert b"lo:" in before
        with socket.create_connection(("127.0.0.1", server.port)):
            assert loopback.traffic() != before
        loopback.close()

    async def test_quiet_connections_are_not_asked_again(
        self, oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        process = start_python(CONNECTS + "input()", server.port)
        line(process)
        server.accept()
        oracle.add(process.pid)
        assert (await oracle.at_rest(timeout=20)).idle
        near_end, questions = Connection.near_end, list[Connection]()

        def asked(connection: Connection) -> End:
            questions.append(connection)
            return near_end(connection)

        monkeypatch.setattr(Connection, "near_end", asked)
        for _ in range(1000):  # other programs of this machine may talk meanwhile
            questions.clear()
            assert (await oracle.at_rest(timeout=20)).idle
            if not questions:
                return
        pytest.fail("asked each time")

    async def test_one_that_the_server_does_not_know_yet_is_asked(
        self, oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An event loop needs some turns from accepting a connection to knowing it."""
        process = start_python(CONNECTS + "s.sendall(b'request'); print('sent', flush=True); input()", server.port)
        line(process), line(process)
        until(lambda: state(process.pid) == "S")
        server.accept()
        oracle.add(process.pid)
        looks: Iterator[list[socket.socket]] = iter([[]])
        monkeypatch.setattr(server, "connections", lambda: next(looks, server.accepted))
        assert (await oracle.at_rest(timeout=0.2)).kind == "in flight"


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

    def test_a_program_that_does_not_take_all_that_is_written(
        self, oracle: IdleOracle, server: Server, start_python: StartPython
    ) -> None:
        process = start_python(CONNECTS + "input()", server.port)
        line(process)
        connection = server.accept()
        oracle.add(process.pid)
        until(lambda: idle(oracle))
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
