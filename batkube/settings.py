"""Settings of the commands: what the command line says, checked once, in one place."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from batkube.api_settings import AccessSettings, ApiSettings
from batkube.batsim.options import BatsimOptions
from batkube.bridge.controller_settings import Which
from batkube.bridge.run_time_settings import RunTimeSettings
from batkube.bridge.step_settings import StepSettings
from batkube.machines.settings import MachineSettings, RecordedEvents
from batkube.option import ACCESS, API_ONLY, CLUSTER, INPUTS, RESULTS, SCHEDULER, SIMULATOR, TIME, Only, Option, Without
from batkube.platforms.settings import AddedNodes, GivenPlatforms, Platforms
from batkube.schedulers.program_settings import GivenPrograms
from batkube.settings_rules import check
from batkube.startup.families import Family
from batkube.workloads.settings import ReadingSettings

FINISHED, FAILED, BAD_INPUT, BROKEN, INTERRUPTED, TERMINATED = 0, 1, 2, 3, 130, 143
"""Exit codes of the commands."""

DEFAULT_EPOCH = 1_577_836_800.0
"""Unix seconds at which simulated time 0 lies: 2020-01-01T00:00:00Z, fixed so that two runs agree."""

DEFAULT_PACE = 1.0
"""Of Clock.PACED."""


class Clock(StrEnum):
    """The clock of a scheduler that is started here."""

    AUTO = "auto"
    """Simulated where that can be done, else real."""
    ONCE = "once"
    """Simulated; enough for Go programs."""
    TREE = "tree"
    """Simulated; for all programs, and all that they start."""
    REAL = "real"
    PACED = "paced"
    """Real, at a pace (StepSettings.pace), with nobody observed: decisions are dated when they are made."""


class Determinism(StrEnum):
    """The way in which a scheduler that is started here is brought to do the same each time."""

    STRICT = "strict"
    """All that reaches it does so one at a time, while it rests."""
    FAST = "fast"
    """The same, but events of one date are told at once where nothing comes between them."""
    NONE = "none"
    """Nothing is done."""


class SimulationSettings(BaseModel):
    """Of ``batkube run``, ``serve`` and ``replay``."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    scheduler_names: Annotated[
        tuple[Annotated[str, Field(min_length=1)], ...],
        Option(
            "What the scheduler under test goes by, in a pod's schedulerName; may be repeated, the first is that of "
            "jobs that name none. [default: default-scheduler]",
            SCHEDULER,
            "NAME",
            name="--scheduler-name",
        ),
    ] = ("default-scheduler",)
    startup: Annotated[
        Path | None,
        Option("How long pods take to start and to end (YAML, docs/startup.md); else no time.", INPUTS, "FILE"),
    ] = None
    run_times: RunTimeSettings = RunTimeSettings()
    step: StepSettings = StepSettings()


class SchedulerSettings(SimulationSettings):
    """Of ``batkube run`` and ``replay``, which start the scheduler."""

    workloads: Annotated[
        tuple[Path, ...],
        Option(
            "Workload: Batsim's JSON, SWF, CSV, manifests ... (docs/workloads.md); may be repeated.",
            INPUTS,
            "FILE|DIR|-",
            short="-w",
            name="--workload",
        ),
    ] = ()
    reading: ReadingSettings = ReadingSettings()
    schedule: Annotated[
        Path | None, Option("When the manifests of -w are created (YAML, docs/workloads.md).", INPUTS, "FILE")
    ] = None
    scheduler: Annotated[
        str,
        Option(
            "fifo, easy, a policy of your own (module:Class), kube-scheduler, or none: wait for a stranger.",
            SCHEDULER,
            "WHICH",
        ),
    ] = "fifo"
    scheduler_command: Annotated[
        str | None,
        Option(
            "Any program; {kubeconfig}, {server} and {port} are filled in, KUBECONFIG is set.",
            SCHEDULER,
            "COMMAND",
            name="--scheduler-cmd",
        ),
    ] = None
    scheduler_folder: Path | None = None
    """The folder in which its command runs, and its policy is looked for; None: the current one."""
    programs: GivenPrograms = ()
    scheduler_binary: Annotated[
        Path | None, Option("The kube-scheduler to start; else the one on PATH.", SCHEDULER, "FILE")
    ] = None
    scheduler_config: Annotated[
        Path | None, Option("Its configuration; only its connection part is ours.", SCHEDULER, "FILE")
    ] = None
    clock: Annotated[
        Clock,
        Option(
            "Of the scheduler: simulated (once, tree), real, paced (real, nobody observed, goes at --pace), or auto: "
            "simulated where that works.",
            TIME,
            "WHICH",
        ),
    ] = Clock.AUTO


class ClusterSettings(SimulationSettings):
    """Of ``batkube run`` and ``serve``, beside which a simulator runs."""

    out: Annotated[Path, Option("Folder for the results.", RESULTS, "DIR", short="-o")] = Path("out")
    force: Annotated[bool, Option("Write into --out though it holds files that no run has left.", RESULTS)] = False
    parquet: Annotated[
        bool, Option("Write each CSV file of batkube's as Apache Parquet, too (batkube[parquet]).", RESULTS)
    ] = False
    record: Annotated[
        Path | None,
        Option("Keep the exchange with the simulator (.gz: packed), for `batkube replay`.", RESULTS, "FILE"),
    ] = None
    """Of ``serve``: its name in the results folder of each simulation."""
    batsim_out: Annotated[
        Path | None,
        Option(
            "Where a Batsim started by hand writes its files (its -e): they are copied, and ours take their dates.",
            RESULTS,
            "DIR|PREFIX",
        ),
    ] = None
    power_off_after: Annotated[
        Annotated[float, Field(ge=0, allow_inf_nan=False)] | None,
        Option(
            "Switch a host off that no pod has used for so long (simulated); a pod bound to it wakes it up.",
            CLUSTER,
            "SECONDS",
        ),
    ] = None
    controllers: Annotated[
        Annotated[Which | Path, Field(union_mode="left_to_right")],
        Option(
            "Controllers of Jobs and the like (docs/controllers.md): builtin, none, auto: built in, unless a "
            "kube-controller-manager calls; or a file with flags for those built in.",
            CLUSTER,
            "WHICH|FILE",
        ),
    ] = Which.AUTO
    access: AccessSettings = AccessSettings()
    api: ApiSettings = ApiSettings()
    seed: Annotated[
        int, Option("Where uids, generated names and a scheduler's random bytes come from.", TIME, "NUMBER")
    ] = 0
    epoch: Annotated[
        float,
        Field(ge=0, le=9e9),
        Option("Unix seconds at which simulated time 0 lies.", TIME, "SECONDS", shows_default=False),
    ] = DEFAULT_EPOCH
    """From 1970 to 2255: a clock of 64-bit nanoseconds ends in 2262."""


class RunSettings(SchedulerSettings, ClusterSettings):
    """``batkube run``: one simulation from start to end."""

    scenario: Annotated[
        Path | None,
        Option(
            "A file with all that else is typed here (YAML, docs/scenarios.md); what is typed wins.",
            INPUTS,
            "SCENARIO",
            argument=True,
        ),
    ] = None
    platform: GivenPlatforms = ()
    """Needed by all but a recorded Batsim."""
    add_nodes: AddedNodes = ()
    determinism: Annotated[
        Determinism,
        Option(
            "Let the scheduler do the same each time: its draws follow from --seed, and what reaches it does so one at "
            "a time (strict), or events of one date at once (fast); or none.",
            TIME,
            "HOW",
        ),
    ] = Determinism.STRICT
    simulator: Annotated[
        str,
        Option("embedded, batsim (started here), or the endpoint at which a Batsim will call.", SIMULATOR, "WHICH"),
    ] = "embedded"
    exact: Annotated[bool, Option("The built-in simulator gives Batsim's dates, to the microsecond.", SIMULATOR)] = (
        False
    )
    """The latencies of Batsim's control messages are part of the dates."""
    batsim_binary: Annotated[Path | None, Option("The batsim to start; else the one on PATH.", SIMULATOR, "FILE")] = (
        None
    )
    bounds: Annotated[
        bool, Option("Run fifo and easy on the same input, too: their figures go into run.json.", RESULTS)
    ] = False
    machines: MachineSettings = MachineSettings()
    batsim: BatsimOptions = BatsimOptions()
    """The options of Batsim; the embedded simulator takes those that mean something to it."""
    jitter: Annotated[
        float,
        Field(ge=0, le=1e9, allow_inf_nan=False),
        Option("Submit each job later by a draw of up to so much (simulated), from --seed.", TIME, "SECONDS"),
    ] = 0.0
    strict: Annotated[bool, Option("Exit with 1 if jobs were rejected or killed, or have not ended.", RESULTS)] = False
    recording: Path | None = None
    """A file with an exchange, whose Batsim is played again in the place of a simulator."""
    access: Annotated[AccessSettings, Only(("tls", "in_cluster_dir"))] = AccessSettings()

    @model_validator(mode="before")
    @classmethod
    def _paced_has_a_pace(cls, given: Any) -> Any:
        if isinstance(given, dict) and given.get("clock") == Clock.PACED:
            step = given.get("step", StepSettings())
            if isinstance(step, StepSettings) and step.pace is None:
                return {**given, "step": step.at_pace(DEFAULT_PACE)}
        return given

    @model_validator(mode="after")
    def _options_go_together(self) -> Self:
        check(self)
        return self

    @model_validator(mode="after")
    def _there_are_jobs(self) -> Self:
        batsim = self.batsim
        if self.recording is not None:
            return self
        if not self.platform:
            raise ValueError("a platform is missing (-p)")
        given = self.workloads or batsim.workflows or batsim.workflow_starts or batsim.dynamic_jobs
        if not (given or self.api.objects or self.run_times.until):
            raise ValueError(
                "there are no jobs: give a workload (-w), a workflow (-W), objects (--objects), or --until a date"
            )
        return self


class ServeSettings(ClusterSettings):
    """``batkube serve``: the API, and one simulation after another."""

    host: Annotated[str, Option("Address to listen on.", ACCESS, "ADDRESS")] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535), Option("Port to listen on; 0 takes a free one.", ACCESS, "PORT")] = 8001
    batsim: Annotated[str, Option("Endpoint at which Batsim will call (its option -s).", INPUTS, "ENDPOINT")] = (
        "tcp://127.0.0.1:28000"
    )
    """By default where Batsim looks for its decision process."""
    kubeconfig: Annotated[
        Path | None, Option("Write the kubeconfig here; else into the results folder.", ACCESS, "FILE")
    ] = None
    platform: Annotated[
        Platforms,
        Option(
            "The platform Batsim runs, in any form that `run -p` takes: gives core counts Batsim leaves out.",
            INPUTS,
            "FILE|TEXT",
            short="-p",
        ),
    ] = ()
    add_nodes: AddedNodes = ()
    api_only: Annotated[bool, Option("The API server alone: no simulator, nobody plays kubelet.", API_ONLY)] = False
    node_lifecycle: Annotated[
        bool,
        Option(
            "With --api-only: taint nodes by their conditions, as the node lifecycle controller does.",
            API_ONLY,
            name="--node-lifecycle/--no-node-lifecycle",
        ),
    ] = True
    watch_history: Annotated[
        int,
        Field(ge=1),
        Option(
            "With --api-only: keep so many changes of each kind for watches that come back; older ones are gone.",
            API_ONLY,
            "CHANGES",
        ),
    ] = 10_000
    energy: Annotated[bool, Option("Batsim was started with -E: its hosts can be switched.", CLUSTER, short="-E")] = (
        False
    )
    step: Annotated[StepSettings, Without(("timers", "timer_window"))] = StepSettings()

    @model_validator(mode="after")
    def _each_simulation_has_a_record(self) -> Self:
        if self.record is not None and (self.record.is_absolute() or len(self.record.parts) != 1):
            raise ValueError("--record: a name of a file is expected, which lies in the folder of each simulation")
        return self

    @model_validator(mode="after")
    def _options_go_together(self) -> Self:
        check(self)
        return self


class ReplaySettings(SchedulerSettings):
    """``batkube replay``: a recorded Batsim speaks again."""

    recording: Annotated[Path, Option("An exchange kept by --record, packed or not.", metavar="FILE", argument=True)]
    platform: Annotated[
        Platforms,
        Option(
            "The platform of that run, in any form that `run -p` takes: cores, memory, control latency.",
            INPUTS,
            "FILE|TEXT",
            short="-p",
        ),
    ] = ()
    add_nodes: AddedNodes = ()
    events: RecordedEvents = ()
    out: Annotated[Path | None, Option("Keep the results in this folder.", RESULTS, "DIR", short="-o")] = None
    force: Annotated[bool, Option("Write into --out though it holds other files.", RESULTS)] = False
    tolerance: Annotated[
        float,
        Field(ge=0),
        Option("Simulated seconds by which dates may differ from the recorded ones.", TIME, "SECONDS"),
    ] = 1e-6
    """Dates that Batsim prints alike."""
    step: Annotated[StepSettings, Only(("on_deadlock", "timers", "timer_window", "decision_time"))] = StepSettings()

    @model_validator(mode="after")
    def _options_go_together(self) -> Self:
        if self.clock is Clock.PACED:
            raise ValueError("--clock paced needs a pace")
        check(self)
        return self

    def run(self, out: Path) -> RunSettings:
        """Return the run that it is, with its results in this folder."""
        shared = {name: getattr(self, name) for name in SchedulerSettings.model_fields if name in self.model_fields_set}
        return RunSettings(
            **shared,
            recording=self.recording,
            platform=self.platform,
            add_nodes=self.add_nodes,
            batsim=BatsimOptions(external_events=self.events),
            out=out,
            force=self.force,
        )


class FitSettings(BaseModel):
    """``batkube fit-startup``: a start-up model from recorded pod times."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    recorded: Annotated[
        tuple[Path, ...],
        Option("Recorded pod times, a row a pod (see docs/startup.md).", metavar="CSV...", argument=True),
    ]
    out: Annotated[Path, Option("The model to write (YAML).", metavar="FILE", short="-o")]
    test: Annotated[
        tuple[Path, ...],
        Option("Compare with this file, and keep no rows aside; may be repeated.", metavar="FILE"),
    ] = ()
    hold_out: Annotated[
        float,
        Field(gt=0, lt=1),
        Option("The part of the rows that is kept aside to compare with.", metavar="PART"),
    ] = 0.2
    family: Annotated[Family, Option(f"What delays are taken for: {', '.join(Family)}.", metavar="WHICH")] = (
        Family.QUANTILES
    )
    process_time: Annotated[
        Annotated[float, Field(ge=0, allow_inf_nan=False)] | None,
        Option("Seconds each process ran, where no column exit_time says when it ended.", metavar="SECONDS"),
    ] = None
    seed: Annotated[int, Option("Chooses the rows that are kept aside.", metavar="NUMBER")] = 0

    @model_validator(mode="after")
    def _options_go_together(self) -> Self:
        check(self)
        return self
