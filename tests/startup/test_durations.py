"""The file of ``--durations``: which rule is for which pod, and what it draws."""

from pathlib import Path

import pytest

from batkube.startup.durations import Durations, RunTime, read_durations
from batkube.startup.errors import StartupError
from batkube.startup.pod_condition import PodFacts


def durations(folder: Path, text: str) -> Durations:
    path = folder / "durations.yaml"
    path.write_text(text)
    return read_durations(path)


def test_the_first_rule_whose_conditions_all_hold_counts(tmp_path: Path) -> None:
    read = durations(
        tmp_path,
        "rules:\n"
        "- {selector: 'app=web', namespace: prod, duration: 1}\n"
        "- {selector: 'app', owner: Job, duration: 2}\n"
        "- {selector: '!app', duration: 3}\n",
    )

    def seconds(namespace: str, labels: dict[str, str], owner: str = "") -> float | None:
        rule = read.rule_for(PodFacts(namespace, labels, owner))
        return None if rule is None else rule.run_time("draw", "pod", "pod").seconds

    assert seconds("prod", {"app": "web"}) == 1
    assert seconds("test", {"app": "web"}, "Job") == 2
    assert seconds("test", {"app": "web"}) is None
    assert seconds("test", {}) == 3


def test_a_rule_may_be_for_ever_and_a_share_may_fail(tmp_path: Path) -> None:
    (rule,) = durations(tmp_path, "rules: [{duration: forever, exitCode: 7}]").rules
    assert rule.run_time("draw", "pod", "pod") == RunTime(None, 7)
    (rule,) = durations(tmp_path, "rules: [{duration: 10, fail: 0.25}]").rules
    drawn = [rule.run_time(f"draw {number}", "pod", "pod") for number in range(400)]
    assert {run.exit_code for run in drawn} == {0, 1}
    assert 60 < sum(run.exit_code for run in drawn) < 140
    assert all(run.by_chance for run in drawn)


def test_a_draw_is_the_same_each_time(tmp_path: Path) -> None:
    (rule,) = durations(tmp_path, "rules: [{duration: {lognormal: {median: 60, sigma: 1}}}]").rules
    one, other = (rule.run_time(draw, "pod", "pod") for draw in ("0 default/a 0", "0 default/b 0"))
    assert one == rule.run_time("0 default/a 0", "pod", "pod")
    assert one != other


def test_a_trace_that_does_not_know_a_pod_is_told(tmp_path: Path) -> None:
    (tmp_path / "seen.csv").write_text("pod,seconds\na,5\n")
    (rule,) = durations(tmp_path, "rules: [{duration: {trace: {file: seen.csv, column: seconds}}}]").rules
    assert rule.run_time("draw", "a", "a").seconds == 5
    with pytest.raises(StartupError, match=r"seen\.csv: no row has pod b"):
        rule.run_time("draw", "b", "b")
