"""The standalone simulator in the place of Batsim 5: its command line, its protocol, and ideal dates.

It is as strict as Batsim 5 with the schema and with the types of profiles, of which it refuses the old names.
"""

import argparse
from collections.abc import Sequence
from pathlib import Path

from batkube.batsim.batprotocol.batsim_side import VERSION, BatsimSide
from batkube.batsim.batprotocol.handshake import read_hello, write_init
from batkube.batsim.batprotocol.profiles import TYPES
from batkube.batsim.errors import SimulatorError
from batkube.batsim.external_events import ExternalEvent, read_external_events
from batkube.batsim.messages import ForceSimulationStop, Message, SimulationEnds
from batkube.batsim.outputs import write_jobs_csv
from batkube.batsim.platform import DEFAULT_MASTER, read_platform
from batkube.batsim.workload import Workload, read_workload
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.options.simulator_options import SimulatorOptions
from batkube.simulator.standalone.exits import BAD_INPUT, FAILED, FINISHED, fail
from batkube.simulator.standalone.request_socket import RequestSocket

GENERIC = "generic"
"""The only type of external events in Batsim 5."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate as the command line says, and return the exit code."""
    given = parse_arguments(arguments)
    if given.version:
        print(VERSION)
        return FINISHED
    try:
        workloads = read_workloads(given.workload)
        events = read_events(given.external_events)
        endpoint, init = given.edc_socket_str
        with RequestSocket(endpoint) as socket:
            form, hello = read_hello(socket.ask(write_init(init)))
            features = hello["requested_simulation_features"]
            options = SimulatorOptions(
                compute_sharing=True,
                dynamic_jobs=features["dynamic_registration"],
                acknowledge_dynamic_jobs=features["acknowledge_dynamic_jobs"],
                profile_reuse=features["profile_reuse"],
                forward_unknown_events=True,
                external_events=events,
                master=given.master_host,
                roles={host: [role] for host, role in given.add_role},
                mmax=given.mmax or None,
                numeric_order=True,
            )
            simulator = EmbeddedSimulator(read_platform(given.platform), workloads, options)
            profiles = {
                workload.name: {name: profile.raw for name, profile in workload.profiles.items()}
                for workload in workloads
            }
            talk(simulator, socket, BatsimSide(form, features, profiles))
    except SimulatorError as error:
        return fail(str(error), FAILED)
    except (ValueError, OSError) as error:
        return fail(str(error), BAD_INPUT)
    except KeyboardInterrupt:
        return fail("interrupted", FAILED)
    jobs = Path(f"{given.export}jobs.csv")
    jobs.parent.mkdir(parents=True, exist_ok=True)
    write_jobs_csv(jobs, simulator.records)
    return FINISHED


def talk(simulator: EmbeddedSimulator, socket: RequestSocket, side: BatsimSide) -> None:
    """Ask the decision process until the simulation ends, by itself or because it was told to."""
    over = False
    while not over:
        message = simulator.next_message()
        over = any(isinstance(event, SimulationEnds) for event in message.events)
        reply = ask(socket, side, message)
        if any(isinstance(event, ForceSimulationStop) for event in reply.events):
            ask(socket, side, Message(now=message.now, events=[SimulationEnds(timestamp=message.now)]))
            return
        simulator.answer(reply)


def ask(socket: RequestSocket, side: BatsimSide, message: Message) -> Message:
    """Send a message, and return the answer."""
    return side.decode(socket.ask(side.encode(message)))


def read_workloads(paths: Sequence[Path]) -> list[Workload]:
    """Read the workloads. Raises WorkloadError, and ValueError for a profile that Batsim 5 does not know."""
    workloads = [read_workload(path, f"w{index}") for index, path in enumerate(paths)]
    for workload in workloads:
        for name, profile in workload.profiles.items():
            if profile.type not in TYPES:
                raise ValueError(f"{workload.path}: profile {name!r}: Batsim 5 has no type {profile.type!r}")
    return workloads


def read_events(paths: Sequence[Path]) -> list[ExternalEvent] | None:
    """Read the external events, which must be generic ones. Raises ExternalEventError, ValueError."""
    events: list[ExternalEvent] | None = None
    for path in paths:
        found = read_external_events(path, keep_unknown=True)
        for event in found:
            if event.type != GENERIC or not isinstance(event.raw.get("data"), str):
                raise ValueError(
                    f"{path}: at {event.timestamp:g}: Batsim 5 knows generic events alone, with a text data"
                )
        events = (events or []) + found
    return events


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line, in Batsim 5's spelling. Ends the program if it cannot be understood."""
    parser = argparse.ArgumentParser(
        prog="python -m batkube.simulator --protocol 5",
        description="Simulate in the place of Batsim 5: the same options and messages, and jobs.csv; ideal dates.",
    )
    add = parser.add_argument
    add("-p", "--platform", type=Path, help="SimGrid platform (XML)")
    add("-w", "--workload", type=Path, nargs="+", action="extend", default=[], help="workloads (JSON)")
    add("--ee", "--external-events", type=Path, nargs="+", action="extend", default=[], dest="external_events")
    add("-e", "--export", default="out/", help="prefix of the output files")
    add("-s", "--edc-socket-str", nargs=2, metavar=("ENDPOINT", "INIT"), help="where the decision process listens")
    add("-m", "--master-host", default=DEFAULT_MASTER, help="the host that does not compute")
    add("-r", "--add-role", nargs=2, action="append", default=[], metavar=("HOST", "ROLE"))
    add("--mmax", type=int, help="use only so many compute hosts")
    add("--version", "--batsim-version", action="store_true", help="say the version that this stands in for")
    for ignored in ("--trace-machine-state", "--trace-pstate-changes", "-q", "--quiet"):
        add(ignored, action="store_true", help=argparse.SUPPRESS)
    add("-v", "--verbosity", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if not given.version and (given.platform is None or given.edc_socket_str is None):
        parser.error("-p and -s are needed")
    return given
