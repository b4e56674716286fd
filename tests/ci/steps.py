"""Steps of a composite action, carried out as the runner of GitHub Actions does: the commands, in bash."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Step = dict[str, Any]
_EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
LIFO = """
from batkube.schedulers.policies import Bind, Policy, first_fit

class Lifo(Policy):
    def decide(self, cluster):
        for pod in reversed(list(cluster.pending.values())):
            for pod, node in first_fit(cluster, [pod]) or ():
                yield Bind(pod, node)
"""
"""A policy that prefers the newest pod."""


@dataclass
class Runner:
    """A repository, and what a runner knows while a job goes on. ``values``: those of expressions."""

    workspace: Path
    temporary: Path
    values: dict[str, str]
    programs: Path = field(init=False)

    def __post_init__(self) -> None:
        self.programs = self.temporary / "programs"
        for folder in (self.workspace, self.programs):
            folder.mkdir(parents=True, exist_ok=True)
        self.program("batkube", f'exec {sys.executable} -m batkube "$@"')

    def program(self, name: str, text: str) -> None:
        """Put a program on the PATH."""
        path = self.programs / name
        path.write_text(f"#!/bin/bash\n{text}\n")
        path.chmod(0o755)

    def run(self, step: Step) -> "subprocess.CompletedProcess[str]":
        """Carry out a step; its outputs become values."""
        given = {name: self.evaluated(str(value)) for name, value in step.get("env", {}).items()}
        done = self.bash(step["run"], given)
        for line in self._file("output").read_text().splitlines():
            name, _, value = line.partition("=")
            self.values[f"steps.{step.get('id')}.outputs.{name}"] = value
        self._file("output").write_text("")
        return done

    def bash(self, text: str, given: dict[str, str]) -> "subprocess.CompletedProcess[str]":
        """Run commands in the workspace, with the environment of a workflow."""
        environment = {
            **os.environ,
            **given,
            "PATH": f"{self.programs}:{os.environ['PATH']}",
            "PYTHONPATH": os.pathsep.join([str(self.workspace), str(Path(__file__).parents[2])]),
            "RUNNER_TEMP": str(self.temporary),
            "GITHUB_ACTIONS": "true",
            "GITHUB_OUTPUT": str(self._file("output")),
            "GITHUB_PATH": str(self._file("path")),
            "GITHUB_STEP_SUMMARY": str(self._file("summary")),
        }
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", text],
            cwd=self.workspace,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
        )

    def evaluated(self, text: str) -> str:
        """Return a text with the values of its expressions; what has none is empty, as for the runner."""
        return _EXPRESSION.sub(lambda found: self.values.get(found[1], ""), text)

    def _file(self, name: str) -> Path:
        path = self.temporary / f"github-{name}"
        path.touch()
        return path


def expressions(text: str) -> list[str]:
    """Return the expressions in a text."""
    return [found[1] for found in _EXPRESSION.finditer(text)]
