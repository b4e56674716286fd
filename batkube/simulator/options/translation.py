"""Batsim's options for the embedded simulator: those that mean something to it, and which do not."""

import errno
from collections.abc import Iterable

from batkube.batsim.external_events import ExternalEvent, read_external_events
from batkube.batsim.options import BatsimOptions, host_limit, read_roles, read_workflow_start
from batkube.batsim.platform import DEFAULT_MASTER
from batkube.batsim.workflow import Workflow, read_workflow
from batkube.batsim.workload import Workload
from batkube.named_file import read_named_text
from batkube.simulator.options.simulator_options import SimulatorOptions

WITHOUT_MEANING = ("disable_schedule_tracing", "verbosity", "simgrid_log")
"""Options that change what Batsim writes, and no date and no message."""

ONLY_BATSIM = ("simgrid_config", "further")
"""Options without which results would be others, and that the embedded simulator cannot follow."""


def simulator_options(
    given: BatsimOptions, workloads: Iterable[Workload], *, exact: bool, needs_master: bool
) -> SimulatorOptions:
    """Read the files that are named, and translate. Raises ExternalEventError, WorkflowError and OSError."""
    return SimulatorOptions(
        compute_sharing=given.compute_sharing,
        storage_sharing=not given.disable_storage_sharing,
        dynamic_jobs=given.dynamic_jobs,
        acknowledge_dynamic_jobs=given.acknowledge_dynamic_jobs,
        profile_reuse=given.profile_reuse,
        forward_profiles=given.forward_profiles,
        forward_unknown_events=given.forward_unknown_events,
        external_events=external_events(given),
        master=given.master_host or DEFAULT_MASTER,
        needs_master=needs_master,
        exact=exact,
        energy=given.energy,
        roles=read_roles(given.roles),
        mmax=host_limit(given.mmax, (workload.nb_res for workload in workloads) if given.mmax_workload else None),
        sched_config=_sched_config(given),
        trace_machine_states=not given.disable_machine_state_tracing,
        workflows=_workflows(given),
        workflow_jobs_limit=given.workflow_jobs_limit or 0,
        ignore_beyond_last_workflow=given.ignore_beyond_last_workflow,
    )


def _sched_config(given: BatsimOptions) -> str:
    if given.sched_config_file is None:
        return given.sched_config or ""
    try:
        return read_named_text(given.sched_config_file)
    except ValueError as error:
        raise OSError(errno.EINVAL, str(error), str(given.sched_config_file)) from None


def external_events(given: BatsimOptions, *, keep_unknown: bool | None = None) -> list[ExternalEvent] | None:
    """Read the events of the files that are named, file by file; None for no file. Raises ExternalEventError.

    ``keep_unknown``: take events of any type; by default as the options say.
    """
    if not given.external_events:
        return None
    keep_unknown = given.forward_unknown_events if keep_unknown is None else keep_unknown
    return [event for path in given.external_events for event in read_external_events(path, keep_unknown=keep_unknown)]


def _workflows(given: BatsimOptions) -> list[Workflow]:
    starts = [read_workflow_start(text) for text in given.workflow_starts]
    return [read_workflow(path, f"wf{index}") for index, path in enumerate(given.workflows)] + [
        read_workflow(path, f"wfc{index}", start) for index, (path, start) in enumerate(starts)
    ]
