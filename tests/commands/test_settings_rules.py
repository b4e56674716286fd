"""Options that have no effect, or contradict each other, are refused in a line that names both."""

import contextlib
import io
import re
from pathlib import Path

import pytest
import typer

from batkube.commands.cli import app
from batkube.settings_rules import RULES
from tests.commands.options import lines

PLATFORM = Path(__file__).parents[2] / "platforms" / "small-cluster.xml"
RUN = ["run", "-p", str(PLATFORM), "-w", "nowhere.json"]
SERVE = ["serve", "--port", "0"]
REPLAY = ["replay", "nowhere.gz"]
SNAPSHOT = ["snapshot", "nowhere.yaml"]
FIT = ["fit-startup", "nowhere.csv", "-o", "startup.yaml"]
URL = ["--scheduler-metrics", "https://127.0.0.1:10259"]
STRANGER = ["--scheduler", "none"]
STARTED = ["--scheduler", "kube-scheduler"]

Case = tuple[list[str], list[str], str, str]

CASES: list[Case] = [
    (RUN, ["--scheduler-binary", "x"], "--scheduler-binary", "--scheduler kube-scheduler"),
    (REPLAY, ["--scheduler-binary", "x"], "--scheduler-binary", "--scheduler kube-scheduler"),
    (RUN, ["--scheduler-config", "x"], "--scheduler-config", "--scheduler kube-scheduler"),
    (REPLAY, ["--scheduler-config", "x"], "--scheduler-config", "--scheduler kube-scheduler"),
    *(
        (command, ["--scheduler", kind, "--scheduler-cmd", "x"], "--scheduler-cmd", "--scheduler")
        for command in (RUN, REPLAY)
        for kind in ("fifo", "easy", "kube-scheduler", "none")
    ),
    (RUN, ["--scheduler", "easy", "--scheduler-binary", "x"], "--scheduler-binary", "--scheduler kube-scheduler"),
    (RUN, ["--scheduler-cmd", "x", "--scheduler-binary", "x"], "--scheduler-binary", "--scheduler-cmd"),
    (RUN, ["--scheduler-cmd", "x", "--scheduler-config", "x"], "--scheduler-config", "--scheduler-cmd"),
    (RUN, [*STARTED, "--scheduler-config", "x", "--scheduler-name", "y"], "--scheduler-name", "--scheduler-config"),
    (RUN, [*STARTED, "--clock", "paced", "--decision-time", "2"], "--decision-time", "pace"),
    (SERVE, ["--pace", "2", "--decision-time", "2"], "--decision-time", "pace"),
    (RUN, ["--clock", "tree"], "--clock tree", "fifo"),
    (RUN, ["--quiescence", "quiet"], "--quiescence quiet", "fifo"),
    (RUN, URL, "--scheduler-metrics", "fifo"),
    (RUN, ["--scheduler", "easy", "--scheduler-metrics-token", "x"], "--scheduler-metrics-token", "easy"),
    (RUN, ["--scheduler-metrics-insecure"], "--scheduler-metrics-insecure", "fifo"),
    (RUN, ["--quiet-period", "2"], "--quiet-period", "fifo"),
    (RUN, [*STARTED, "--quiescence", "quiet", "--clock", "once"], "--quiescence quiet", "--clock once"),
    (RUN, [*STARTED, "--quiescence", "quiet", "--clock", "paced"], "--quiescence quiet", "--clock paced"),
    (RUN, [*STRANGER, "--clock", "tree"], "--clock tree", "--scheduler none"),
    (REPLAY, [*STRANGER, "--clock", "once"], "--clock once", "--scheduler none"),
    (RUN, ["--clock", "real", "--program", "a=true"], "--program", "--clock real"),
    (RUN, [*STRANGER, "--program", "a=true"], "--program", "--scheduler none"),
    (SERVE, ["--add-nodes", "2 like n1"], "--add-nodes", "--platform"),
    (REPLAY, [*STARTED, "--clock", "real", "--program", "a=true"], "--program", "--clock real"),
    (RUN, [*STARTED, "--bounds", "--program", "a=true"], "--program", "--bounds"),
    (RUN, [*STRANGER, "--timers", "all"], "--timers", "--scheduler none"),
    (RUN, [*STARTED, "--clock", "real", "--timers", "all"], "--timers", "--clock real"),
    (RUN, [*STARTED, "--quiescence", "quiet", "--timer-window", "5"], "--timer-window", "--quiescence quiet"),
    (REPLAY, [*STARTED, "--clock", "real", "--timer-window", "5"], "--timer-window", "--clock real"),
    (RUN, [*STRANGER, "--determinism", "fast"], "--determinism", "--scheduler none"),
    (RUN, ["--no-determinism", "--determinism", "fast"], "--no-determinism", "--determinism fast"),
    (RUN, ["--on-scheduler-loss", "fail"], "--on-scheduler-loss", "--scheduler none"),
    (["run", "-p", str(PLATFORM), "-W", "nowhere.dax"], ["--jitter", "3"], "--jitter", "--workload"),
    (["run", "-p", str(PLATFORM), "-W", "nowhere.dax"], ["--schedule", "a.yaml"], "--schedule", "--workload"),
    (["replay", "nowhere.gz"], ["--format", "swf"], "--format", "--workload"),
    (["run", "-p", str(PLATFORM), "-W", "nowhere.dax"], ["--format", "swf"], "--format", "--workload"),
    (["run", "-p", str(PLATFORM), "-W", "nowhere.dax"], ["--packing", "cores"], "--packing", "--workload"),
    (RUN, ["--seeds", "3", "--repeat", "2"], "--repeat", "--seeds"),
    (SERVE, ["--quiescence", "metrics"], "--quiescence metrics", "--scheduler-metrics"),
    (SERVE, ["--quiescence", "quiet", *URL], "--scheduler-metrics", "--quiescence quiet"),
    (SERVE, ["--scheduler-metrics-token", "x"], "--scheduler-metrics-token", "--scheduler-metrics"),
    (SERVE, ["--scheduler-metrics-insecure"], "--scheduler-metrics-insecure", "--scheduler-metrics"),
    (RUN, ["--exact", "--simulator", "tcp://127.0.0.1:1"], "--exact", "--simulator"),
    (RUN, ["--batsim-binary", "x"], "--batsim-binary", "--simulator batsim"),
    (RUN, ["--batsim-out", "x"], "--batsim-out", "--simulator tcp://"),
    (RUN, ["--power-off-after", "5"], "--power-off-after", "--energy"),
    (SERVE, ["--power-off-after", "5"], "--power-off-after", "--energy"),
    (RUN, ["--workflow-jobs-limit", "5"], "--workflow-jobs-limit", "--workflow"),
    (RUN, ["--ignore-beyond-last-workflow"], "--ignore-beyond-last-workflow", "--workflow"),
    (RUN, ["--acknowledge-dynamic-jobs"], "--acknowledge-dynamic-jobs", "--enable-dynamic-jobs"),
    (RUN, ["--enable-profile-reuse"], "--enable-profile-reuse", "--enable-dynamic-jobs"),
    (RUN, ["--sched-cfg", "x", "--sched-cfg-file", "x"], "--sched-cfg", "--sched-cfg-file"),
    (
        RUN,
        ["--energy", "--power-off-after", "3", "--failures", "mtbf=1h,mttr=1m"],
        "--power-off-after",
        "--failures",
    ),
    (RUN, ["--forward-unknown-events"], "--forward-unknown-events", "--events"),
    *(
        (SERVE, ["--api-only", *words], words[0], "--api-only")
        for words in (
            *(["--batsim", "tcp://127.0.0.1:0"], ["--platform", "x"], ["--startup", "x"], ["--energy"]),
            *(["--energy", "--power-off-after", "1"], ["--record", "x"], ["--batsim-out", "x"], ["--pace", "2"]),
            *(["--paused"], ["--decision-time", "2"], ["--on-deadlock", "reject"], ["--on-scheduler-loss", "fail"]),
            *(["--quiescence", "quiet"], ["--quiet-period", "2"], ["--patience", "2"], URL, ["--keep-finished", "2"]),
            *(["--epoch", "2"], ["--scheduler-name", "x"]),
        )
    ),
    (SERVE, ["--no-node-lifecycle"], "--no-node-lifecycle", "--api-only"),
    (SERVE, ["--watch-history", "5"], "--watch-history", "--api-only"),
    (SNAPSHOT, ["--salt", "x"], "--salt", "--anonymize"),
    (SERVE, ["--insecure", "--tls"], "--insecure", "--tls"),
    (SERVE, ["--insecure", "--client-certificate"], "--insecure", "--client-certificate"),
    (SERVE, ["--insecure", "--in-cluster-dir", "x"], "--insecure", "--in-cluster-dir"),
    (FIT, ["--test", "x", "--hold-out", "0.3"], "--hold-out", "--test"),
    (FIT, ["--test", "x", "--seed", "3"], "--seed", "--test"),
]  # fmt: skip


def said(words: list[str]) -> tuple[object, str]:
    """The exit code of a command, and what it says on stderr."""
    text = io.StringIO()
    code: object = None
    with contextlib.redirect_stderr(text):
        try:
            code = typer.main.get_command(app)(words, prog_name="batkube")
        except SystemExit as ended:
            code = ended.code
    return code, text.getvalue()


@pytest.mark.parametrize(
    ("command", "words", "one", "other"), CASES, ids=[" ".join((case[0][0], *case[1])) for case in CASES]
)
def test_options_that_do_not_go_together(
    command: list[str], words: list[str], one: str, other: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    code, text = said([*command, *words])
    assert code == 2
    assert one in text
    assert other in text.replace(one, "", 1)
    assert list(tmp_path.iterdir()) == [], "it was refused too late"


def test_what_is_refused_is_said_in_a_line() -> None:
    code, text = said([*RUN, "--scheduler-binary", "x"])
    assert (code, text) == (2, "batkube: --scheduler-binary needs --scheduler kube-scheduler\n")


def test_each_rule_is_tried_here() -> None:
    tried = {word for _, words, _, _ in CASES for word in words}
    assert {rule.option for rule in RULES} - {"--scheduler-metrics-insecure"} <= tried


def test_the_rules_name_options_that_there_are() -> None:
    known = {name for line in lines() for name in re.findall(r"--[\w-]+", line.partition(" = ")[0])}
    assert {rule.option for rule in RULES} <= known


def test_a_setting_is_named_by_its_option() -> None:
    for words, start in (
        (["--quiet-period", "-1"], "batkube: --quiet-period: expected"),
        (["--timer-window", "0"], "batkube: --timer-window: expected"),
        (["--mmax", "-1"], "batkube: --mmax: expected"),
        (["--epoch", "nan"], "batkube: --epoch: expected"),
        (["-r", "nonsense"], "batkube: --add-role-to-hosts: expected"),
    ):
        code, text = said([*RUN, *words])
        assert code == 2
        assert text.startswith(start)
