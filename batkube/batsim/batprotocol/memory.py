"""The facts of a simulation's earlier messages that its later messages leave out."""

from dataclasses import dataclass, field


@dataclass
class Memory:
    """The memory of one simulation."""

    allocations: dict[str, str] = field(default_factory=dict)
    """The hosts of each job that was started and has not ended: JobCompletedEvent does not tell them."""
    sequence_lengths: dict[str, int] = field(default_factory=dict)
    """The number of elements of a sequence, by the full name of its profile: progress counts within a repetition."""
    pstates: dict[int, int] = field(default_factory=dict)
    """The power state of each host."""
    sleep_pstates: dict[int, frozenset[int]] = field(default_factory=dict)
    """The power states in which a host is off."""
    calls: int = 0
    """The number of calls that were asked for: they are named by number."""
    probes: int = 0
    """The number of probes that were made, each for one QUERY."""
