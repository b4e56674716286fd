"""Bytes under way on TCP connections whose far end may be on this machine.

The kernel's send queue does not tell: bytes stay in it until they are acknowledged, and Linux delays that by up to 40
ms. Instead, the bytes that one end has sent are compared with those that the program at the other end has read. The
near end is asked with TCP_INFO, the far end by one exact sock_diag request (man 7 sock_diag; a dump of all sockets
takes 0.6 ms).
"""

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Callable, Sequence
from typing import NamedTuple, Protocol

_TCP_INFO, _TCP_QUICKACK = 11, 12
_FIONREAD = 0x541B
_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_INET_DIAG_INFO = 2
_ENOENT = 2
_LISTEN = 10
_FIN_COUNTED = frozenset((8, 9, 11))
"""The states CLOSE_WAIT, LAST_ACK and CLOSING: the kernel has counted the other end's FIN as a byte received."""

_INFO_SIZE = 216
_INFO = struct.Struct("=Q8xI52xQQ")
"""The fields of struct tcp_info from byte 128 on: bytes_received, notsent_bytes, bytes_sent, bytes_retrans."""
_REQUEST = struct.Struct("=IHHII BBBBI 2s2s16s16sI8s")
"""The request: struct nlmsghdr, struct inet_diag_req_v2."""
_REPLY_HEAD = 16 + 72
"""The size in bytes of struct nlmsghdr and struct inet_diag_msg; attributes follow."""
_BATCH = 32
"""The most questions at once: the answers must fit into the socket's receive buffer."""

_V4_IN_V6 = b"\0" * 10 + b"\xff\xff"
_ANY_COOKIE = b"\xff" * 8

_libc = ctypes.CDLL(None, use_errno=True)


class HasFileDescriptor(Protocol):
    """A socket, or an event loop's stand-in for one."""

    def fileno(self) -> int:
        """Return the descriptor; -1 when closed."""


class End(NamedTuple):
    """One end of a connection, in bytes since it was opened."""

    sent: int
    """Bytes written by the program at this end."""
    received: int
    """Bytes that have arrived at this end."""
    unread: int = 0
    """Bytes that have arrived, but were not read by the program; not filled in for the near end."""
    inode: int = 0
    """The inode of the socket, as in /proc/PID/fd; 0 if no process has it; not filled in for the near end."""


class Connection:
    """The near end of a TCP connection, by its file descriptor."""

    __slots__ = (
        "_counters",
        "_owes",
        "_settled",
        "_state",
        "answered",
        "fd",
        "local",
        "moves",
        "observed",
        "remote",
        "stood_at",
    )

    def __init__(self, fd: int) -> None:
        """Open the socket. Raises OSError if the descriptor is not, or no longer, a connected socket."""
        self.fd = fd
        self.local = _address(_libc.getsockname, fd)
        self.remote = _address(_libc.getpeername, fd)
        self._counters: tuple[int, ...] = ()
        self._state = 0
        self._settled: tuple[int, ...] | None = None
        self._owes = False
        """True if bytes that have come may not be acknowledged yet."""
        self.moves: int | None = None
        """The server's count of its traffic, as of the last look; None if it may not count all."""
        self.stood_at: int | None = None
        """The value of ``moves`` at which the connection need not be looked at."""
        self.observed = False
        """True if one of the observed processes had the far end when that was asked last."""
        self.answered = False
        """True if something was sent after the last bytes came, which acknowledges them."""

    def moved(self) -> bool:
        """Look at the connection; tell whether bytes were sent or have arrived since it was settled. Raises OSError."""
        self._acknowledge()
        self.stood_at = None
        _length.value = 256
        if _libc.getsockopt(self.fd, socket.IPPROTO_TCP, _TCP_INFO, _info, _length_at):
            raise _error()
        counters = _INFO.unpack_from(_info, 128)
        if counters == self._settled:
            self.stood_at = self.moves
            return False
        self._counters, self._state = counters, _info_bytes[0]
        return True

    def near_end(self) -> End:
        """Return this end, as it was when last looked at."""
        return End(*_sent_and_received(self._counters, self._state))

    def settle(self) -> None:
        """Note that all that was sent, either way, has arrived and was read, as of the last look."""
        self._settled = self._counters
        self._owes = not self.answered
        self.stood_at = self.moves if self.answered else None

    def unread(self) -> int:
        """Return how many bytes have arrived at this end and were not read. Raises OSError."""
        (count,) = struct.unpack("=i", fcntl.ioctl(self.fd, _FIONREAD, b"\0\0\0\0"))
        return int(count)

    def _acknowledge(self) -> None:
        """Acknowledge the bytes that had come when it was settled: they would hold up the other end's later bytes."""
        if self._owes:
            self._owes = False
            flag = ctypes.c_int(1)
            _libc.setsockopt(self.fd, socket.IPPROTO_TCP, _TCP_QUICKACK, ctypes.byref(flag), 4)

    def far_address(self) -> str:
        """Return the far end's address as people write it."""
        family, address, port = _parse(self.remote)
        host = socket.inet_ntop(family, address)
        return f"{f'[{host}]' if ':' in host else host}:{int.from_bytes(port, 'big')}"


class SockDiag:
    """Asks the kernel about the far ends of connections. Raises OSError if it does not answer such questions."""

    def __init__(self) -> None:
        if not hasattr(socket, "AF_NETLINK"):
            raise OSError("needs Linux")
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _NETLINK_SOCK_DIAG)
        self._socket.bind((0, 0))
        self._socket.settimeout(1)
        self._reply = bytearray(4096)
        self._info_at = 0
        self._requests: dict[tuple[bytes, bytes], bytes] = {}

    def far_ends(self, connections: Sequence[Connection]) -> list[End | None]:
        """Return the other ends, in the same order; None for one that is closed or not on this machine."""
        ends: list[End | None] = []
        for start in range(0, len(connections), _BATCH):
            batch = connections[start : start + _BATCH]
            self._socket.send(b"".join([self._request(connection) for connection in batch]))
            ends += [self._answer() for _ in batch]
        return ends

    def close(self) -> None:
        """Close the netlink socket."""
        self._socket.close()

    def _request(self, connection: Connection) -> bytes:
        key = (connection.local, connection.remote)
        request = self._requests.get(key)
        if request is None:
            family, near, near_port = _parse(connection.local)
            _, far, far_port = _parse(connection.remote)
            request = _REQUEST.pack(
                _REQUEST.size, _SOCK_DIAG_BY_FAMILY, 1, 0, 0,
                family, socket.IPPROTO_TCP, 1 << (_INET_DIAG_INFO - 1), 0, 0xFFF,
                far_port, near_port, far, near, 0, _ANY_COOKIE,
            )  # fmt: skip
            if len(self._requests) >= 4096:
                self._requests.clear()
            self._requests[key] = request
        return request

    def _answer(self) -> End | None:
        reply = self._reply
        self._socket.recv_into(reply)
        length, kind = struct.unpack_from("=IH", reply)
        if kind != _SOCK_DIAG_BY_FAMILY:
            (code,) = struct.unpack_from("=i", reply, 16)
            if code == -_ENOENT:
                return None
            raise OSError(-code, os.strerror(-code))
        state = reply[17]
        at = self._find_info(length)
        if state == _LISTEN or not at:
            return None  # not this connection, or only its remnant in TIME_WAIT: all its bytes have arrived
        unread, _, _, inode = struct.unpack_from("=IIII", reply, 16 + 56)
        return End(*_sent_and_received(_INFO.unpack_from(reply, at + 128), state), unread, inode)

    def _find_info(self, length: int) -> int:
        """Return the offset of struct tcp_info in the reply; 0 if it is missing.

        As a rule it is the same as the last time.
        """
        at = self._info_at
        if at and at + 4 <= length and struct.unpack_from("=HH", self._reply, at)[1] == _INET_DIAG_INFO:
            return at + 4
        at = _REPLY_HEAD
        while at + 4 <= length:
            size, attribute = struct.unpack_from("=HH", self._reply, at)
            if attribute == _INET_DIAG_INFO and size >= 4 + _INFO_SIZE:
                self._info_at = at
                return at + 4
            at += max(4, (size + 3) & ~3)
        return 0


_info = ctypes.create_string_buffer(256)
_info_bytes = memoryview(_info).cast("B")
_length = ctypes.c_uint()
_length_at = ctypes.byref(_length)


def _sent_and_received(counters: tuple[int, ...], state: int) -> tuple[int, int]:
    received, notsent, sent, again = counters
    return sent - again + notsent, received - (state in _FIN_COUNTED)


def _address(call: Callable[..., int], fd: int) -> bytes:
    address = ctypes.create_string_buffer(28)  # struct sockaddr_in6
    length = ctypes.c_uint(28)
    if call(fd, address, ctypes.byref(length)):
        raise _error()
    return address.raw[: length.value]


def _parse(sockaddr: bytes) -> tuple[int, bytes, bytes]:
    """Return (family, address, port) of a struct sockaddr_in or sockaddr_in6. IPv4 mapped to IPv6 is IPv4."""
    (family,) = struct.unpack_from("=H", sockaddr)
    port = sockaddr[2:4]
    if family == socket.AF_INET:
        return family, sockaddr[4:8], port
    if family != socket.AF_INET6:
        raise OSError(f"not a TCP socket (address family {family})")
    address = sockaddr[8:24]
    if address.startswith(_V4_IN_V6):
        return socket.AF_INET, address[12:], port
    return family, address, port


def _error() -> OSError:
    number = ctypes.get_errno()
    return OSError(number, os.strerror(number))
