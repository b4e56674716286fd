"""The command line of Batsim, by version, made of options, and the version of Batsim that a program is."""

import asyncio
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from batkube.batsim.batprotocol import command_line
from batkube.batsim.batprotocol.init_string import Options
from batkube.batsim.errors import SimulatorError
from batkube.batsim.options import BatsimOptions, Verbosity, read_workflow_start

VERSION_TIMEOUT = 10.0
"""Real seconds that ``batsim --version`` may take: it loads nothing."""

_VERSION = re.compile(r"\bv?(\d+)\.(\d+)(?:\.(\d+))?")


@dataclass(frozen=True)
class BatsimInputs:
    """The inputs that a run gives to a Batsim besides its options."""

    platform: Path
    workloads: Sequence[Path] = ()
    export_prefix: Path = Path("out")
    """The prefix of its output files, before ``_jobs.csv`` and the like."""


@dataclass(frozen=True)
class BatsimVersion:
    """The output of ``batsim --version``."""

    text: str = ""
    major: int | None = None
    """The major version; None if it could not be found out. It is then taken for the 4 that users have."""


UNKNOWN_VERSION = BatsimVersion()


def find_batsim(binary: Path | None = None) -> Path:
    """Return the program: ``binary``, else ``batsim`` on PATH. Raises SimulatorError."""
    found = shutil.which(str(binary or "batsim"))
    if found is None:
        where = f"{binary} is no program" if binary else "there is no batsim on PATH"
        raise SimulatorError(f"cannot start Batsim: {where} (https://batsim.readthedocs.io tells how to get it)")
    return Path(found)


async def batsim_version(command: Sequence[str | Path]) -> BatsimVersion:
    """Ask a Batsim for its version. It is unknown if the Batsim gives none within VERSION_TIMEOUT."""
    try:
        process = await asyncio.create_subprocess_exec(
            *map(str, command),
            "--version",
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
    except OSError as error:
        raise SimulatorError(f"cannot start {command[0]}: {error.strerror}") from None
    try:
        said, _ = await asyncio.wait_for(process.communicate(), VERSION_TIMEOUT)
    except TimeoutError:
        return UNKNOWN_VERSION
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    return read_version(said.decode(errors="replace"))


def read_version(text: str) -> BatsimVersion:
    """Return the version in a text such as ``v4.2.1`` or ``batsim 5.0.0``. Its major number is None if it has none."""
    found = _VERSION.search(text)
    return BatsimVersion(text.strip().splitlines()[0] if found else "", int(found[1]) if found else None)


def arguments(inputs: BatsimInputs, options: BatsimOptions, address: str, *, major: int = 4) -> list[str]:
    """Return the arguments for a Batsim of this ``major`` version that shall call at ``address``.

    Raises SimulatorError for an option that a Batsim of that version does not have.
    """
    for _, spelling, _ in options.given():
        if not spelling.since <= major <= spelling.until:
            raise SimulatorError(f"{spelling.names[0]}: there is no such option in Batsim {major}")
    return (_of_batsim_5 if major >= 5 else _of_batsim_4)(inputs, options, address)


def _of_batsim_4(inputs: BatsimInputs, options: BatsimOptions, address: str) -> list[str]:
    words = ["-p", str(inputs.platform.absolute())]
    for path in inputs.workloads:
        words += ["-w", str(path.absolute())]
    words += ["-e", str(inputs.export_prefix.absolute()), "-s", address]
    for name, spelling, value in options.given():
        if name != "further":
            for one in value if isinstance(value, tuple) else (value,):
                words += [spelling.batsim, *_values(name, one)]
    return words + list(options.further)


def _values(name: str, value: object) -> list[str]:
    if value is True:
        return []
    if name == "workflow_starts":
        file, start = read_workflow_start(str(value))
        return [str(file.absolute()), repr(start)]
    return [str(value.absolute()) if isinstance(value, Path) else str(value)]


def _of_batsim_5(inputs: BatsimInputs, options: BatsimOptions, address: str) -> list[str]:
    further = [f"--sg-cfg={text}" for text in options.simgrid_config]
    further += [f"--sg-log={text}" for text in options.simgrid_log]
    if options.verbosity is not None:
        names = {Verbosity.INFORMATION: "info", Verbosity.NETWORK_ONLY: "info"}
        further += ["--verbosity", names.get(options.verbosity, options.verbosity.value)]
    return command_line.arguments(
        address,
        platform=inputs.platform,
        workloads=inputs.workloads,
        external_events=options.external_events,
        export_prefix=inputs.export_prefix.absolute(),
        master_host=options.master_host,
        roles=options.roles,
        mmax=options.mmax,
        mmax_workload=options.mmax_workload,
        energy=options.energy,
        state_tracing=not options.disable_machine_state_tracing,
        options=Options(
            compute_sharing=options.compute_sharing,
            dynamic_jobs=options.dynamic_jobs,
            acknowledge_dynamic_jobs=options.acknowledge_dynamic_jobs,
            profile_reuse=options.profile_reuse,
        ),
        further=[*further, *options.further],
    )
