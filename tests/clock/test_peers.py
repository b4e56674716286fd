"""The process at the other end of a connection, and the meaning of silence."""

import asyncio
import socket

from batkube.clock.peers import peer_pid
from batkube.clock.quiet import QuietPeriod

from .conftest import StartPython, line

CONNECTS = (
    "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1]))); print('ready', flush=True); "
)


def test_the_process_at_the_other_end_is_found(start_python: StartPython) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = start_python(CONNECTS + "input()", listener.getsockname()[1])
        line(process)
        connection, _ = listener.accept()
        with connection:
            assert peer_pid(connection) == process.pid


def test_a_closed_connection_leads_to_nobody(start_python: StartPython) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        process = start_python(CONNECTS, listener.getsockname()[1])
        connection, _ = listener.accept()
        process.wait()
        with connection:
            assert peer_pid(connection) is None
        assert peer_pid(connection) is None  # closed at this end too


def test_our_own_process_is_nobody() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()):
        connection, _ = listener.accept()
        with connection:
            assert peer_pid(connection) is None


async def test_silence_is_quiescence_and_a_request_breaks_it() -> None:
    loop = asyncio.get_running_loop()
    requests = 0

    def request() -> None:
        nonlocal requests
        requests += 1

    loop.call_later(0.1, request)
    start = loop.time()
    verdict = await QuietPeriod(lambda: requests, 0.2).wait_for_quiescence(timeout=120)
    assert verdict.idle
    assert loop.time() - start >= 0.3 - 0.01


async def test_a_chatterbox_is_not_quiescent() -> None:
    count = iter(range(1_000_000))
    verdict = await QuietPeriod(lambda: next(count), 0.05).wait_for_quiescence(timeout=0.2)
    assert not verdict.idle
    assert verdict.reason == "requests came less than 0.05 s ago"
