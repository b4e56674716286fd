"""The observed process that has a socket open, by the socket's inode."""

from collections.abc import Collection

from batkube.clock.observed_processes import ProcessTree
from batkube.clock.peers import socket_inodes


class SocketOwners:
    """The sockets of the processes of ``tree``.

    The tables of open files are read when a socket is asked for that is not known. As a rule this finds others too that
    will be asked for: kube-scheduler opens a connection for each of the events that it sends at the same time, and
    reading all tables once for each would take a time that grows with the square of their number.
    """

    def __init__(self, tree: ProcessTree) -> None:
        self._tree = tree
        self._generation = -1
        self._owners: dict[int, int] = {}
        self._strangers: set[int] = set()
        """Inodes that no process of this generation of the tree had open."""
        self._hidden: int | None = None
        """The first process whose open files we may not see: it may have any socket."""

    def owner(self, inode: int) -> int | None:
        """Return the process that has the socket open, or may have; the one of the lowest id if there are several."""
        if self._generation != self._tree.generation:
            self._generation = self._tree.generation
            self._owners.clear()
            self._strangers.clear()
        owner = self._owners.get(inode)
        if owner is None and inode not in self._strangers:
            self._read(self._tree.processes)
            owner = self._owners.get(inode)
            if owner is None:
                self._strangers.add(inode)
        if owner is None or self._hidden is None:
            return self._hidden if owner is None else owner
        return min(owner, self._hidden)

    def _read(self, processes: Collection[int]) -> None:
        self._owners, self._hidden = {}, None
        for pid in sorted(processes, reverse=True):
            inodes = socket_inodes(pid)
            if inodes is None:
                self._hidden = pid
            else:
                self._owners.update(dict.fromkeys(inodes, pid))
