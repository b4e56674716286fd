"""The embedded simulator as a program of its own, in the place of ``batsim``: it connects, asks, and writes its files.

With it everything that talks to Batsim can be tried and tested where there is no Batsim.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import zmq

from batkube.batsim.codec import decode, encode_as_batsim
from batkube.batsim.errors import SimulatorError
from batkube.batsim.external_events import ExternalEvent, read_external_events
from batkube.batsim.messages import SimulationEnds
from batkube.batsim.outputs import write_jobs_csv, write_schedule_csv
from batkube.batsim.platform import DEFAULT_MASTER, Platform, read_platform
from batkube.batsim.workload import Workload, read_workload
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.errors import Deadlock
from batkube.simulator.options import Options

FINISHED, FAILED, BAD_INPUT = 0, 1, 2
"""Exit codes."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate as the command line says; the exit code."""
    given = parse_arguments(arguments)
    try:
        inputs = read_inputs(given)
        simulator = EmbeddedSimulator(inputs.platform, inputs.workloads, inputs.options)
    except (ValueError, OSError) as error:
        return _fail(str(error), BAD_INPUT)
    try:
        talk(simulator, given.socket_endpoint)
    except SimulatorError as error:
        if isinstance(error, Deadlock):
            _write_files(simulator, given.export)
        return _fail(str(error), FAILED)
    except zmq.ZMQError as error:
        return _fail(f"cannot connect to {given.socket_endpoint}: {error}", FAILED)
    except KeyboardInterrupt:
        return _fail("interrupted", FAILED)
    _write_files(simulator, given.export)
    return FINISHED


def talk(simulator: EmbeddedSimulator, endpoint: str) -> None:
    """Ask the decision process bound at ``endpoint`` until the simulation ends. Waits for one that binds late."""
    with zmq.Context() as context, context.socket(zmq.REQ) as socket:
        socket.linger = 0
        socket.connect(endpoint)
        over = False
        while not over:
            message = simulator.next_message()
            over = any(isinstance(event, SimulationEnds) for event in message.events)
            socket.send(encode_as_batsim(message))
            simulator.answer(decode(socket.recv()))


@dataclass(frozen=True)
class Inputs:
    """The files that the command line names, read."""

    platform: Platform
    workloads: list[Workload]
    options: Options


def read_inputs(given: argparse.Namespace) -> Inputs:
    """Read all files. Raises ValueError, naming the file."""
    platform = read_platform(given.platform)
    workloads = [read_workload(path, f"w{index}") for index, path in enumerate(given.workload)]
    events: list[ExternalEvent] | None = None
    for path in given.events:
        events = (events or []) + read_external_events(path, keep_unknown=given.forward_unknown_events)
    mmax = given.mmax
    if given.mmax_workload:
        mmax = max((workload.nb_res or 0 for workload in workloads), default=0) or None
    options = Options(
        compute_sharing=given.enable_compute_sharing,
        dynamic_jobs=given.enable_dynamic_jobs,
        acknowledge_dynamic_jobs=given.acknowledge_dynamic_jobs,
        profile_reuse=given.enable_profile_reuse,
        forward_profiles=given.forward_profiles_on_submission,
        forward_unknown_events=given.forward_unknown_events,
        external_events=events,
        master=given.master_host,
        roles=_roles(given.add_role_to_hosts),
        mmax=mmax,
        sched_config=given.sched_cfg_file.read_text() if given.sched_cfg_file else given.sched_cfg,
        control_latency=given.control_latency,
    )
    return Inputs(platform, workloads, options)


def _roles(texts: Sequence[str]) -> dict[str, list[str]]:
    roles: dict[str, list[str]] = {}
    for text in texts:
        hosts, colon, role = text.rpartition(":")
        if not colon or not hosts or not role:
            raise ValueError(f"option -r: expected HOST[,HOST]:ROLE, not {text!r}")
        for host in hosts.split(","):
            roles.setdefault(host, []).append(role)
    return roles


def _write_files(simulator: EmbeddedSimulator, prefix: Path) -> None:
    records = simulator.records
    write_jobs_csv(prefix.with_name(f"{prefix.name}_jobs.csv"), records)
    write_schedule_csv(
        prefix.with_name(f"{prefix.name}_schedule.csv"),
        records,
        nb_machines=simulator.nb_machines,
        outages=simulator.outages,
    )


def _fail(text: str, code: int) -> int:
    print(f"batkube.simulator: {text}", file=sys.stderr, flush=True)
    return code


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """The command line, in Batsim's spelling. Ends the program where it cannot be understood."""
    parser = argparse.ArgumentParser(
        prog="python -m batkube.simulator",
        description="Simulate in the place of batsim: the same options, messages and output files, ideal dates.",
    )
    add = parser.add_argument
    add("-p", "--platform", type=Path, required=True, help="SimGrid platform (XML)")
    add("-w", "--workload", type=Path, action="append", default=[], help="workload (JSON); repeat for several")
    add("-e", "--export", type=Path, default=Path("out"), help="prefix of the output files")
    add("-s", "--socket-endpoint", default="tcp://localhost:28000", help="where the decision process listens")
    add("-m", "--master-host", default=DEFAULT_MASTER, help="the host that does not compute")
    add("-r", "--add-role-to-hosts", action="append", default=[], metavar="HOST[,HOST]:ROLE")
    add("--events", type=Path, action="append", default=[], help="external events; repeat for several files")
    add("--mmax", type=int, help="use only so many compute hosts")
    add("--mmax-workload", action="store_true", help="use only as many compute hosts as the workloads' nb_res")
    add("--sched-cfg", default="", help="text for the decision process")
    add("--sched-cfg-file", type=Path, help="file with text for the decision process")
    add("--control-latency", type=float, default=0.0, help="seconds from one decision to the next (not Batsim's)")
    for switch in (
        "--enable-compute-sharing",
        "--enable-dynamic-jobs",
        "--acknowledge-dynamic-jobs",
        "--enable-profile-reuse",
        "--forward-profiles-on-submission",
        "--forward-unknown-events",
    ):
        add(switch, action="store_true")
    for ignored in ("--disable-schedule-tracing", "--disable-machine-state-tracing", "-q", "--quiet"):
        add(ignored, action="store_true", help=argparse.SUPPRESS)
    add("-v", "--verbosity", help=argparse.SUPPRESS)
    return parser.parse_args(arguments)
