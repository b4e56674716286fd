"""Simulated time, as Batsim counts it and as Kubernetes writes it."""

from datetime import UTC, datetime

from batkube.bridge.errors import InvariantBroken


class SimulatedTime:
    """Seconds since the simulation began; moves only when the simulator says so, and never back."""

    def __init__(self, epoch: float) -> None:
        self.epoch = epoch
        """Unix seconds of simulated time 0."""
        self.now = 0.0

    def advance(self, now: float) -> None:
        """Move on to ``now``. Raises InvariantBroken where that is in the past."""
        if now < self.now:
            raise InvariantBroken(f"the simulator went back in time, from {self.now:.6f} to {now:.6f}")
        self.now = now

    def restart(self) -> None:
        """Another simulation begins at 0."""
        self.now = 0.0

    def unix(self) -> float:
        """Now, as Unix seconds."""
        return self.epoch + self.now

    def rfc3339(self) -> str:
        """Now, in whole seconds, as ``metav1.Time`` is written."""
        return datetime.fromtimestamp(int(self.unix()), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
