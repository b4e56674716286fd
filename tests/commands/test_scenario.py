"""Scenarios: a run in one file, checked with lines and keys, and its schema."""

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from batkube.commands import cli
from batkube.commands import run as run_command
from batkube.commands.schema import Schema, text
from batkube.commands.settings_options import keys_of
from batkube.schedulers.program_settings import Restart
from batkube.settings import RunSettings
from tests.commands.options import SCHEMA


@pytest.fixture
def settled(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Return the settings that ``batkube run ARGUMENTS`` comes to, and the exit code; nothing is run."""
    taken: list[RunSettings] = []

    def note(settings: RunSettings, *, verbosity: int = 0) -> int:
        taken.append(settings)
        return 0

    monkeypatch.setattr(run_command, "main", note)

    def type_in(*words: object) -> RunSettings:
        monkeypatch.setattr(sys, "argv", ["batkube", "run", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert not ended.value.code, "bad input"
        return taken[-1]

    return type_in


@pytest.fixture
def refused(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Any:
    """Return what is said of a scenario, without its folder."""

    def run(content: str, *words: str) -> str:
        path = tmp_path / "scenario.yaml"
        path.write_text(content)
        monkeypatch.setattr(sys, "argv", ["batkube", "run", str(path), *words])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        assert ended.value.code == 2
        return capsys.readouterr().err.removeprefix("batkube: ").replace(f"{tmp_path}/", "").strip()

    return run


SCENARIO = """\
# A comment.
platform: ['4 x 8cpu,32Gi', nodes.yaml]
workload: jobs.csv
enable-compute-sharing: true
scheduler-cmd: ./bin/mine --fast
programs:
  - {name: user, command: sh user.sh, restart: on-failure, start: 5m}
  - probe=sh probe.sh
feature-gates: {GenericWorkload: true}
timers: 30
until: 1h
seed: 3
out: results
"""


def test_all_that_can_be_typed_can_be_in_the_file(settled: Any, tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text(SCENARIO)
    settings = settled(path, "--seed", 7, "-w", "other.csv")
    assert settings.platform == (Path("4 x 8cpu,32Gi"), tmp_path / "nodes.yaml")
    assert settings.workloads == (Path("other.csv"),)  # the command line wins, and is relative to where it is typed
    assert settings.seed == 7
    assert settings.batsim.compute_sharing
    assert (settings.scheduler_command, settings.scheduler_folder) == ("./bin/mine --fast", tmp_path)
    user, probe = settings.programs
    assert (user.name, user.restart, user.start, user.folder) == ("user", Restart.ON_FAILURE, 300, tmp_path)
    assert (probe.name, probe.command, probe.folder) == ("probe", "sh probe.sh", tmp_path)
    assert settings.api.feature_gates == ("GenericWorkload=true",)
    assert settings.step.timers == 30
    assert settings.run_times.until == 3600
    assert settings.out == tmp_path / "results"


def test_what_is_typed_stays_where_it_is_typed(settled: Any, tmp_path: Path) -> None:
    path = tmp_path / "scenario.yaml"
    path.write_text("platform: 2 x 4cpu\nuntil: 60\n")
    assert settled(path, "--scheduler-cmd", "sh mine.sh").scheduler_folder is None


BASE = "platform: 2 x 4cpu\nuntil: 60\n"


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("platfrom: x\n", "scenario.yaml, line 1: 'platfrom' is no option of `batkube run`: did you mean platform"),
        (f"{BASE}ssed: 3\n", "line 3: 'ssed' is no option of `batkube run`: did you mean seed or seeds?"),
        (f"{BASE}xyzzy: 3\n", "line 3: 'xyzzy' is no option of `batkube run` (`batkube run --help` has them)"),
        (f"{BASE}seed: soon\n", "scenario.yaml, line 3: --seed: expected a whole number, not 'soon'"),
        (f"{BASE}strict: 3\n", "line 3: strict: expected true or false, not 3"),
        (f"{BASE}seeds: 0\n", "line 3: seeds: expected a whole number above 0, not 0"),
        (f"{BASE}out:\n", "line 3: out: expected a value"),
        (f"{BASE}out: {{a: b}}\n", "line 3: out: expected a text or a number"),
        (f"{BASE}on-deadlock: maybe\n", "line 3: --on-deadlock: expected a value 'fail' or 'reject', not 'maybe'"),
        (f"{BASE}program: []\nprograms: []\n", "line 4: programs: is given twice"),
        (f"{BASE}programs:\n  - {{name: a, comand: b}}\n", "line 3: programs: 'comand' is none of name, command"),
        (f"{BASE}programs:\n  - {{name: a}}\n", "line 3: programs: command: field required"),
        (f"{BASE}programs: [{{name: a, command: b, start: x}}]\n", "line 3: programs: expected seconds or a length"),
        (f"{BASE}programs: [a=x, a=y]\n", "line 3: --program: 'a' is the name of two programs"),
        (f"{BASE}clock: tree\n", "scenario.yaml, line 3: --clock tree is for a scheduler that is a process"),
        (f"{BASE}seed: [1\n", "scenario.yaml, line 4: no YAML"),
        ("- a\n", "scenario.yaml: expected options of `batkube run`, such as `platform: cluster.xml`"),
        ("until: 60\n", "a platform is missing (-p)"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(refused: Any, content: str, said: str) -> None:
    assert said in refused(content)


def test_what_is_wrong_on_the_command_line_is_not_told_of_the_file(refused: Any) -> None:
    assert refused(f"{BASE}seed: 3\n", "--seed", "soon") == "--seed: expected a whole number, not 'soon'"


def test_the_published_schema_is_that_of_the_options() -> None:
    published = SCHEMA.read_text()
    assert published == text(Schema.SCENARIO, keys_of(cli.run)), "python -m tests.commands.options"
    properties = json.loads(published)["properties"]
    assert properties["clock"]["enum"] == ["auto", "once", "tree", "real", "paced"]
    assert {"platform", "workloads", "programs", "seeds", "until", "energy"} <= set(properties)


def test_a_scenario_to_begin_with(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def batkube(*words: object) -> int:
        monkeypatch.setattr(sys, "argv", ["batkube", *map(str, words)])
        with pytest.raises(SystemExit) as ended:
            cli.main()
        return int(ended.value.code or 0)

    assert batkube("init", "scenario", tmp_path / "mine") == 0
    assert {path.name for path in (tmp_path / "mine").iterdir()} == {
        "scenario.yaml",
        "jobs.csv",
        "scenario.schema.json",
    }
    assert batkube("run", tmp_path / "mine" / "scenario.yaml") == 0
    assert json.loads((tmp_path / "mine" / "out" / "run.json").read_text())["jobs"]["succeeded"] == 7
    capsys.readouterr()
    assert batkube("init", "scenario", tmp_path / "mine") == 2
    assert "scenario.yaml is there already; nothing was written" in capsys.readouterr().err
