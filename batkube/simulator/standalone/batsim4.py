"""The standalone simulator in the place of Batsim 4, a program of its own: it connects, asks, and writes its files.

With it everything that talks to Batsim can be tried and tested where there is no Batsim.
"""

import argparse
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import ValidationError
from pydantic.fields import FieldInfo

from batkube.batsim.codec import decode, encode_as_batsim
from batkube.batsim.errors import SimulatorError
from batkube.batsim.options import BatsimOptions, Spelling, spelled_fields
from batkube.batsim.platform import Platform, read_platform
from batkube.batsim.workload import Workload, read_workload
from batkube.simulator.conversation.errors import Deadlock
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.options.simulator_options import SimulatorOptions
from batkube.simulator.options.translation import ONLY_BATSIM, WITHOUT_MEANING, simulator_options
from batkube.simulator.outputs.files import write_files
from batkube.simulator.standalone.exits import BAD_INPUT, FAILED, FINISHED, fail
from batkube.simulator.standalone.request_socket import RequestSocket

NOT_TAKEN = (*WITHOUT_MEANING, *ONLY_BATSIM)
"""Fields of BatsimOptions; some of these are taken and mean nothing."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Simulate as the command line says, and return the exit code."""
    given = parse_arguments(arguments)
    try:
        inputs = read_inputs(given)
        simulator = EmbeddedSimulator(inputs.platform, inputs.workloads, inputs.options)
    except (ValueError, OSError) as error:
        return fail(str(error), BAD_INPUT)
    try:
        talk(simulator, given.socket_endpoint)
    except SimulatorError as error:
        if isinstance(error, Deadlock):
            write_files(simulator, given.export)
        return fail(str(error), FAILED)
    except OSError as error:
        return fail(f"cannot connect to {given.socket_endpoint}: {error}", FAILED)
    except KeyboardInterrupt:
        return fail("interrupted", FAILED)
    write_files(simulator, given.export)
    return FINISHED


def talk(simulator: EmbeddedSimulator, endpoint: str) -> None:
    """Ask the decision process bound at ``endpoint`` until the simulation ends. Waits for one that binds late."""
    with RequestSocket(endpoint) as socket:
        while not simulator.over:
            simulator.answer(decode(socket.ask(encode_as_batsim(simulator.next_message()))))


@dataclass(frozen=True)
class Inputs:
    """The files that the command line names, read."""

    platform: Platform
    workloads: list[Workload]
    options: SimulatorOptions


def read_inputs(given: argparse.Namespace) -> Inputs:
    """Read all files. Raises ValueError, naming the file."""
    platform = read_platform(given.platform)
    workloads = [read_workload(path, f"w{index}") for index, path in enumerate(given.workload)]
    options = simulator_options(batsim_options(given), workloads, exact=given.exact, needs_master=True)
    return Inputs(platform, workloads, options)


def batsim_options(given: argparse.Namespace) -> BatsimOptions:
    """Return the options of Batsim that were given. Raises ValueError, naming the option."""
    spelled = {name: spelling for name, spelling, _ in spelled_fields(BatsimOptions) if name not in NOT_TAKEN}
    values = {name: value for name in spelled if (value := getattr(given, name)) is not None}
    values["workflow_starts"] = [_start(path, date) for path, date in values.get("workflow_starts", ())]
    try:
        return BatsimOptions.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        what = first["msg"].removeprefix("Value error, ")
        if not first["loc"]:
            raise ValueError(what) from None
        spelling = spelled[str(first["loc"][0])]
        raise ValueError(f"option {spelling.short or spelling.batsim}: {what}") from None


def _start(path: str, date: str) -> str:
    try:
        seconds = float(date)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < math.inf:
        raise ValueError(f"option --WS: expected a FILE and seconds from 0 on, not {date!r}")
    return f"{path}:{date}"


def parse_arguments(arguments: Sequence[str] | None = None) -> argparse.Namespace:
    """Read the command line, in Batsim's spelling. Ends the program if it cannot be understood."""
    parser = argparse.ArgumentParser(
        prog="python -m batkube.simulator",
        description="Simulate in the place of batsim: the same options, messages and output files, ideal dates.",
    )
    add = parser.add_argument
    add("-p", "--platform", type=Path, required=True, help="SimGrid platform (XML)")
    add("-w", "--workload", type=Path, action="append", default=[], help="workload (JSON); repeat for several")
    add("-e", "--export", type=Path, default=Path("out"), help="prefix of the output files")
    add("-s", "--socket-endpoint", default="tcp://localhost:28000", help="where the decision process listens")
    for name, spelling, field in spelled_fields(BatsimOptions):
        if name not in NOT_TAKEN:
            _add_option(parser, name, spelling, field)
    add("--exact", action="store_true", help="Batsim's own dates")
    for ignored in ("--disable-schedule-tracing", "-q", "--quiet"):
        add(ignored, action="store_true", help=argparse.SUPPRESS)
    add("-v", "--verbosity", help=argparse.SUPPRESS)
    add("--no-sched", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args(arguments)
    if given.no_sched:
        parser.error(
            "--no-sched: jobs that Batsim starts by itself are not simulated; a decision process is asked here"
        )
    return given


def _add_option(parser: argparse.ArgumentParser, name: str, spelling: Spelling, field: FieldInfo) -> None:
    """Add one of Batsim's options; None where it is not given."""
    how: dict[str, Any] = {"dest": name, "default": None, "help": field.description}
    if field.annotation is bool:
        how["action"] = "store_true"
    elif name == "workflow_starts":
        how |= {"action": "append", "nargs": 2, "metavar": ("FILE", "SECONDS")}
    else:
        how["metavar"] = spelling.metavar
        if get_origin(field.annotation) is tuple:
            how["action"] = "append"
        elif int in get_args(field.annotation):
            how["type"] = int
    parser.add_argument(*spelling.names, **how)
