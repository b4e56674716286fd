"""Simulations whose decisions are a script: played by the embedded simulator, and where there is one by a real Batsim.

The script answers the first message that submits a job (the very first one where none is ever submitted), and each
decision has its date. The platforms have a master host whose messages to itself take no time, so that Batsim carries
a decision out at its date too, and the dates of both can be compared to the last digit that is printed.

Recordings are kept beside this file; ``python -m tests.simulator.scripted KIND`` makes those of a kind anew, which
needs ``batsim`` (4.2.1, with SimGrid 3.32) on the PATH.
"""

import importlib
import json
import lzma
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import zmq

from batkube.batsim.codec import decode, encode_as_batsim
from batkube.simulator.conversation.errors import Deadlock
from batkube.simulator.embedded import EmbeddedSimulator
from batkube.simulator.standalone import batsim4

RECORDINGS = Path(__file__).parent / "recordings"
PATIENCE = 5_000
"""Milliseconds that a real Batsim may think."""
GAVE_UP = -9
"""The exit code of a Batsim that said nothing for so long: on a few cases SimGrid 3.32 itself calculates for ever."""

JSON = dict[str, Any]


@dataclass
class Case:
    """A simulation: input files, options, decisions."""

    name: str
    platform: str
    workload: JSON | None
    script: list[JSON]
    options: list[str] = field(default_factory=list)
    files: dict[str, str] = field(default_factory=dict)
    """Further files of the folder, by path."""
    first_come: bool = False
    """Besides, each job is started as soon as there are hosts for it, in order of submission."""

    def arguments(self, folder: Path) -> list[str]:
        """The command line; writes the files that it names."""
        files = {"platform.xml": self.platform, **self.files}
        arguments = ["-p", "platform.xml", "-e", "out", *self.options]
        if self.workload is not None:
            files["workload.json"] = json.dumps(self.workload)
            arguments += ["-w", "workload.json"]
        for path, text in files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text)
        return [str(folder / word) if (folder / word).is_file() else word for word in arguments]


class _Process:
    """The decision process: says the script once, and starts jobs first come, first served where the case wants it."""

    def __init__(self, case: Case) -> None:
        self._left = case.script
        self._waits = case.workload is not None or "-W" in case.options
        self._first_come = case.first_come
        self._free: set[int] = set()
        self._queue: list[JSON] = []
        self._hosts: dict[str, list[int]] = {}

    def answer(self, message: JSON) -> JSON:
        events: list[JSON] = []
        if not self._waits or any(event["type"] == "JOB_SUBMITTED" for event in message["events"]):
            events, self._left = self._left, []
        if self._first_come:
            events = events + self._starts(message)
        return {"now": max([message["now"], *(event["timestamp"] for event in events)]), "events": events}

    def _starts(self, message: JSON) -> list[JSON]:
        for event in message["events"]:
            data = event["data"]
            if event["type"] == "SIMULATION_BEGINS":
                self._free = {resource["id"] for resource in data["compute_resources"]}
            elif event["type"] == "JOB_SUBMITTED":
                self._queue.append(data["job"])
            elif event["type"] == "JOB_COMPLETED":
                self._free.update(self._hosts.pop(data["job_id"]))
        starts = []
        while self._queue and self._queue[0]["res"] <= len(self._free):
            job = self._queue.pop(0)
            hosts = self._hosts[job["id"]] = sorted(self._free)[: job["res"]]
            self._free.difference_update(hosts)
            data = {"job_id": job["id"], "alloc": " ".join(map(str, hosts))}
            starts.append({"timestamp": message["now"], "type": "EXECUTE_JOB", "data": data})
        return starts


@dataclass
class Recording:
    """A case and what the real Batsim made of it."""

    case: Case
    exit_code: int
    messages: list[JSON]
    """Batsim's messages after the script."""
    outputs: dict[str, str]
    """Its output files by name."""


def is_over(message: JSON) -> bool:
    return any(event["type"] == "SIMULATION_ENDS" for event in message["events"])


def play(case: Case, folder: Path, *, exact: bool = False) -> tuple[EmbeddedSimulator, list[JSON]]:
    """Have the embedded simulator play a case, to its end or a deadlock; what it said. Raises its errors."""
    given = batsim4.parse_arguments([*case.arguments(folder), *(["--exact"] if exact else [])])
    inputs = batsim4.read_inputs(given)
    simulator = EmbeddedSimulator(inputs.platform, inputs.workloads, inputs.options)
    process = _Process(case)
    messages: list[JSON] = []
    while not messages or not is_over(messages[-1]):
        try:
            message = json.loads(encode_as_batsim(simulator.next_message()))
        except Deadlock:
            break
        messages.append(message)
        simulator.answer(decode(json.dumps(process.answer(message)).encode()))
    return simulator, messages


def play_on_batsim(case: Case) -> Recording:
    """Have a real Batsim play a case."""
    folder = Path(tempfile.mkdtemp(prefix="scripted"))
    with zmq.Context() as context, context.socket(zmq.REP) as socket:
        socket.linger = 0
        port = socket.bind_to_random_port("tcp://127.0.0.1")
        command = ["batsim", *case.arguments(folder), "-q", "-s", f"tcp://127.0.0.1:{port}"]
        messages: list[JSON] = []
        with (folder / "log").open("w") as log, subprocess.Popen(command, cwd=folder, stdout=log, stderr=log) as batsim:
            process = _Process(case)
            while not messages or not is_over(messages[-1]):
                if not _heard(socket, batsim):
                    batsim.kill()
                    break
                messages.append(json.loads(socket.recv()))
                socket.send_string(json.dumps(process.answer(messages[-1])))
            code = batsim.wait()
    outputs = {path.name: _lasting(path) for path in sorted(folder.glob("out_*.csv"))}
    shutil.rmtree(folder)
    return Recording(case, code, messages[1:], outputs)


def _heard(socket: zmq.Socket[bytes], batsim: subprocess.Popen[bytes]) -> bool:
    waited = 0
    while not socket.poll(50):
        waited += 50
        if batsim.poll() is not None or waited > PATIENCE:
            return False
    return True


def _lasting(path: Path) -> str:
    """An output file without what the wall clock says."""
    text = path.read_text()
    if path.name != "out_schedule.csv":
        return text
    header, row = (line.split(",") for line in text.splitlines())
    kept = [
        "0.000000" if name in ("scheduling_time", "simulation_time") else value
        for name, value in zip(header, row, strict=True)
    ]
    return ",".join(header) + "\n" + ",".join(kept) + "\n"


def recordings(kind: str) -> list[Recording]:
    """All of a kind."""
    with lzma.open(RECORDINGS / f"{kind}.json.xz", "rt") as file:
        return [Recording(**{**entry, "case": Case(**entry["case"])}) for entry in json.load(file)]


def record(kind: str, cases: Iterable[Case]) -> list[Recording]:
    """Play cases on a real Batsim and keep what it made of them."""
    made = [recording for case in cases if (recording := play_on_batsim(case)).exit_code != GAVE_UP]
    RECORDINGS.mkdir(exist_ok=True)
    with lzma.open(RECORDINGS / f"{kind}.json.xz", "wt", preset=9 | lzma.PRESET_EXTREME) as file:
        json.dump([asdict(recording) for recording in made], file, separators=(",", ":"))
    return made


def main(kinds: Iterable[str]) -> None:
    """Record the cases of ``tests.simulator.cases.KIND``."""
    for kind in kinds:
        cases = importlib.import_module(f"tests.simulator.cases.{kind}").cases()
        for recording in record(kind, cases):
            print(kind, recording.case.name, "exit code", recording.exit_code)


if __name__ == "__main__":
    main(sys.argv[1:])
