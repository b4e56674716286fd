"""The options of the embedded simulator, named after Batsim's own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from batkube.batsim.external_events import ExternalEvent
from batkube.batsim.machine_events import MachineEvents
from batkube.batsim.platform import DEFAULT_MASTER
from batkube.batsim.workflow import Workflow


@dataclass(frozen=True)
class SimulatorOptions:
    """Batsim's options, as far as they change what a decision process sees."""

    compute_sharing: bool = False
    """Several jobs may be on a host at once, and share its compute work fairly."""
    storage_sharing: bool = True
    """Several jobs may use a storage host at once."""
    dynamic_jobs: bool = False
    acknowledge_dynamic_jobs: bool = False
    profile_reuse: bool = False
    """Keep profiles. Without it a profile is forgotten when the first job that used it has ended."""
    forward_profiles: bool = False
    forward_unknown_events: bool = False
    external_events: Sequence[ExternalEvent] | None = None
    """The external events; None if there is no file of events. An empty file is announced as over."""
    machine_events: MachineEvents | None = None
    """Hosts that go and come back by a plan. Nobody waits for what is to come of it: the simulation ends without."""
    master: str = DEFAULT_MASTER
    needs_master: bool = True
    """True as in Batsim; else a platform without a master host will do."""
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """The roles of each host besides those of the platform file."""
    mmax: int | None = None
    """The most compute hosts to use; None for all."""
    numeric_order: bool = False
    """Number hosts with ``n2`` before ``n10``, as Batsim 5 does."""
    sched_config: str = ""
    control_latency: float = 0.0
    """The seconds from one decision of a reply to the next. Dates are ideal otherwise."""
    energy: bool = False
    """Pstates, and the joules of hosts (``-E``)."""
    trace_machine_states: bool = True
    """Keep the rows of ``machine_states.csv``."""
    workflows: Sequence[Workflow] = ()
    workflow_jobs_limit: int = 0
    """The most tasks of a workflow that are jobs at a time; 0 for no limit."""
    ignore_beyond_last_workflow: bool = False
    """Ignore static jobs that come after a workflow has ended."""
    exact: bool = False
    """Use Batsim's own dates and messages: messages between its parts take time. Otherwise dates are ideal."""
