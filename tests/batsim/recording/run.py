"""Running Batsim beside a decision process, and keeping what was said and written."""

import json
import re
import resource
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import zmq

from tests.batsim.recording.kind import PLATFORMS, Kind
from tests.batsim.recording.processes import Process

EP = "tcp://127.0.0.1:28000"
"""Stands for the endpoint in what is kept."""
_TOLD = re.compile(r"/(WARNING|ERROR|CRITICAL)\]|Runtime error received|Aborting execution|error: |what\(\):")
_PATIENCE = 60_000
"""Milliseconds that Batsim may compute between two messages."""


class RecordingError(RuntimeError):
    """Batsim could not be run, or said nothing for too long."""


@dataclass(frozen=True)
class Run:
    """The messages and the end of a run of Batsim."""

    transcript: list[str]
    """A line for each message, as ``transcript.jsonl`` has them."""
    exit_code: int
    diagnostics: list[str]
    """The lines of warning and error that it printed."""


def run_batsim(words: list[str], folder: Path, process: Process | None) -> Run:
    """Run Batsim by these words of a command line, in ``folder``, beside a decision process if it talks to one."""
    lines: list[str] = []
    with zmq.Context() as context, context.socket(zmq.REP) as socket, tempfile.TemporaryFile("w+") as log:
        socket.linger = 0
        port = socket.bind_to_random_port("tcp://127.0.0.1")
        endpoint = ["-s", f"tcp://127.0.0.1:{port}"] if process else []
        batsim = subprocess.Popen([*words, *endpoint], cwd=folder, stdout=log, stderr=log, preexec_fn=_no_core)
        try:
            if process:
                _talk(process, batsim, socket, lines)
            batsim.wait(timeout=_PATIENCE / 1000)
        finally:
            batsim.kill()
            batsim.wait()
        log.seek(0)
        said = [_shown(line.rstrip("\n"), folder) for line in log if _TOLD.search(line)]
    return Run([_shown(line, folder) for line in lines], batsim.returncode, said)


def record(kind: Kind, folder: Path) -> None:
    """Run Batsim on a kind's inputs in ``folder``, which is made, and leave there what is to be kept."""
    folder.mkdir(parents=True)
    write_inputs(kind, folder)
    run = run_batsim(kind.words, folder, kind.process() if kind.talks else None)
    if run.transcript:
        (folder / "transcript.jsonl").write_text("".join(f"{line}\n" for line in run.transcript))
    description = {
        "scenario": kind.name,
        "desc": kind.shows,
        "command": " ".join([*kind.words, "-s", EP] if kind.talks else kind.words),
        "exit_code": run.exit_code,
        "messages": sum(line.startswith('{"dir":"batsim->edc"') for line in run.transcript),
        "events": sum(len(_events(json.loads(line))) for line in run.transcript),
        "diagnostics": run.diagnostics,
    }
    (folder / "run.json").write_text(json.dumps(description, indent=1) + "\n")
    _tidy(folder, ended=run.exit_code == 0)


def write_inputs(kind: Kind, folder: Path) -> None:
    """The input files of a kind."""
    shutil.copyfile(PLATFORMS / f"{kind.platform}.xml", folder / f"{kind.platform}.xml")
    if kind.workload is not None:
        (folder / "workload.json").write_text(json.dumps(kind.workload, indent=1) + "\n")
    for name, text in kind.files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def _talk(process: Process, batsim: subprocess.Popen[bytes], socket: "zmq.Socket[bytes]", lines: list[str]) -> None:
    """Answer Batsim until it has ended the simulation, or is gone."""
    while not process.over:
        waited = 0
        while not socket.poll(100):
            if batsim.poll() is not None and not socket.poll(100):
                return
            if (waited := waited + 100) > _PATIENCE:
                raise RecordingError(f"Batsim has said nothing for {_PATIENCE / 1000:.0f} s")
        said = socket.recv().decode()
        lines.append(f'{{"dir":"batsim->edc","msg":{said}}}')
        reply = process.answer(json.loads(said))
        socket.send_string(reply)
        try:
            json.loads(reply)
            lines.append(f'{{"dir":"edc->batsim","msg":{reply}}}')
        except ValueError:
            lines.append(json.dumps({"dir": "edc->batsim", "raw": reply}))


def _events(line: Any) -> list[Any]:
    said = line.get("msg")
    return said.get("events", []) if isinstance(said, dict) else []


def _shown(text: str, folder: Path) -> str:
    return text.replace(str(folder), "/SCENARIO")


def _tidy(folder: Path, *, ended: bool) -> None:
    """Take the wall clock out of Batsim's files, and those away that an abort has cut short."""
    for path in sorted(folder.glob("out_*")):
        if not ended or path.stat().st_size == 0:
            path.unlink()
    schedule = folder / "out_schedule.csv"
    if schedule.exists():
        head, *rows = (line.split(",") for line in schedule.read_text().splitlines())
        wall = [head.index(name) for name in ("scheduling_time", "simulation_time")]
        for row in rows:
            for place in wall:
                row[place] = "0.000000"
        schedule.write_text("".join(",".join(row) + "\n" for row in (head, *rows)))


def _no_core() -> None:
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
