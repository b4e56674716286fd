"""The asking end of ZeroMQ (REQ) over one connection, in the thread that asks.

libzmq hands every message from one thread to another, which for a short message takes longer than its answer. Here are
the parts of its protocol that a question and its answer need: ZMTP 3 without security, https://rfc.zeromq.org/spec/23/.
"""

import os
import socket
import time

from batkube.batsim.errors import ProtocolError, SimulatorError

RETRY = 0.02
"""Real seconds between two tries to connect."""
LOOK = 300e-6
"""Real seconds for which an answer is looked for again and again: a quick answer is received sooner than by
sleeping."""
_CHUNK = 65536
_MORE, _LONG, _COMMAND = 1, 2, 4
"""The flags of a frame."""
_GREETING = b"\xff" + bytes(8) + b"\x7f" + b"\x03\x00" + b"NULL".ljust(20, b"\0") + bytes(32)
_VERSION, _MECHANISM = 10, slice(12, 32)
_READY = b"\x05READY"
_SOCKET_TYPE = b"\x0bSocket-Type"
_ANSWERING = (b"REP", b"ROUTER")
_ABSENT = (ConnectionError, FileNotFoundError, TimeoutError)


class RequestSocket:
    """Connects to an ``ipc://`` or ``tcp://`` endpoint, waiting until it is bound; then asks.

    Raises OSError if that can never be, ProtocolError if the other end does not speak ZMTP 3 or cannot answer, and
    SimulatorError if it is gone.
    """

    def __init__(self, endpoint: str) -> None:
        self._endpoint = endpoint
        while not self._is_open():
            time.sleep(RETRY)

    def __enter__(self) -> "RequestSocket":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def ask(self, question: bytes) -> bytes:
        """Send a message, and return the answer."""
        try:
            self._socket.sendall(_frame(b"", _MORE) + _frame(question))
            return self._answer()
        except (ConnectionError, _HungUp):
            raise SimulatorError(f"{self._endpoint}: the decision process is gone") from None

    def _is_open(self) -> bool:
        """Try to connect, and tell whether it succeeded."""
        self._received = b""
        try:
            self._socket = _connected(self._endpoint)
        except _ABSENT:
            return False
        try:
            self._shake_hands()
        except (ConnectionError, _HungUp):
            self._socket.close()
            return False
        except ProtocolError:
            self._socket.close()
            raise
        return True

    def _answer(self) -> bytes:
        delimiter, more = self._message_frame()
        if delimiter or not more:
            raise self._refusal("an answer without the empty frame that goes before it")
        answer, more = self._message_frame()
        if more:
            raise self._refusal("an answer of several parts")
        return answer

    def _message_frame(self) -> tuple[bytes, bool]:
        """Return the next frame that is no command, and whether more belong to it. A PING is answered."""
        while True:
            flags, body = self._read_frame()
            if not flags & _COMMAND:
                return body, bool(flags & _MORE)
            if body.startswith(b"\x04PING"):
                # After its name come two bytes with the sender's time-out, then what is to be echoed.
                self._socket.sendall(_frame(b"\x04PONG" + body[7:], _COMMAND))

    def _shake_hands(self) -> None:
        self._socket.sendall(_GREETING)
        signature = self._read(_VERSION)
        if (signature[0], signature[-1] & 1) != (0xFF, 1):
            raise self._refusal("no ZeroMQ")
        rest = self._read(len(_GREETING) - _VERSION)
        greeting = signature + rest
        if greeting[_VERSION] < 3 or greeting[_MECHANISM] != _GREETING[_MECHANISM]:
            raise self._refusal("ZeroMQ, but not ZMTP 3 without security")
        ready = _READY + _property(_SOCKET_TYPE, b"REQ") + _property(b"\x08Identity", b"")
        self._socket.sendall(_frame(ready, _COMMAND))
        flags, body = self._read_frame()
        if not (flags & _COMMAND and body.startswith(_READY)):
            raise self._refusal(f"{body!r} where it was to say READY")
        if not any(_property(_SOCKET_TYPE, kind) in body for kind in _ANSWERING):
            raise self._refusal("as a ZeroMQ socket that is neither REP nor ROUTER")

    def _refusal(self, what: str) -> ProtocolError:
        return ProtocolError(f"{self._endpoint}: the decision process speaks {what}")

    def _read_frame(self) -> tuple[int, bytes]:
        flags, size = self._read(2)
        if flags & _LONG:
            size = int.from_bytes(bytes([size]) + self._read(7), "big")
        return flags, self._read(size)

    def _read(self, size: int) -> bytes:
        """Read ``size`` bytes. Raises _HungUp at the end of the stream."""
        while len(self._received) < size:
            chunk = self._chunk()
            if not chunk:
                raise _HungUp
            self._received += chunk
        taken, self._received = self._received[:size], self._received[size:]
        return taken

    def _chunk(self) -> bytes:
        deadline = time.monotonic() + LOOK
        while time.monotonic() < deadline:
            try:
                return self._socket.recv(_CHUNK, socket.MSG_DONTWAIT)
            except BlockingIOError:
                # Another process that wants this core may be the one that answers.
                os.sched_yield()
        return self._socket.recv(_CHUNK)


class _HungUp(Exception):
    """The other end has closed the connection."""


def _connected(endpoint: str) -> socket.socket:
    scheme, _, address = endpoint.partition("://")
    if scheme == "ipc" and address:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(f"\0{address[1:]}" if address.startswith("@") else address)
        except OSError:
            connection.close()
            raise
        return connection
    host, _, port = address.rpartition(":")
    if scheme != "tcp" or not host or not port.isdecimal():
        raise OSError("expected tcp://HOST:PORT or ipc://PATH")
    connection = socket.create_connection((host.strip("[]"), int(port)))
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


def _frame(body: bytes, flags: int = 0) -> bytes:
    if len(body) < 256:
        return bytes((flags, len(body))) + body
    return bytes((flags | _LONG,)) + len(body).to_bytes(8, "big") + body


def _property(name: bytes, value: bytes) -> bytes:
    """Return a property of READY: its name after one byte with its length, and its value after four."""
    return name + len(value).to_bytes(4, "big") + value
