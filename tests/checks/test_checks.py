"""Rules and invariants, on results made by hand."""

import csv
import json
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import batkube
from batkube.checks.invariants import look
from batkube.checks.reports import annotations, check_markdown, junit
from batkube.checks.rules import RulesError, default_rules, read_rules, rules_of
from batkube.checks.verdicts import Verdicts, check_side
from batkube.comparison.facts import RecordedRun
from batkube.comparison.sides import Side
from tests.comparison.made import Job, queue, write_results
from tests.comparison.test_comparing import many

JOBS = queue(30)
Made = Callable[..., Side]


@pytest.fixture
def made(tmp_path: Path) -> Made:
    """Write results and return them."""

    def write(name: str, jobs: list[Job], **options: Any) -> Side:
        return Side.of(write_results(tmp_path / name, jobs, **options))

    return write


def checked(side: Side, rules: list[Any], baseline: Side | None = None) -> Verdicts:
    return check_side(side, baseline, rules_of(rules, "rules"))


def broken(found: Verdicts) -> list[str]:
    return [verdict.rule for verdict in found.broken]


def test_good_results_hold(made: Made) -> None:
    found = check_side(made("a", JOBS), None, default_rules(baseline=False))
    assert found.passed
    assert {verdict.outcome for verdict in found.verdicts} == {"holds"}


def test_rules_are_broken_by_what_they_say(made: Made) -> None:
    side, before = made("b", queue(30, later=3)), made("a", JOBS)
    rules = ["mean_wait <= 1.05 * baseline", "p99_slowdown < 50", "makespan < 1000", {"same_schedule": True}]
    found = checked(side, rules, before)
    assert broken(found) == ["mean_wait <= 1.05 * baseline", "same_schedule: true"]
    (wait, same) = found.broken
    assert wait.why == "75.500 <= 30.450"
    bound = "pod bound: pod j0, node n0"
    assert same.details == [f"decision 1 was 0.000 s: {bound}; now it is 3.000 s: {bound}"]


def test_a_rejected_job_breaks_what_is_on_by_default(made: Made) -> None:
    side = made("a", [*JOBS, Job("r", 5, 5, 5, state="REJECTED")])
    assert broken(checked(side, [])) == ["rejected == 0"]
    assert broken(checked(side, ["rejected <= 1"])) == []


def test_a_run_that_did_not_finish_breaks_what_is_on_by_default(made: Made) -> None:
    side = made("a", JOBS, status="failed")
    assert [(one.rule, one.why) for one in checked(side, []).broken] == [("finished: true", "failed: it was told to")]
    assert checked(side, [{"finished": False}]).passed


def test_a_figure_that_is_not_there_breaks_its_rule(made: Made) -> None:
    found = checked(made("a", JOBS), ["fairness > 0.5", "mean_wait[user=ann] < 3"])
    assert [one.rule for one in found.broken] == ["fairness > 0.5", "mean_wait[user=ann] < 3"]
    assert "there is no fairness in" in found.broken[0].why


def test_other_inputs_are_a_warning_or_a_broken_rule(made: Made) -> None:
    side, before = made("b", JOBS, workload="x"), made("a", JOBS)
    assert checked(side, [], before).warnings == ["The inputs are not those of the baseline: workload 1."]
    assert broken(checked(side, [{"same_inputs": True}], before)) == ["same_inputs: true"]


def test_another_schedule_is_noted_where_no_rule_forbids_it(made: Made) -> None:
    """Jobs have changed places, and no figure tells."""
    before = made("a", [replace(job, node=number % 2) for number, job in enumerate(JOBS)], nodes=2)
    moved = [replace(job, node=number % 2 if number < 20 else 1 - number % 2) for number, job in enumerate(JOBS)]
    found = checked(made("b", moved, nodes=2), ["mean_wait <= baseline"], before)
    assert found.passed
    said, *pods = found.notes
    assert said.startswith("the schedule is not that of the baseline: 10 pods on another node or at another date")
    dates = [job.started for job in JOBS[20:25]]
    assert pods == [
        f"pod j{number}: n{number % 2} at {date:,.3f} s; now n{1 - number % 2} at {date:,.3f} s"
        for number, date in enumerate(dates, start=20)
    ]
    assert pods[0] in check_markdown(found)
    assert f"::notice title=batkube check::{said}%0A{pods[0]}" in next(annotations(found))
    assert checked(made("c", moved, nodes=2, seed=5), [], before).notes == []
    assert checked(before, [], before).notes == []
    assert checked(made("d", moved, nodes=2), [{"same_schedule": True}], before).notes == []


def test_regressions_over_seeds_have_to_be_told_from_chance(tmp_path: Path) -> None:
    before = many(tmp_path / "a", 0, range(6), noise=40)
    same, slower = many(tmp_path / "b", 0, range(10, 16), noise=40), many(tmp_path / "c", 300, range(6), noise=40)
    rules = ["mean_wait <= baseline", {"invariants": "none"}]
    (verdict,) = [one for one in checked(same, rules, before).verdicts if one.rule.startswith("mean_wait")]
    assert verdict.outcome in ("untold", "holds")
    assert broken(checked(slower, rules, before)) == ["mean_wait <= baseline"]


@pytest.mark.parametrize(("shift", "outcome"), [(0.0, "untold"), (400.0, "broken")])
def test_runs_of_other_seeds_differ_by_chance(tmp_path: Path, shift: float, outcome: str) -> None:
    before, after = many(tmp_path / "a", 0, range(1), noise=200), many(tmp_path / "b", shift, range(7, 8), noise=200)
    rules = [
        "mean_wait <= 0.9 * baseline",
        "p99_wait <= 0.5 * baseline",
        "failed <= baseline - 1",
        {"invariants": "none"},
    ]
    found = {one.rule: one.outcome for one in checked(after, rules, before).verdicts}
    assert found["mean_wait <= 0.9 * baseline"] == outcome
    assert found["p99_wait <= 0.5 * baseline"] == "untold"
    assert found["failed <= baseline - 1"] == "broken"


# Invariants


def found_in(folder: Path, name: str, *, shared: bool = False) -> tuple[int, list[str]]:
    found = look(name, RecordedRun(folder), shared=shared)
    return found.count, found.breaches


def test_a_double_booking_is_found(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "a", [Job("x", 0, 0, 10), Job("y", 0, 9, 20), Job("z", 0, 20, 30)])
    count, breaches = found_in(folder, "node_capacity")
    assert count == 2  # by pods, and by jobs
    assert breaches[0] == "n0: pod x and pod y from 9.000000 to 10.000000"
    assert breaches[1] == "host 0: job w0!x and job w0!y from 9.000000 to 10.000000"
    assert found_in(folder / "jobs.csv", "node_capacity") == (1, breaches[1:])


def test_pods_that_share_a_node_may_not_ask_for_more_than_it_has(tmp_path: Path) -> None:
    jobs = [Job("x", 0, 0, 10, cpu=2.5), Job("y", 0, 5, 20, cpu=1.5), Job("z", 0, 10, 30, cpu=2.5)]
    assert found_in(write_results(tmp_path / "a", jobs, sharing=True, cores=4), "node_capacity") == (0, [])
    assert found_in(write_results(tmp_path / "b", jobs, sharing=True, cores=3), "node_capacity")[1] == [
        "n0: from 5.000000 its pods ask for 4 cpu, it has 3; pod y is the last",
        "n0: from 10.000000 its pods ask for 4 cpu, it has 3; pod z is the last",
    ]


def test_what_runs_too_early_is_found(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "a", [Job("x", 5, 3, 10)])
    assert found_in(folder, "order_of_dates")[1] == [
        "job w0!x started at 3.000000, before it was submitted at 5.000000",
        "pod x bound at 3.000000, before it was created at 5.000000",
    ]


def test_lost_and_doubled_jobs_are_found(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "a", JOBS)
    lines = (folder / "jobs.csv").read_text().splitlines(keepends=True)
    (folder / "jobs.csv").write_text("".join(lines[:-2] + lines[5:6]))
    _, breaches = found_in(folder, "jobs_accounted_for")
    assert breaches[0] == "job w0!j4 is in jobs.csv twice"
    assert "30 jobs were submitted, 28 are over and 0 unfinished: 2 are not accounted for" in breaches[1]
    assert breaches[2:] == ["job w0!j28 has pods, and no end", "job w0!j29 has pods, and no end"]


def test_pods_that_run_for_ever_and_those_without_a_node_are_accounted_for(tmp_path: Path) -> None:
    """A pod that a client makes is a job once it has a node; a server is one that never ends."""
    spec = {"containers": [{"name": "main", "image": "app", "resources": {"requests": {"cpu": "1"}}}]}
    pods = [{"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec} for name in ("a", "b", "c")]
    file = tmp_path / "pods.yaml"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    batkube.run(platform="2 x 1cpu", objects=file, enable_compute_sharing=True, out=tmp_path / "out", until=60)
    assert found_in(tmp_path / "out", "jobs_accounted_for") == (0, [])


def test_reasons_that_do_not_add_up_are_found(tmp_path: Path) -> None:
    folder = write_results(tmp_path / "a", JOBS)
    assert found_in(folder, "wait_reasons") == (0, [])
    with (folder / "pods.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    rows[3]["wait_no_capacity"] = "1.000000"
    with (folder / "pods.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
    assert found_in(folder, "wait_reasons")[1] == ["pod j3 waited 6.000000 s, its reasons add up to 1.000000 s"]


def with_accounts(folder: Path, notes: dict[str, str], **account: Any) -> Path:
    """Write into results what a run with ``--requeue`` says of its work."""
    with (folder / "jobs.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    with (folder / "jobs.csv").open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows({**row, "metadata": notes.get(row["job_id"], "")} for row in rows)
    run = json.loads((folder / "run.json").read_text())
    run["requeued"] = {"rule": "restart", **account}
    (folder / "run.json").write_text(json.dumps(run))
    return folder


def test_work_that_is_nowhere_is_found(tmp_path: Path) -> None:
    jobs = [Job("x", 0, 0, 10, state="COMPLETED_KILLED"), Job("x.attempt2", 10, 12, 42)]
    good = {"x": "attempt=1;done=4.0;lost=6.0;next=x.attempt2", "x.attempt2": "attempt=2;done=30.0;lost=0.0"}
    sums = {"jobs": 1, "work_run": 40, "work_done": 34, "work_lost": 6}
    folder = with_accounts(write_results(tmp_path / "a", jobs), good, **sums)
    assert found_in(folder, "work_accounted_for") == (0, [])
    folder = with_accounts(write_results(tmp_path / "b", jobs), {**good, "x": "attempt=1;done=4.0;lost=5.0"}, **sums)
    assert found_in(folder, "work_accounted_for")[1] == [
        "job w0!x ran for 10.000000 s, of which 4.000000 s are done and 5.000000 s lost",
        "job w0!x.attempt2 is attempt 2, and follows 0 others",
        "1 jobs were submitted anew, 0 are named",
        "work lost is 6.000000 core-seconds in run.json, 5.000000 in the sum of all jobs",
    ]
    folder = with_accounts(write_results(tmp_path / "c", jobs[:1]), good, **sums)
    assert "job w0!x.attempt2 was submitted anew, and is nowhere" in found_in(folder, "work_accounted_for")[1]


REAL = Path(__file__).parents[3] / "shared" / "datasets" / "batkube-test"


def test_recorded_runs_of_a_real_cluster_have_no_double_booking() -> None:
    files = sorted((REAL / "real").glob("*_jobs.csv"))
    if not files:
        pytest.skip("the recorded runs of a real cluster are not here")
    assert len(files) == 10
    for path in files:
        assert check_side(Side.of(path), None, default_rules(baseline=False)).passed, path


def test_the_double_bookings_of_an_older_simulation_are_found(tmp_path: Path) -> None:
    archive, derived = REAL / "go-batkube-simulated.tar.gz", REAL / "derived_runs.csv"
    if not archive.exists():
        pytest.skip("the recorded runs of the older simulation are not here")
    with tarfile.open(archive) as file:
        file.extractall(tmp_path, filter="data")
    total = 0
    with derived.open(newline="") as lines:
        for row in csv.DictReader(lines):
            if row["kind"] == "simulated_go_batkube" and row["double_bookings"]:
                (path,) = tmp_path.rglob(f"{row['workload']}_simu_{row['run']}_jobs.csv")
                count, _ = found_in(path, "node_capacity")
                assert count == int(row["double_bookings"]), path.name
                total += count
    assert total == 99


# The file of rules


def test_a_file_of_rules(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    entries = ["mean_wait <= 1.05 * baseline", "rejected == 0", "invariants: [node_capacity]", "same_schedule: true"]
    path.write_text("rules:\n" + "".join(f"- {entry}\n" for entry in entries))
    rules = read_rules(path)
    assert [condition.text for condition in rules.conditions] == ["mean_wait <= 1.05 * baseline", "rejected == 0"]
    assert (rules.invariants, rules.same_schedule, rules.same_inputs) == (["node_capacity"], True, False)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("rules: 3", "expected `rules:` and a list"),
        ("[1]", "expected `rules:` and a list"),
        ("rules: []\nmore: 3", "there is nothing named more"),
        ("rules:\n- mean_wiat < 3", "rule 1: 'mean_wiat < 3': there is no figure mean_wiat; did you mean mean_wait?"),
        ("rules:\n- rejected == 0\n- 3", "rule 2: expected a condition, as in mean_wait < 600, not 3"),
        ("rules:\n- invariants: some", "rule 1: invariants: expected all, none, or a list of node_capacity"),
        ("rules:\n- invariants: [nodes]", "not 'nodes'"),
        ("rules:\n- same_schedule: maybe", "same_schedule: expected true or false, not 'maybe'"),
        ("rules:\n- same: true", "there is nothing named same"),
        ("rules:\n- [", ": no YAML: "),
    ],
)
def test_mistakes_in_rules_are_named(tmp_path: Path, text: str, said: str) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(text + "\n")
    with pytest.raises(RulesError) as error:
        read_rules(path)
    assert said in str(error.value)
    assert str(error.value).startswith(str(path))
    assert "\n" not in str(error.value)


# What is told


def test_reports_name_what_is_broken_and_for_whom(made: Made) -> None:
    late = [replace(job, started=job.started + 99, ended=job.ended + 99) if job.name == "j7" else job for job in JOBS]
    found = checked(made("b", late), ["max_wait <= baseline", {"invariants": "none"}], made("a", JOBS))
    assert not found.passed
    text = check_markdown(found)
    assert "| ❌ | max\\_wait \\<= baseline | 113 \\<= 58 |" in text
    assert "- pod j7: waits 113 s (no capacity), +99 s" in text
    suite = ElementTree.fromstring(junit(found))[0]
    assert (suite.get("tests"), suite.get("failures")) == ("3", "1")
    (failure,) = suite.findall("testcase/failure")
    assert failure.get("message") == "113 <= 58"
    (line,) = annotations(found)
    assert line == "::error title=batkube check::max_wait <= baseline: 113 <= 58"


def test_a_hundred_identical_runs_have_a_hundred_identical_verdicts(tmp_path: Path) -> None:
    before = write_results(tmp_path / "before", JOBS)
    told = set()
    for number in range(100):
        folder = write_results(tmp_path / str(number) / "out", queue(30, later=1))
        found = check_side(Side.of(folder), Side.of(before), default_rules(baseline=True))
        told.add(junit(found).replace(str(tmp_path / str(number)), ""))
        told.add(str([(one.rule, one.outcome, one.why) for one in found.verdicts]))
    assert len(told) == 2
