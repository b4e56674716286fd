"""The process at the other end of a connection, for schedulers that batkube did not start."""

import os

from batkube.clock.tcp import Connection, HasFileDescriptor, SockDiag


def peer_pid(connection: HasFileDescriptor) -> int | None:
    """Return the process of this machine that holds the other end of a TCP connection.

    None if the process is on another machine or in another container, belongs to a user whose processes we may not look
    into, has ended, or is this very process.
    """
    try:
        diag = SockDiag()
    except OSError:
        return None
    try:
        (far,) = diag.far_ends([Connection(connection.fileno())])
    except OSError:
        return None
    finally:
        diag.close()
    if far is None or far.inode == 0:
        return None
    for entry in os.listdir("/proc"):  # noqa: PTH208
        if entry.isdecimal() and int(entry) != os.getpid() and far.inode in (socket_inodes(int(entry)) or ()):
            return int(entry)
    return None


def socket_inodes(pid: int) -> set[int] | None:
    """Return the inodes of the sockets that a process has open; None if we may not know."""
    folder = f"/proc/{pid}/fd"
    inodes = set()
    try:
        names = os.listdir(folder)  # noqa: PTH208
    except PermissionError:
        return None
    except OSError:
        return set()
    for name in names:
        try:
            target = os.readlink(f"{folder}/{name}")  # noqa: PTH115
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(int(target[8:-1]))
    return inodes
