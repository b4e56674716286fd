"""The asking end of ZeroMQ, with libzmq at the other end, and with others that do as they like."""

import socket
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest
import zmq

from batkube.batsim.errors import ProtocolError, SimulatorError
from batkube.simulator.standalone.request_socket import RequestSocket

SIZES = (0, 1, 230, 255, 256, 65_535, 65_536, 3_000_000)
GREETING = b"\xff" + bytes(7) + b"\x01\x7f\x03\x01NULL" + bytes(16) + bytes(32)
READY = b"\x04\x19\x05READY\x0bSocket-Type\x00\x00\x00\x03REP"


@pytest.fixture
def beside() -> Iterator[ThreadPoolExecutor]:
    """Tell where the other end runs."""
    with ThreadPoolExecutor(1) as executor:
        yield executor


@pytest.mark.parametrize("kind", [zmq.REP, zmq.ROUTER])
@pytest.mark.parametrize("place", ["ipc://{}/socket", "ipc://@{}", "tcp://127.0.0.1:*"])
def test_libzmq_hears_what_is_asked_and_its_answer_arrives(
    tmp_path: Path, beside: ThreadPoolExecutor, kind: int, place: str
) -> None:
    with zmq.Context() as context, context.socket(kind) as other:
        other.bind(place.format(tmp_path))
        endpoint = other.getsockopt_string(zmq.LAST_ENDPOINT).rstrip("\0")

        def echo() -> None:
            for _ in SIZES:
                *envelope, question = other.recv_multipart()
                other.send_multipart([*envelope, question[::-1]])

        echoed = beside.submit(echo)
        with RequestSocket(endpoint) as asking:
            for size in SIZES:
                question = bytes(index % 251 for index in range(size))
                assert asking.ask(question) == question[::-1]
        echoed.result()


class Stranger:
    """Somebody who says some bytes and no more, whatever is asked."""

    def __init__(self, listener: socket.socket, beside: ThreadPoolExecutor) -> None:
        self._listener = listener
        self._beside = beside
        self.heard: Future[bytes]

    def says(self, content: bytes) -> str:
        """Have him say this; where he is reached."""
        self.heard = self._beside.submit(self._play, content)
        return f"ipc://{self._listener.getsockname()}"

    def _play(self, content: bytes) -> bytes:
        connection, _ = self._listener.accept()
        with connection:
            connection.sendall(content)
            connection.shutdown(socket.SHUT_WR)
            return b"".join(iter(lambda: connection.recv(4096), b""))


@pytest.fixture
def stranger(tmp_path: Path, beside: ThreadPoolExecutor) -> Iterator[Stranger]:
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
        listener.listen()
        yield Stranger(listener, beside)


def test_a_ping_is_answered_and_other_commands_are_passed_over(stranger: Stranger) -> None:
    commands = b"\x04\x0a\x04PING\x00\x64abc" + b"\x04\x05\x04WHAT"
    endpoint = stranger.says(GREETING + READY + commands + b"\x01\x00" + commands + b"\x00\x02ok")
    with RequestSocket(endpoint) as asking:
        assert asking.ask(b"?") == b"ok"
    heard = stranger.heard.result()
    assert heard.endswith(b"\x01\x00\x00\x01?" + 2 * b"\x04\x08\x04PONGabc")


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "no ZeroMQ"),
        (GREETING.replace(b"\x7f\x03", b"\x7f\x02"), "ZeroMQ, but not ZMTP 3 without security"),
        (GREETING.replace(b"NULL", b"CURV"), "ZeroMQ, but not ZMTP 3 without security"),
        (GREETING + b"\x04\x07\x05ERROR\x00", "where it was to say READY"),
        (GREETING + READY.replace(b"REP", b"PUB"), "as a ZeroMQ socket that is neither REP nor ROUTER"),
        (GREETING + READY + b"\x00\x02ok", "an answer without the empty frame that goes before it"),
        (GREETING + READY + b"\x01\x00\x01\x01a\x00\x01b", "an answer of several parts"),
    ],
)
def test_who_speaks_otherwise_is_told_off(stranger: Stranger, content: bytes, complaint: str) -> None:
    endpoint = stranger.says(content)
    with (
        pytest.raises(ProtocolError, match=f"^{endpoint}: the decision process speaks .*{complaint}"),
        RequestSocket(endpoint) as asking,
    ):
        asking.ask(b"?")


def test_who_goes_away_is_not_waited_for(stranger: Stranger) -> None:
    endpoint = stranger.says(GREETING + READY + b"\x01\x00\x00")
    with (
        pytest.raises(SimulatorError, match=f"^{endpoint}: the decision process is gone$"),
        RequestSocket(endpoint) as asking,
    ):
        asking.ask(b"?")


@pytest.mark.parametrize("endpoint", ["nowhere", "tcp://localhost", "tcp://:1", "udp://localhost:1", "ipc://"])
def test_other_endpoints_are_refused(endpoint: str) -> None:
    with pytest.raises(OSError, match="expected tcp://HOST:PORT or ipc://PATH"):
        RequestSocket(endpoint)
