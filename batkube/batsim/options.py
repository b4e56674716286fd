"""The options that a user may give Batsim, with the spelling and meaning of Batsim 4.2's command line.

https://batsim.readthedocs.io/en/latest/cli.html. The platform, the workloads, the prefix of its output files and its
socket are not here: the code that starts Batsim gives them. Redis is left out, because jobs would not travel in
messages, and so is --no-sched.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator
from pydantic.fields import FieldInfo


@dataclass(frozen=True)
class Spelling:
    """The spelling of an option."""

    batsim: str
    """The long name on Batsim's command line."""
    panel: str
    """The heading of the option in a help text."""
    metavar: str | None = None
    short: str = ""
    """Batsim's one-letter name, if batkube uses it as well."""
    ours: tuple[str, ...] = ()
    """The names on batkube's command line; empty for Batsim's own."""
    since: int = 3
    """The first major version of Batsim that has it."""
    until: int = 5
    """The last major version of Batsim that has it."""

    @property
    def names(self) -> tuple[str, ...]:
        """The names on batkube's command line, the long one first."""
        own = self.ours or (self.batsim,)
        return (*own, self.short) if self.short else own


class Verbosity(StrEnum):
    """The amount of text in Batsim's log."""

    QUIET = "quiet"
    NETWORK_ONLY = "network-only"
    INFORMATION = "information"
    DEBUG = "debug"


def _role(text: str) -> str:
    hosts, colon, role = text.rpartition(":")
    if not colon or not all(hosts.split(",")) or not role:
        raise ValueError(f"expected HOST[,HOST]:ROLE, not {text!r}")
    return text


def read_roles(texts: Iterable[str]) -> dict[str, list[str]]:
    """Read HOST[,HOST]:ROLE of each text, and return the further roles of each host. Raises ValueError."""
    roles: dict[str, list[str]] = {}
    for text in texts:
        hosts, _, role = _role(text).rpartition(":")
        for host in hosts.split(","):
            roles.setdefault(host, []).append(role)
    return roles


def host_limit(mmax: int | None, workload_sizes: Iterable[int | None] | None) -> int | None:
    """Return the number of compute hosts that --mmax leaves, and --mmax-workload with the workloads' ``nb_res``.

    It is the smaller of both, as in Batsim; None for all hosts.
    """
    limits = [mmax or 0]
    if workload_sizes is not None:
        limits.append(max((size or 0 for size in workload_sizes), default=0))
    return min((limit for limit in limits if limit), default=None)


def _pair(text: str) -> str:
    name, colon, _ = text.partition(":")
    if not colon or not name:
        raise ValueError(f"expected NAME:VALUE, not {text!r}")
    return text


def _start(text: str) -> str:
    read_workflow_start(text)
    return text


def read_workflow_start(text: str) -> tuple[Path, float]:
    """Return the file and the simulated seconds in ``FILE:SECONDS``. Raises ValueError."""
    file, colon, date = text.rpartition(":")
    try:
        start = float(date)
    except ValueError:
        start = -1.0
    if not colon or not file or not 0 <= start <= 1e18:
        raise ValueError(f"expected FILE:SECONDS, the seconds not below 0, not {text!r}")
    return Path(file), start


INPUTS = "Batsim: platform, events, workflows"
JOBS = "Batsim: jobs, messages, files"
PROGRAM = "Batsim: log, SimGrid, texts"


class BatsimOptions(BaseModel):
    """The options, each with Batsim's default."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    external_events: Annotated[
        tuple[Path, ...],
        Spelling("--events", INPUTS, "FILE"),
        Field(
            description="Hosts that fail and come back: Batsim's form, or YAML (docs/machines.md); repeat for several."
        ),
    ] = ()
    master_host: Annotated[
        str | None,
        Spelling("--master-host", INPUTS, "HOST", "-m"),
        Field(description="The host that manages, and computes nothing; else the one of role master, or master_host."),
    ] = None
    roles: Annotated[
        tuple[Annotated[str, AfterValidator(_role)], ...],
        Spelling("--add-role-to-hosts", INPUTS, "HOST,...:ROLE", "-r"),
        Field(description="Give hosts a role: storage, master or compute_node; repeat for several."),
    ] = ()
    mmax: Annotated[
        int | None,
        Spelling("--mmax", INPUTS, "NUMBER"),
        Field(description="Use only so many hosts; 0 for all.", ge=0),
    ] = None
    mmax_workload: Annotated[
        bool,
        Spelling("--mmax-workload", INPUTS),
        Field(description="Use only as many hosts as the largest nb_res of the workloads."),
    ] = False
    energy: Annotated[
        bool, Spelling("--energy", INPUTS, short="-E"), Field(description="Simulate the energy that hosts consume.")
    ] = False
    workflows: Annotated[
        tuple[Path, ...],
        Spelling("--workflow", INPUTS, "FILE", "-W", until=4),
        Field(description="A workflow (Pegasus DAX), whose tasks are jobs; repeat for several."),
    ] = ()
    workflow_starts: Annotated[
        tuple[Annotated[str, AfterValidator(_start)], ...],
        Spelling("--WS", INPUTS, "FILE:SECONDS", ours=("--workflow-start", "--WS"), until=4),
        Field(description="A workflow that starts at this date; repeat for several."),
    ] = ()
    workflow_jobs_limit: Annotated[
        int | None,
        Spelling("--workflow-jobs-limit", INPUTS, "NUMBER", until=4),
        Field(description="So many jobs of a workflow at once; 0 for any number.", ge=0),
    ] = None
    ignore_beyond_last_workflow: Annotated[
        bool,
        Spelling("--ignore-beyond-last-workflow", JOBS, until=4),
        Field(description="Leave out jobs of workloads that come after all workflows have ended."),
    ] = False

    compute_sharing: Annotated[
        bool,
        Spelling("--enable-compute-sharing", JOBS),
        Field(description="Jobs share hosts by their requests."),
    ] = False
    disable_storage_sharing: Annotated[
        bool,
        Spelling("--disable-storage-sharing", JOBS, until=4),
        Field(description="A storage host serves one job at a time."),
    ] = False
    dynamic_jobs: Annotated[
        bool,
        Spelling("--enable-dynamic-jobs", JOBS),
        Field(description="Jobs may be registered while the simulation goes on."),
    ] = False
    acknowledge_dynamic_jobs: Annotated[
        bool,
        Spelling("--acknowledge-dynamic-jobs", JOBS),
        Field(description="Announce registered jobs as others."),
    ] = False
    profile_reuse: Annotated[
        bool,
        Spelling("--enable-profile-reuse", JOBS, since=4),
        Field(description="Keep profiles for jobs that are registered later."),
    ] = False
    forward_profiles: Annotated[
        bool,
        Spelling("--forward-profiles-on-submission", JOBS, until=4),
        Field(description="Send the profile with each job."),
    ] = False
    forward_unknown_events: Annotated[
        bool,
        Spelling("--forward-unknown-events", JOBS, until=4),
        Field(description="Pass on external events of types that Batsim does not know."),
    ] = False
    sched_config: Annotated[
        str | None,
        Spelling("--sched-cfg", PROGRAM, "TEXT", since=4, until=4),
        Field(description="A text for the decision process, told at the beginning."),
    ] = None
    sched_config_file: Annotated[
        Path | None,
        Spelling("--sched-cfg-file", PROGRAM, "FILE", since=4, until=4),
        Field(description="A file with that text."),
    ] = None

    disable_schedule_tracing: Annotated[
        bool, Spelling("--disable-schedule-tracing", JOBS), Field(description="No schedule.trace (Pajé).")
    ] = False
    disable_machine_state_tracing: Annotated[
        bool, Spelling("--disable-machine-state-tracing", JOBS), Field(description="No machine_states.csv.")
    ] = False
    verbosity: Annotated[
        Verbosity | None,
        Spelling("--verbosity", PROGRAM, "LEVEL", ours=("--batsim-verbosity",)),
        Field(description=f"How much Batsim writes into batsim.log: {', '.join(Verbosity)}."),
    ] = None
    simgrid_config: Annotated[
        tuple[Annotated[str, AfterValidator(_pair)], ...],
        Spelling("--sg-cfg", PROGRAM, "NAME:VALUE", ours=("--sg-cfg", "--cfg")),
        Field(description="A setting of SimGrid; repeat for several."),
    ] = ()
    simgrid_log: Annotated[
        tuple[str, ...],
        Spelling("--sg-log", PROGRAM, "TEXT"),
        Field(description="What SimGrid logs, in its own words; repeat for several."),
    ] = ()
    further: Annotated[
        tuple[str, ...],
        Spelling("", PROGRAM, "ANY", ours=("--batsim-arg",)),
        Field(description="Passed on to Batsim as it is; repeat for several."),
    ] = ()

    @model_validator(mode="after")
    def _batsim_would_refuse(self) -> "BatsimOptions":
        if self.profile_reuse and not self.dynamic_jobs:
            raise ValueError("--enable-profile-reuse needs --enable-dynamic-jobs")
        if self.sched_config is not None and self.sched_config_file is not None:
            raise ValueError("--sched-cfg and --sched-cfg-file exclude each other")
        return self

    @property
    def input_files(self) -> list[Path]:
        """All files that are named."""
        files = [*self.external_events, *self.workflows]
        files += [read_workflow_start(text)[0] for text in self.workflow_starts]
        if self.sched_config_file is not None:
            files.append(self.sched_config_file)
        return files

    def given(self) -> "Iterator[tuple[str, Spelling, Any]]":
        """Yield the options that differ from the default: name of the field, spelling, value."""
        for name, spelling, field in spelled_fields(type(self)):
            value = getattr(self, name)
            if value != field.default:
                yield name, spelling, value


NO_OPTIONS = BatsimOptions()
"""The options of a Batsim that is told nothing."""


def spelled_fields(model: type[BaseModel]) -> Iterator[tuple[str, Spelling, FieldInfo]]:
    """Yield the fields of ``model`` that are options, in their order."""
    for name, field in model.model_fields.items():
        for spelling in field.metadata:
            if isinstance(spelling, Spelling):
                yield name, spelling, field
