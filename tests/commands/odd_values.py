"""Options with odd values, at random: whatever a user types, the answer is a line or two, and never a traceback.

``python -m tests.commands.odd_values --count 2000 --seed 7`` tries many; ``test_odd_values.py`` a few each time.
"""

import argparse
import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

import batkube as front_door
from tests import warm
from tests.commands.options import commands

ROOT = Path(__file__).parents[2]
PLATFORM = ROOT / "platforms" / "small-cluster.xml"

NUMBERS = (
    "0", "-1", "-0", "+5", " 5", "5 ", "1.5", "1,5", "1e3", "1e-9", "1e308", "1e400", "-1e400", "1e-400", "nan", "inf",
    "-inf", "Infinity", "0x10", "1_000", "65536", "99999999999999999999999", "9" * 400, "٣", "１２", "½",
)  # fmt: skip
TEXTS = (
    "", " ", "abc", "true", "null", "None", "-", "--", "-x", "a b", "a,b", ",", "=", "a=b", "a:b", ":", "a:", ":b:",
    "{}", "[]", "[red]", "{kubeconfig}", "{nosuch}", "{", "%s", "%", "'", '"', "\\", "`", "$HOME", "~", "*", "é", "🙂",
    "\u202e", "\t", "\n", "a\nb", "\x1b[31m", "\x7f", "x" * 300, "x" * 5000, "a/b/c", "../nosuch",
)  # fmt: skip
PLACES = (
    ".", "..", "nosuch/file", "nosuch.json", "/dev/null", "/dev/full", "/proc/version", "/proc/self/mem", "empty",
    "folder", "binary", "a file", "table.csv", "text", "pipe", "socket", "loop", "huge", "nul", "latin-1", "utf-16",
    "/dev/zero", "unreadable",
)  # fmt: skip
WORDS = (
    "fifo", "easy", "kube-scheduler", "none", "embedded", "batsim", "tcp://", "tcp://x", "tcp://127.0.0.1", "tcp://*:1",
    "tcp://127.0.0.1:0", "tcp://127.0.0.1:99999", "ipc://nosuch/x", "http://", "http://127.0.0.1:1", "https://[::1",
    "localhost", "127.0.0.1", "::1", "256.1.1.1", "zero", "real:", "real:x", "real:-1", "real:2", "max", "strict",
    "once", "paced", "h:r", "nosuch:Class", "os:path", "NodeRestriction", "NoSuchPlugin", "NoSuchGate=true",
    "GenericWorkload=maybe", "api/all=x",
)  # fmt: skip
VALUES = (*NUMBERS, *TEXTS, *PLACES, *WORDS)

CODES = {0, 1, 2, 3}
"""The exit codes with which commands may end by themselves."""
INTERRUPTED = {130, -signal.SIGINT}
"""The exit codes of commands that are asked to end; the second of one that is about to end already."""
MAY_WAIT = {
    "--pace", "--paused", "--patience", "--quiet-period", "--scheduler", "--scheduler-cmd", "--simulator", "--clock",
    "--scheduler-name", "--timers", "--timer-window", "--seeds", "--repeat", "--scheduler-metrics", "--quiescence",
}  # fmt: skip
"""The options with which a run may rightly go on for ever, or for long."""
WRITTEN = {"--out", "--record", "--junit", "--markdown", "--kubeconfig", "--in-cluster-dir", "--sg-log"}
"""The options whose files are written. That a pipe waits for one who reads is so with any program; devices are left
alone, in case that a fault would replace them."""
UP = b"the Kubernetes API is at"
"""The words of a server that is up."""
LONGEST = 1000
"""The characters of a line beyond which nobody reads it."""


@dataclass(frozen=True)
class Trial:
    """A command with one odd value."""

    command: str
    option: str
    """Its long name; empty for an argument."""
    short: str
    value: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class Ended:
    """The way in which a command ended."""

    exit_code: int
    stdout: str
    stderr: str
    asked: bool
    """True if it was asked to end, by SIGINT: a server that is up, or a command that went on."""
    waited: bool
    """True if it was asked because it went on for as long as our patience."""


class Ground:
    """A place with the inputs that commands need to do their work.

    ``patience``: real seconds after which a command that goes on is asked to end.
    """

    def __init__(self, folder: Path, patience: float = 30.0) -> None:
        self._patience = patience
        self._folder = folder
        self._number = 0
        inputs = folder / "inputs"
        inputs.mkdir()
        workload = inputs / "w.json"
        jobs = [{"id": str(number), "subtime": number, "res": 1, "profile": "p"} for number in range(3)]
        workload.write_text(json.dumps({"nb_res": 4, "jobs": jobs, "profiles": {"p": {"type": "delay", "delay": 1}}}))
        recording, done = inputs / "recording", inputs / "a"
        front_door.run(platform=PLATFORM, workload=workload, record=recording, out=done)
        rows = inputs / "times.csv"
        header = "pod,created_time,bound_time,pulling_time,pulled_time,container_created_time,starting_time,finish_time"
        lines = [f"p{n},{n},{n}.1,{n}.2,{n}.5,{n}.6,{n}.8,{n + 9}" for n in range(40)]
        rows.write_text("\n".join([header, *lines]) + "\n")
        given = ("-p", str(PLATFORM), "-w", str(workload), "-o", "out")
        nobody = ("--server", "http://127.0.0.1:1")
        self.base: dict[str, tuple[str, ...]] = {
            "batkube run": given,
            "batkube serve": ("--api-only", "--port", "0", "-o", "out"),
            "batkube replay": (str(recording), "-p", str(PLATFORM), "-w", str(workload)),
            "batkube fit-startup": (str(rows), "-o", "model.yaml"),
            "batkube compare": (str(done), str(done)),
            "batkube check": (str(done),),
            "batkube show": (str(done),),
            "batkube report": (str(done),),
            "batkube kubeconfig": (),
            "batkube init ci": ("new",),
            **{f"batkube clock {what}": nobody for what in ("show", "pause", "resume")},
            "batkube clock step": ("2", *nobody),
            "batkube clock pace": ("2", *nobody),
        }
        """The words with which each command does its work."""

    def trials(self, only: str = "") -> list[Trial]:
        """Return all there are. ``only``: of this command."""
        return [
            trial
            for trial in self._all()
            if (not only or trial.command == f"batkube {only}")
            and not (trial.option in WRITTEN and trial.value.startswith("/dev/"))
        ]

    def _all(self) -> Iterator[Trial]:
        for name, command in commands():
            if name not in self.base:
                continue
            base = self.base[name]
            for parameter in command.params:
                switch = getattr(parameter, "is_flag", False)
                for value in VALUES:
                    if parameter.param_type_name == "argument":
                        words = (*base, value) if base[0].startswith("-") else (value, *base[1:])
                        yield Trial(name, "", "", value, words)
                        continue
                    option = next(name for name in parameter.opts if name.startswith("--"))
                    words = (f"{option}={value}",) if switch else (option, value)
                    short = next((name for name in parameter.opts if not name.startswith("--")), "")
                    yield Trial(name, option, short, value, (*_without(base, parameter.opts), *words))
                    if name == "batkube serve" and not switch:
                        beside = ("--port", "0", "--batsim", "tcp://127.0.0.1:0", "-o", "out")
                        yield Trial(name, option, short, value, (*_without(beside, parameter.opts), *words))

    def ended(self, trial: Trial) -> Ended:
        """Carry out a command in a folder of its own."""
        self._number += 1
        folder = self._folder / str(self._number)
        folder.mkdir()
        self._things(folder)
        environment = {**os.environ, "COLUMNS": "100", "NO_COLOR": "1", "HOME": str(folder)}
        command = [sys.executable, "-m", "batkube", *trial.command.split()[1:], *trial.words]
        printed = self._folder / "stdout", self._folder / "stderr"
        with printed[0].open("wb") as stdout, printed[1].open("wb") as stderr:
            process = warm.Popen(
                command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr, cwd=folder, env=environment
            )
            asked, waited = self._wait(process, printed[0])
        out, errors = (path.read_text(errors="replace") for path in printed)
        return Ended(process.returncode, out, errors, asked, waited)

    def _wait(self, process: warm.Popen, stdout: Path) -> tuple[bool, bool]:
        """Wait for its end, which a server is asked for as soon as it is up; tell whether it was asked, and late."""
        began = time.monotonic()
        asked = 0.0
        while process.poll() is None:
            now = time.monotonic()
            if not asked and (now - began > self._patience or UP in stdout.read_bytes()):
                process.send_signal(signal.SIGINT)
                asked = now
            elif asked and now - asked > 2 * self._patience:
                process.kill()
            time.sleep(0.01)
        return bool(asked), bool(asked) and asked - began > self._patience

    @staticmethod
    def _things(folder: Path) -> None:
        (folder / "empty").touch()
        (folder / "folder").mkdir()
        (folder / "binary").write_bytes(bytes(range(256)))
        (folder / "text").write_text("no more than a text\n")
        (folder / "a file").write_text('{"a": [1, 2, {"b": null}]}\n')
        (folder / "table.csv").write_text("a,b\n1,2\n")
        os.mkfifo(folder / "pipe")
        with socket.socket(socket.AF_UNIX) as made, contextlib.chdir(folder):
            made.bind("socket")
        (folder / "loop").symlink_to("loop")
        with (folder / "huge").open("wb") as file:
            file.truncate(1 << 40)  # it takes no room
        (folder / "nul").write_bytes(b"started: 4\0\n")
        (folder / "latin-1").write_bytes("started: 4 # f\u00fcr alle\n".encode("latin-1"))
        (folder / "utf-16").write_bytes("started: 4\n".encode("utf-16"))
        (folder / "unreadable").touch(mode=0)


def complaints(trial: Trial, ended: Ended) -> list[str]:
    """Return what is wrong with how a command ended."""
    told = ended.stderr.strip("\n")
    lines = told.splitlines()
    found = []
    if "Traceback" in told + ended.stdout or "a fault of batkube's" in told:
        found.append("a traceback")
    for_reader = trial.value == "pipe" and trial.option in WRITTEN
    if ended.waited and trial.option not in MAY_WAIT and not for_reader:
        found.append("it goes on for ever")
    if ended.exit_code not in CODES | (INTERRUPTED if ended.asked else set()):
        found.append(f"exit code {ended.exit_code}")
    if ended.exit_code != 2:
        return found
    if not 1 <= len(lines) <= 2:
        found.append(f"{len(lines)} lines")
    if not told.startswith("batkube: "):
        found.append("does not say who speaks")
    if any(len(line) > LONGEST for line in lines):
        found.append("a line that nobody reads")
    if any(not char.isprintable() for line in lines for char in line):
        found.append("control characters")
    names = [trial.value.strip(), repr(trial.value)[1:-1], str(Path(trial.value)), trial.value[:100], repr(trial.value)]
    if trial.value.startswith("-") and not trial.option:
        names.append(trial.value[:2])  # it looks like an option
    if not trial.option:
        names.append("missing argument")
    if not any(name in told for name in [trial.option, trial.short, *names] if name):
        found.append("neither the option nor its value is named")
    return found


def _without(words: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    """Return words without an option that is in them, so that it is given once."""
    found = list(words)
    for name in names:
        if name in found:
            place = found.index(name)
            del found[place : place + 2]
    return tuple(found)


def main() -> int:
    """Try many, and print those that end badly."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="", help="a command: serve, 'clock pace'")
    parser.add_argument("--value", nargs="*", default=[], help="these values alone: pipe huge")
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    bad = 0
    with tempfile.TemporaryDirectory(prefix="batkube-odd-") as made, contextlib.chdir(ROOT):
        ground = Ground(Path(made))
        trials = ground.trials(options.only)
        if options.value:
            trials = [trial for trial in trials if trial.value in options.value and trial.words[-1] == trial.value]
        chosen = Random(options.seed).sample(trials, min(options.count, len(trials)))
        for trial in chosen:
            ended = ground.ended(trial)
            if wrong := complaints(trial, ended):
                bad += 1
                print(f"{trial.command} {' '.join(map(repr, trial.words))}\n  {'; '.join(wrong)} ({ended.exit_code})")
                print("\n".join(f"  | {line[:200]}" for line in ended.stderr.splitlines()[:8]), flush=True)
    print(f"{bad} of {len(chosen)} ended badly")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
