"""A scenario beside the real kube-controller-manager, on the simulated clock of a run."""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import yaml

from tests import warm
from tests.waiting import wait_until

from .scenario import Scenario, machine_events, platform, read

JSON = dict[str, Any]

ROOT = Path(__file__).parents[2]
MANAGER = "kube-controller-manager-1.36.3"
RECORDED = Path(__file__).parent / "recorded"
DEADLINE = 900
"""Real seconds for a run, on a busy machine too."""

CONTROL_PLANE = """\
#!/bin/sh
{manager} --kubeconfig="$KUBECONFIG" --leader-elect=false --secure-port=0 --kube-api-qps=5000 --kube-api-burst=5000 \\
    --controllers={controllers} --flex-volume-plugin-dir="$(dirname "$KUBECONFIG")" &
{python} -m tests.controllers.program {name} {notes} &
wait
"""


class RecordingError(RuntimeError):
    """The run did not come to its end."""


def record(name: str, manager: Path, folder: Path) -> list[JSON]:
    """Play the scenario in `folder`; return the notes. Raises RecordingError."""
    scenario, notes = read(name), folder / "notes.json"
    command = write_inputs(scenario, folder)
    script = folder / "control-plane.sh"
    script.write_text(
        CONTROL_PLANE.format(
            manager=shlex.quote(str(manager)),
            controllers=",".join(scenario.controllers),
            python=shlex.quote(sys.executable),
            name=name,
            notes=shlex.quote(str(notes)),
        )
    )
    command += ["--timers", "all", "--scheduler-cmd", shlex.join(["sh", str(script)])]
    words = [sys.executable, "-m", "batkube", "run", *command, "-o", str(folder / "out")]
    with warm.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=ROOT) as process:
        try:
            # The run may go on: a CronJob has no end.
            wait_until("all was looked at", lambda: notes.exists() or process.poll() is not None)
        finally:
            process.terminate()
            said, _ = process.communicate(timeout=DEADLINE)
    if not notes.exists():
        raise RecordingError(f"{name}: {said}")
    found: list[JSON] = json.loads(notes.read_text())
    return found


def write_inputs(scenario: Scenario, folder: Path) -> list[str]:
    """Write platform and objects; return the words of `batkube run` that name them."""
    (folder / "platform.xml").write_text(platform(scenario))
    (folder / "objects.yaml").write_text(yaml.safe_dump_all(scenario.objects))
    words = ["--platform", str(folder / "platform.xml"), "--enable-compute-sharing", "--until", str(scenario.end)]
    if scenario.outages:
        (folder / "events.txt").write_text(machine_events(scenario))
        words += ["--events", str(folder / "events.txt"), "--node-monitor-grace-period", str(scenario.grace)]
    return [*words, *(["--objects", str(folder / "objects.yaml")] if scenario.objects else [])]


def recorded(name: str) -> list[JSON]:
    """Read what was recorded of a scenario."""
    found: list[JSON] = json.loads((RECORDED / f"{name}.json").read_text())
    return found


def keep(name: str, notes: list[JSON]) -> None:
    """Write what is recorded, a change a line."""
    (RECORDED / f"{name}.json").write_text(_written(notes))


def _written(notes: list[JSON]) -> str:
    lines = []
    for note in notes:
        head = {key: value for key, value in note.items() if key != "changed"}
        text = json.dumps(head, sort_keys=True)[:-1]
        if changed := note.get("changed"):
            each = ",\n".join(f"  {json.dumps(key)}: {json.dumps(changed[key], sort_keys=True)}" for key in changed)
            text += f', "changed": {{\n{each}\n }}'
        lines.append(f" {text}}}")
    return "[\n" + ",\n".join(lines) + "\n]\n"
