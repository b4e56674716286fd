"""``batkube init ci``: what it writes works, and nothing is overwritten."""

import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from batkube.batsim.platform import read_platform
from batkube.batsim.workload import read_workload
from batkube.checks.rules import read_rules
from batkube.ci.settings import Forge, InitCiSettings
from batkube.commands import init_ci

from .steps import LIFO, Runner
from .test_action import ACTION


def test_a_workflow_that_uses_the_action(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = InitCiSettings(
        folder=tmp_path, command="./s --kubeconfig {kubeconfig} --name 'a: b'", build="go build ./..."
    )
    assert init_ci.main(given) == 0
    assert "put the repository of batkube there" in capsys.readouterr().out
    workflow: dict[Any, Any] = yaml.safe_load((tmp_path / ".github" / "workflows" / "batkube.yml").read_text())
    checkout, use = workflow["jobs"]["batkube"]["steps"]
    assert checkout["uses"].startswith("actions/checkout@")
    assert use["uses"].startswith("OWNER/batkube@v")
    assert use["with"]["scheduler-cmd"] == given.command
    assert use["with"]["build"] == "go build ./..."
    assert use["with"].keys() <= ACTION["inputs"].keys()
    assert {name for name, one in ACTION["inputs"].items() if one.get("required")} <= use["with"].keys()
    for name in ("platform", "workload", "rules"):
        assert (tmp_path / use["with"][name]).is_file()
    assert len(read_workload(tmp_path / ".batkube" / "workload.json").jobs) == 120
    assert len(read_platform(tmp_path / ".batkube" / "platform.xml").hosts) == 9
    assert read_rules(tmp_path / ".batkube" / "rules.yaml").needing_baseline


def test_nothing_is_overwritten(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    theirs = tmp_path / ".batkube" / "rules.yaml"
    theirs.parent.mkdir()
    theirs.write_text("rules: []\n")
    assert init_ci.main(InitCiSettings(folder=tmp_path)) == 2
    assert capsys.readouterr().err == f"batkube: {theirs} is there already; nothing was written\n"
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [theirs]
    assert theirs.read_text() == "rules: []\n"


def test_gitlabs_job_holds_merge_requests_to_the_default_branch(tmp_path: Path) -> None:
    runner = Runner(tmp_path / "repository", tmp_path / "runner", {})
    command = "{python} -m batkube.schedulers.fifo --kubeconfig {{kubeconfig}}"
    given = InitCiSettings(folder=runner.workspace, forge=Forge.GITLAB, command=command, build="echo built > built")
    assert init_ci.main(given) == 0
    job = yaml.safe_load((runner.workspace / ".batkube" / "gitlab.yml").read_text())["batkube"]
    assert job["artifacts"]["reports"]["junit"] == "batkube-junit.xml"
    assert job["variables"]["BATKUBE_SCHEDULER"] == command
    (runner.workspace / "lifo.py").write_text(LIFO)

    # A policy will do in the place of a program.
    def played(policy: str) -> "subprocess.CompletedProcess[str]":
        script = "\n".join(job["script"]).replace('--scheduler-cmd "$BATKUBE_SCHEDULER"', f"--scheduler {policy}")
        return runner.bash(script, {**job["variables"], "CI_DEFAULT_BRANCH": "main", "CI_JOB_TOKEN": "t"})

    runner.program("pip", "exit 0")
    runner.program("curl", "exit 22")
    first = played("fifo")
    assert first.returncode == 0, first.stdout + first.stderr
    assert "there are no results of main yet" in first.stdout
    assert (runner.workspace / "built").exists()
    # From now on the artifact of the default branch is there.
    (runner.workspace / "batkube-results").rename(runner.temporary / "batkube-results")
    runner.program("curl", f"cd {runner.temporary} && python3 -m zipfile -c $OLDPWD/baseline.zip batkube-results")
    assert played("fifo").returncode == 0
    assert played("lifo:Lifo").returncode == 3
    assert "<failure" in (runner.workspace / "batkube-junit.xml").read_text()
