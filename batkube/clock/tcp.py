"""Bytes under way on TCP connections whose far end may be on this machine.

The kernel's send queue does not tell: bytes stay in it until they are acknowledged, and Linux delays that by up to
40 ms. What one end has sent is compared with what the program at the other end has read instead. The near end is asked
with TCP_INFO, the far end by one exact sock_diag request (man 7 sock_diag; a dump of all sockets takes 0.6 ms).
"""

import ctypes
import fcntl
import os
import socket
import struct
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

TCP_INFO = 11
NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
INET_DIAG_INFO = 2
CLOSE_WAIT, LAST_ACK, LISTEN, CLOSING = 8, 9, 10, 11
FIONREAD = 0x541B

_V4_IN_V6 = b"\0" * 10 + b"\xff\xff"
_ANY_COOKIE = b"\xff" * 8
# struct nlmsghdr, struct inet_diag_req_v2
_REQUEST = struct.Struct("=IHHII BBBBI 2s2s16s16sI8s")
_REPLY_HEAD = 16 + 72  # struct nlmsghdr, struct inet_diag_msg

_libc = ctypes.CDLL(None, use_errno=True)


class HasFileDescriptor(Protocol):
    """A socket, or what an event loop shows for one."""

    def fileno(self) -> int:
        """The descriptor; -1 when closed."""


@dataclass(frozen=True, slots=True)
class End:
    """One end of a connection, in bytes since it was opened."""

    sent: int
    """Written by the program at this end."""
    read: int
    """Read by the program at this end."""
    unread: int
    """Arrived, not yet read."""
    inode: int = 0
    """Of the socket, as in /proc/PID/fd; 0 where it is not known or no process has it."""


def _end(info: bytes, unread: int, state: int, inode: int = 0) -> End:
    (notsent,) = struct.unpack_from("=I", info, 144)
    (received,) = struct.unpack_from("=Q", info, 128)
    sent, again = struct.unpack_from("=QQ", info, 200)
    if state in (CLOSE_WAIT, LAST_ACK, CLOSING):
        received -= 1  # the kernel counts the other end's FIN as a byte
    return End(sent - again + notsent, received - unread, unread, inode)


class Connection:
    """The near end of a TCP connection, by its file descriptor."""

    __slots__ = ("fd", "local", "remote")

    def __init__(self, fd: int) -> None:
        """Raises OSError where the descriptor is not, or no longer, a connected socket."""
        self.fd = fd
        self.local = _address(_libc.getsockname, fd)
        self.remote = _address(_libc.getpeername, fd)

    def near(self) -> End:
        """This end. Raises OSError."""
        info = ctypes.create_string_buffer(256)
        length = ctypes.c_uint(256)
        if _libc.getsockopt(self.fd, socket.IPPROTO_TCP, TCP_INFO, info, ctypes.byref(length)):
            raise _error()
        (unread,) = struct.unpack("=i", fcntl.ioctl(self.fd, FIONREAD, b"\0\0\0\0"))
        return _end(info.raw, unread, info.raw[0])

    def name(self) -> str:
        """The far end's address as people write it."""
        family, address, port = _parse(self.remote)
        host = socket.inet_ntop(family, address)
        return f"{host}:{int.from_bytes(port, 'big')}"


class SockDiag:
    """Asks the kernel about the far ends of connections. Raises OSError where it does not answer such questions."""

    def __init__(self) -> None:
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_SOCK_DIAG)
        self._socket.bind((0, 0))
        self._socket.settimeout(1)
        self._requests: dict[tuple[bytes, bytes], bytes] = {}

    def far_end(self, connection: Connection) -> End | None:
        """The other end; None where it is closed or not on this machine."""
        self._socket.send(self._request(connection))
        return self._answer()

    def far_ends(self, connections: Sequence[Connection]) -> list[End | None]:
        """The other ends of several connections, in their order."""
        ends: list[End | None] = []
        for start in range(0, len(connections), 32):  # so that the answers fit into the socket's buffer
            group = connections[start : start + 32]
            self._socket.send(b"".join(self._request(connection) for connection in group))
            ends += [self._answer() for _ in group]
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
                _REQUEST.size, SOCK_DIAG_BY_FAMILY, 1, 0, 0,
                family, socket.IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), 0, 0xFFF,
                far_port, near_port, far, near, 0, _ANY_COOKIE,
            )  # fmt: skip
            if len(self._requests) >= 4096:
                self._requests.clear()
            self._requests[key] = request
        return request

    def _answer(self) -> End | None:
        reply = self._socket.recv(4096)
        length, kind = struct.unpack_from("=IH", reply)
        if kind != SOCK_DIAG_BY_FAMILY:
            (code,) = struct.unpack_from("=i", reply, 16)
            if code == -2:  # ENOENT
                return None
            raise OSError(-code, os.strerror(-code))
        state = reply[17]
        if state == LISTEN:
            return None
        unread, _, _, inode = struct.unpack_from("=IIII", reply, 16 + 56)
        at = _REPLY_HEAD
        while at + 4 <= length:
            size, attribute = struct.unpack_from("=HH", reply, at)
            if attribute == INET_DIAG_INFO and size >= 4 + 216:
                return _end(reply[at + 4 : at + size], unread, state, inode)
            at += max(4, (size + 3) & ~3)
        return None  # a remnant in TIME_WAIT: all its bytes have arrived


def _address(call: Callable[..., int], fd: int) -> bytes:
    address = ctypes.create_string_buffer(28)  # struct sockaddr_in6
    length = ctypes.c_uint(28)
    if call(fd, address, ctypes.byref(length)):
        raise _error()
    return address.raw[: length.value]


def _parse(sockaddr: bytes) -> tuple[int, bytes, bytes]:
    """(family, address, port) of a struct sockaddr_in or sockaddr_in6; an IPv4 address in IPv6 clothes is IPv4."""
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
