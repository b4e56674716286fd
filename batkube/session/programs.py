"""The programs of a run beside its scheduler: on its clock, observed with it, each with its place among them."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path

from batkube.bridge.clock_quiescence import LEAD
from batkube.bridge.errors import InputError
from batkube.clock.launch import Mode
from batkube.clock.oracle import IdleOracle
from batkube.clock.simulated import SimulatedClock
from batkube.clock.tcp import HasFileDescriptor
from batkube.named_file import read_named
from batkube.results.run import Program as ProgramFile
from batkube.results.run import ProgramRun, Run, input_file
from batkube.schedulers.program_settings import ProgramSettings
from batkube.schedulers.programs import Program, Programs
from batkube.schedulers.under_test import ApiAccess, environment, filled_in
from batkube.session.inputs import Inputs
from batkube.session.scheduler_clock import program_launcher
from batkube.settings import Determinism, RunSettings

FILE = re.compile(r"\{file:([^}]+)\}")
"""A file in a command: it is copied into the folder of results, with its placeholders filled in."""
MOST_PROCESSES = 1 << 22
"""The process ids that there are at most on Linux."""


def programs_beside(
    settings: RunSettings, inputs: Inputs, access: ApiAccess, oracle: IdleOracle, clock: SimulatedClock, mode: Mode
) -> Programs:
    """Return them, ready to be started."""
    seed = None if settings.determinism is Determinism.NONE else settings.seed
    programs = []
    for given in settings.programs:
        words = [_with_files(word, given, access, settings.out) for word in inputs.programs[given.name]]
        log = settings.out / f"{given.name}.log"
        due = None if given.start is None else LEAD + given.start
        programs.append(Program(given.name, filled_in(words, access), given.restart, log, given.folder, due=due))
    launch = program_launcher(clock, mode, seed)
    return Programs(
        programs, environment(access, seed), launch, lambda: clock.date, oracle.add, clock.forget, clock.settle
    )


def _with_files(word: str, program: ProgramSettings, access: ApiAccess, out: Path) -> str:
    """Copy the files that a word names as ``{file:PATH}``, placeholders filled in; return it with their names.

    Programs that take their kubeconfig from a configuration file find it so. Raises InputError and OSError.
    """

    def copied(found: re.Match[str]) -> str:
        path = (program.folder or Path()) / found[1]
        copy = out / _copy_name(program.name, found[1])
        try:
            text = read_named(path).decode()
        except UnicodeDecodeError:
            raise InputError(f"--program {program.name}: {path}: no UTF-8 text") from None
        copy.write_text("\n".join(filled_in(text.split("\n"), access)), encoding="utf-8")
        return str(copy.absolute())

    return FILE.sub(copied, word)


def _copy_name(program: str, path: str) -> str:
    return f"{program}-{Path(path).name}"


def place_among(oracle: IdleOracle, programs: Programs) -> Callable[[HasFileDescriptor], int | None]:
    """Return the order of those that take turns: the scheduler, then the programs as they were given.

    Their process ids alone would not do: what two programs start at the same time gets them in any order.
    """

    def place(connection: HasFileDescriptor) -> int | None:
        pid = oracle.place_of(connection)
        return None if pid is None else programs.rank(pid) * MOST_PROCESSES + pid

    return place


def program_records(settings: RunSettings, programs: Programs | None, mode: Mode) -> list[ProgramRun]:
    """Return what ``run.json`` has of them from the start. Raises OSError."""
    copies = {
        given.name: [_copy_name(given.name, path) for path in FILE.findall(given.command)]
        for given in settings.programs
    }
    return [
        ProgramRun(
            name=program.name,
            command=program.command,
            clock=mode,
            restart=program.restart.value,
            log=program.log.name,
            files=copies[program.name],
            binary=_file_of(program.command[0]),
        )
        for program in (programs.programs if programs is not None else ())
    ]


def _file_of(word: str) -> ProgramFile | None:
    found = shutil.which(word)
    return None if found is None else ProgramFile(**input_file(Path(found)).model_dump())


def former_files(out: Path) -> list[Path]:
    """Return the logs and files of programs of the run whose results are in the folder."""
    try:
        programs = Run.read(out / "run.json").programs
    except (OSError, ValueError):
        return []
    names = [name for program in programs for name in (program.log, *program.files)]
    return [out / name for name in names if "/" not in name]
