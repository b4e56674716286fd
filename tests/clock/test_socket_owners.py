"""The process at the other end of each connection, also where there are thousands of them."""

import pytest

from batkube.clock import socket_owners
from batkube.clock.oracle import IdleOracle
from batkube.clock.peers import socket_inodes

from .conftest import StartPython, line, tell
from .oracle_stage import CONNECTS, Server

MANY = """
import socket, sys
sockets = [socket.create_connection(('127.0.0.1', int(sys.argv[1]))) for _ in range(50)]
print('ready', flush=True); input()
"""


def test_each_connection_has_the_process_that_opened_it(
    oracle: IdleOracle, server: Server, start_python: StartPython
) -> None:
    first, second = (start_python(CONNECTS + "input()", server.port) for _ in range(2))
    stranger = start_python(CONNECTS + "input()", server.port)
    line(first), line(second), line(stranger)
    oracle.add(first.pid)
    oracle.add(second.pid)
    places = [oracle.place_of(server.accept()) for _ in range(3)]
    assert sorted(place for place in places if place is not None) == sorted([first.pid, second.pid])


def test_many_connections_at_once_read_the_open_files_once(
    oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
) -> None:
    """kube-scheduler sends the events of a backlog on a connection each, thousands at the same time."""
    process = start_python(MANY, server.port)
    line(process)
    oracle.add(process.pid)
    reads: list[int] = []

    def counted(pid: int) -> set[int] | None:
        reads.append(pid)
        return socket_inodes(pid)

    monkeypatch.setattr(socket_owners, "socket_inodes", counted)
    assert [oracle.place_of(server.accept()) for _ in range(50)] == [process.pid] * 50
    assert reads == [process.pid]


def test_a_connection_that_is_opened_later_is_found(
    oracle: IdleOracle, server: Server, start_python: StartPython
) -> None:
    process = start_python(CONNECTS + "input()\n" + CONNECTS + "input()", server.port)
    line(process)
    oracle.add(process.pid)
    assert oracle.place_of(server.accept()) == process.pid
    tell(process)
    line(process)
    assert oracle.place_of(server.accept()) == process.pid


def test_a_stranger_is_one_of_the_processes_once_it_is_observed(
    oracle: IdleOracle, server: Server, start_python: StartPython
) -> None:
    process = start_python(CONNECTS + "input()", server.port)
    line(process)
    connection = server.accept()
    assert oracle.place_of(connection) is None
    oracle.add(process.pid)
    assert oracle.place_of(connection) == process.pid


def test_a_process_whose_files_cannot_be_seen_may_have_any_socket(
    oracle: IdleOracle, server: Server, start_python: StartPython, monkeypatch: pytest.MonkeyPatch
) -> None:
    process = start_python(CONNECTS + "input()", server.port)
    line(process)
    oracle.add(process.pid)
    monkeypatch.setattr(socket_owners, "socket_inodes", lambda pid: None)
    assert oracle.place_of(server.accept()) == process.pid
