"""The GitHub Action: its form, and what its commands do."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from .steps import LIFO, Runner, Step, expressions

ACTION: dict[str, Any] = yaml.safe_load((Path(__file__).parents[2] / "action.yml").read_text())
STEPS: list[Step] = ACTION["runs"]["steps"]
JOBS = [{"id": f"job-{number}", "subtime": 30 * number, "res": 1, "profile": "p"} for number in range(12)]


def step(name: str) -> Step:
    (found,) = [one for one in STEPS if one["name"] == name]
    return found


@pytest.fixture
def runner(tmp_path: Path) -> Runner:
    """Return a runner with a repository that has a workload for one host, and the inputs of a workflow."""
    values = {f"inputs.{name}": str(one.get("default", "")) for name, one in ACTION["inputs"].items()}
    values |= {"inputs.workload": "workload.json", "inputs.platform": "platform.xml", "inputs.scheduler": "fifo"}
    made = Runner(tmp_path / "repository", tmp_path / "runner", values)
    workload = {"nb_res": 1, "jobs": JOBS, "profiles": {"p": {"type": "delay", "delay": 60}}}
    (made.workspace / "workload.json").write_text(json.dumps(workload))
    (made.workspace / "lifo.py").write_text(LIFO)
    (made.workspace / "platform.xml").write_text(
        '<?xml version="1.0"?>\n<!DOCTYPE platform SYSTEM "https://simgrid.org/simgrid.dtd">\n<platform version="4.1">'
        '<zone id="z" routing="Full"><host id="n" speed="1Gf"/><host id="master_host" speed="1Gf"/></zone></platform>'
    )
    return made


# https://docs.github.com/en/actions/sharing-automations/creating-actions/metadata-syntax-for-github-actions


def test_it_has_the_form_of_a_composite_action() -> None:
    assert ACTION.keys() <= {"name", "author", "description", "inputs", "outputs", "runs", "branding"}
    assert {"name", "description", "runs"} <= ACTION.keys()
    assert ACTION["runs"].keys() == {"using", "steps"}
    assert ACTION["runs"]["using"] == "composite"
    for one in ACTION["inputs"].values():
        assert one.keys() <= {"description", "required", "default", "deprecationMessage"}
        assert isinstance(one.get("default", ""), str)
    for one in ACTION["outputs"].values():
        assert one.keys() == {"description", "value"}
    for one in STEPS:
        kinds = {"name", "id", "if"}, {"run", "shell", "env", "working-directory"}, {"uses", "with", "env"}
        assert ("run" in one) != ("uses" in one)
        assert one.keys() <= kinds[0] | (kinds[1] if "run" in one else kinds[2])
        assert one.get("shell", "bash") == "bash"
        assert "run" not in one or "shell" in one


def test_what_expressions_name_is_there() -> None:
    ids = {one["id"] for one in STEPS if "id" in one}
    for name in re.findall(r"inputs\.([\w-]+)", json.dumps(ACTION)):
        assert name in ACTION["inputs"], name
    for name in re.findall(r"steps\.([\w-]+)\.", json.dumps(ACTION)):
        assert name in ids, name


def test_no_text_of_others_is_taken_for_commands() -> None:
    for one in STEPS:
        assert not expressions(one.get("run", "")), one["name"]


def test_other_actions_are_of_a_fixed_version() -> None:
    for one in STEPS:
        assert re.fullmatch(r"actions/[\w/-]+@v\d+", one.get("uses", "actions/none@v0"))


def test_it_is_installed_from_where_it_lies(runner: Runner) -> None:
    runner.program(
        "python3", 'mkdir -p "$3/bin"; printf \'#!/bin/bash\\necho "$@"\' > "$3/bin/pip"; chmod +x "$3/bin/pip"'
    )
    runner.values["github.action_path"] = "/actions/batkube"
    done = runner.run(step("Install batkube"))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "/actions/batkube"
    assert (runner.temporary / "github-path").read_text() == f"{runner.temporary}/batkube-venv/bin\n"


def test_a_scheduler_is_built_or_comes_out_of_an_image(runner: Runner) -> None:
    runner.values["inputs.build"] = "echo built > 'a file'; false; echo never > b"
    assert runner.run(step("Build the scheduler")).returncode != 0
    assert (runner.workspace / "a file").exists()
    assert not (runner.workspace / "b").exists()
    runner.program("docker", 'echo "$@" >> calls; [ "$1" != create ] || echo id; [ "$1" != cp ] || touch "$3"')
    runner.values["inputs.image"] = "registry.example/scheduler:1"
    assert runner.run(step("Take the scheduler out of its image")).returncode == 0
    calls = (runner.workspace / "calls").read_text().splitlines()
    assert calls[:2] == [
        "create registry.example/scheduler:1",
        "cp id:/usr/local/bin/kube-scheduler ./scheduler-under-test",
    ]
    assert (runner.workspace / "scheduler-under-test").stat().st_mode & 0o100


def test_a_regression_is_caught_and_told(runner: Runner) -> None:
    # The base branch: there is no baseline yet, and its results become one.
    assert runner.run(step("Run")).returncode == 0
    done = runner.run(step("Check"))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "mean_wait <= 1.05 * baseline: there is no baseline" in done.stdout
    assert runner.values["steps.check.outputs.passed"] == "true"
    assert runner.run(step("Keep the results for pull requests to come")).returncode == 0
    assert (runner.workspace / ".batkube-baseline" / "run.json").exists()
    # A pull request that turns the queue round.
    runner.values["inputs.scheduler"] = "lifo:Lifo"
    runner.values["inputs.args"] = "--scheduler-name 'default-scheduler'"
    assert runner.run(step("Run")).returncode == 0
    done = runner.run(step("Check"))
    assert done.returncode == 3, done.stdout + done.stderr
    assert runner.values["steps.check.outputs.passed"] == "false"
    assert "::error title=batkube check::p99_wait <= 1.2 * baseline" in done.stdout
    assert "pod w0-job-1: waits" in (runner.temporary / "github-summary").read_text()
    assert "<failure" in (runner.temporary / "batkube-junit.xml").read_text()
    # The comment: made once, and changed from then on.
    runner.values |= {"github.repository": "o/r", "github.event.pull_request.number": "7"}
    runner.program("gh", 'echo "$@" >> calls; [ "$2" != --paginate ] || cat ids')
    (runner.workspace / "ids").write_text("")
    assert runner.run(step("Comment")).returncode == 0
    (runner.workspace / "ids").write_text("42\n")
    assert runner.run(step("Comment")).returncode == 0
    calls = (runner.workspace / "calls").read_text()
    assert "api --method POST repos/o/r/issues/7/comments --field body=@" in calls
    assert "api --method PATCH repos/o/r/issues/comments/42 --field body=@" in calls
    comment = (runner.temporary / "batkube-comment.md").read_text()
    assert comment.startswith("<!-- batkube: batkube -->\n## ")
    assert "pod w0-job-1: waits" in comment
