"""The kubelets of nodes as far as they are heard of: each renews a lease every ten seconds while its host is up."""

from collections.abc import Callable, Iterable
from typing import Any

LEASE_RENEWED_EVERY = 10.0
"""Simulated seconds: a quarter of the kubelet's ``nodeLeaseDurationSeconds``, which is 40."""


class Kubelets:
    """Keeps from when on nothing is heard of some. ``grace``: ``--node-monitor-grace-period``, in simulated seconds.

    A grace period of 0 is no grace: that a kubelet is silent is known at once. ``outlives``: tells of a pod whether it
    is still there when its host has failed.
    """

    def __init__(self, grace: float = 0.0, outlives: Callable[[dict[str, Any]], bool] = lambda pod: True) -> None:
        self.grace = grace
        self.outlives = outlives
        self.listeners: list[Callable[[str], object]] = []
        """Called with the name of a node whose kubelet falls silent, or is back."""
        self._silent: dict[str, float] = {}
        """The dates since which nothing was heard, by node."""
        self._back: dict[str, float] = {}
        """The dates at which kubelets began to speak anew, by node."""

    def fall_silent(self, node: str, date: float) -> None:
        """Note that the host of a node has failed."""
        self._silent.setdefault(node, date)
        self._tell(node)

    def come_back(self, node: str, date: float) -> None:
        """Note that the host of a node is up."""
        if self._silent.pop(node, None) is not None:
            self._back[node] = date
            self._tell(node)

    @property
    def silent(self) -> Iterable[str]:
        """The nodes of whose kubelets nothing is heard."""
        return self._silent

    def is_silent(self, node: str) -> bool:
        """Tell whether nothing is heard of the node's kubelet."""
        return node in self._silent

    def renewed(self, node: str, now: float) -> float:
        """Return the date, ``now`` at the latest, at which the node's lease was renewed last."""
        heard = min(now, self._silent.get(node, now))
        return max(heard // LEASE_RENEWED_EVERY * LEASE_RENEWED_EVERY, min(heard, self._back.get(node, 0.0)))

    def _tell(self, node: str) -> None:
        for listener in self.listeners:
            listener(node)
