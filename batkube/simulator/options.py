"""What the embedded simulator can be told, after Batsim's own options."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from batkube.batsim.external_events import ExternalEvent
from batkube.batsim.platform import DEFAULT_MASTER


@dataclass(frozen=True)
class Options:
    """Batsim's options, as far as they change what a decision process sees."""

    compute_sharing: bool = False
    """Several jobs may be on a host at once, and share its compute work fairly."""
    dynamic_jobs: bool = False
    acknowledge_dynamic_jobs: bool = False
    profile_reuse: bool = False
    """Without it a profile is forgotten when the last job that uses it has ended."""
    forward_profiles: bool = False
    forward_unknown_events: bool = False
    external_events: Sequence[ExternalEvent] | None = None
    """None where there is no file of events; an empty one is announced as over."""
    master: str = DEFAULT_MASTER
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Host to roles it has besides those of the platform file."""
    mmax: int | None = None
    """Use only so many compute hosts."""
    sched_config: str = ""
    control_latency: float = 0.0
    """Seconds from one decision of a reply to the next, Batsim's messages to itself; 0 is ideal."""
