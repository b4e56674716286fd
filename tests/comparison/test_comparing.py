"""The findings of a comparison of two sides."""

from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from batkube.comparison.comparing import compare_sides
from batkube.comparison.longest_waits import LongestWait
from batkube.comparison.sections import sections
from batkube.comparison.sides import Side
from batkube.results.csv_rows import ResultsError

from .made import Job, queue, write_results

SLOW = [replace(job, user="ann" if number % 2 else "bob") for number, job in enumerate(queue(60))]
"""Two users' jobs on one host, which is a little too slow for them."""


def sides(tmp_path: Path, left: list[Job], right: list[Job], **options: object) -> tuple[Side, Side]:
    a, b = write_results(tmp_path / "a", left), write_results(tmp_path / "b", right, **options)  # type: ignore[arg-type]
    return Side.of(a), Side.of(b)


def test_equal_runs_are_the_same(tmp_path: Path) -> None:
    found = compare_sides(*sides(tmp_path, SLOW, SLOW))
    assert found.same
    assert found.conclusion == ["All is the same, byte for byte."]
    assert {change.verdict for change in found.figures} == {"same"}
    assert not found.pods
    assert not found.ends
    assert found.pairs[0].parting is None


def test_what_changed_is_told_with_its_interval(tmp_path: Path) -> None:
    later = [replace(job, started=job.started + 30, ended=job.ended + 30) for job in SLOW]
    found = compare_sides(*sides(tmp_path, SLOW, later))
    change = found.figure("mean_wait")
    assert not found.same
    assert (change.change, change.verdict, change.over) == (30.0, "worse", "jobs")
    assert change.low == change.high == 30.0
    assert change.left is not None
    assert change.relative == pytest.approx(30 / change.left)
    assert any("mean wait is worse" in line for line in found.conclusion)
    assert {(group.by, group.name, group.change, group.verdict) for group in found.groups} == {
        ("user", "ann", 30.0, "worse"),
        ("user", "bob", 30.0, "worse"),
    }


def test_who_wins_and_who_loses(tmp_path: Path) -> None:
    shift = {"ann": -5.0, "bob": 40.0}
    other = [
        replace(job, started=job.started + shift[job.user], ended=job.ended + shift[job.user]) for job in SLOW[10:]
    ]
    found = compare_sides(*sides(tmp_path, SLOW[10:], other))
    assert {group.name: group.verdict for group in found.groups} == {"ann": "better", "bob": "worse"}
    assert {pod.pod for pod in found.pods} <= {job.name for job in SLOW if job.user == "bob"}
    assert found.changed_pods == 50


def test_the_pods_that_changed_most_have_their_reasons(tmp_path: Path) -> None:
    said = "0/2 nodes are available: 2 Insufficient cpu"
    other = [
        replace(
            job, started=job.started + 500, ended=job.ended + 500, reason="constraints", plugin="NodePorts", said=said
        )
        if job.name == "j7"
        else job
        for job in SLOW
    ]
    found = compare_sides(*sides(tmp_path, SLOW, other))
    (pod,) = found.pods
    assert (pod.pod, pod.change, pod.left_reason, pod.right_reason) == ("j7", 500.0, "no_capacity", "constraints")
    assert pod.right_said == said
    before = next(job for job in SLOW if job.name == "j7")
    assert pod.left_longest == LongestWait(start=before.submitted, end=before.started)
    assert pod.right_longest == LongestWait(start=before.submitted, end=before.started + 500, plugin="NodePorts")
    (section,) = [section for section in sections(found) if section.title == "Pods that changed most"]
    assert section.rows[0][4] == f"no capacity from {before.submitted:g} to {before.started:g}"
    assert section.rows[0][5].startswith("constraints (NodePorts) from ")
    assert section.rows[0][5].endswith(said)


def test_results_without_waits_are_compared_too(tmp_path: Path) -> None:
    other = [replace(job, started=job.started + 500) if job.name == "j7" else job for job in SLOW]
    both = sides(tmp_path, SLOW, other)
    for folder in tmp_path.iterdir():
        (folder / "waits.csv").unlink()
    (pod,) = compare_sides(*both).pods
    assert (pod.left_reason, pod.left_longest, pod.right_longest) == ("no_capacity", None, None)


def test_what_may_be_chance_is_said_in_words(tmp_path: Path) -> None:
    draw = Random(5)
    shifts = [draw.gauss(0, 20) for _ in SLOW]
    other = [
        replace(job, started=job.started + max(shift, job.submitted - job.started), ended=job.ended + shift)
        for job, shift in zip(SLOW, shifts, strict=True)
    ]
    found = compare_sides(*sides(tmp_path, SLOW, other))
    assert found.figure("mean_wait").verdict == "untold"
    assert any(line.startswith("No difference that can be told in the mean wait") for line in found.conclusion)


def test_the_first_decision_that_is_not_the_same(tmp_path: Path) -> None:
    other = [replace(job, node=1) if job.name in ("j5", "j9") else job for job in SLOW]
    (pair,) = compare_sides(*sides(tmp_path, SLOW, other)).pairs
    assert pair.parting is not None
    assert pair.parting.left is not None
    assert pair.parting.right is not None
    assert pair.parting.number == 6
    assert pair.parting.left.what == {"pod": "j5", "node": "n0"}
    assert pair.parting.right.what == {"pod": "j5", "node": "n1"}


def test_inputs_that_are_not_the_same_are_named(tmp_path: Path) -> None:
    found = compare_sides(*sides(tmp_path, SLOW, SLOW, workload="x", seed=3, scheduler="easy"))
    assert [(one.kind, one.name) for one in found.pairs[0].inputs] == [
        ("input", "workload 1"),
        ("tested", "scheduler"),
        ("tested", "seed"),
    ]
    assert "The inputs are not the same: workload 1." in found.conclusion


def test_jobs_that_ended_otherwise(tmp_path: Path) -> None:
    other = [replace(SLOW[0], state="REJECTED"), replace(SLOW[1], state="COMPLETED_KILLED"), *SLOW[2:-1]]
    found = compare_sides(*sides(tmp_path, SLOW, other))
    assert [(end.job, end.left, end.right) for end in found.ends] == [
        ("w0!j0", "COMPLETED_SUCCESSFULLY", "REJECTED"),
        ("w0!j1", "COMPLETED_SUCCESSFULLY", "COMPLETED_KILLED"),
        ("w0!j59", "COMPLETED_SUCCESSFULLY", None),
    ]
    assert found.changed_ends == 3


def many(folder: Path, shift: float, seeds: range, noise: float = 4.0) -> Side:
    """Runs of several seeds, whose jobs start later by chance, and by ``shift``."""
    for seed in seeds:
        draw = Random(seed + shift)
        late = [job.started + max(0.0, draw.gauss(10, noise)) + shift for job in SLOW]
        jobs = [replace(job, started=start, ended=start + 10) for job, start in zip(SLOW, late, strict=True)]
        write_results(folder / str(seed), jobs, seed=seed)
    return Side.of(folder)


def test_seeds_are_compared_pair_by_pair(tmp_path: Path) -> None:
    left, right = many(tmp_path / "a", 0, range(6)), many(tmp_path / "b", 5, range(6))
    found = compare_sides(left, right)
    assert [pair.name for pair in found.pairs] == [str(seed) for seed in range(6)]
    change = found.figure("mean_wait")
    assert (change.over, change.verdict) == ("runs", "worse")
    assert change.low is not None
    assert change.high is not None
    assert change.low < 5 < change.high


def test_seeds_of_one_scheduler_cannot_be_told_apart(tmp_path: Path) -> None:
    left, right = many(tmp_path / "a", 0, range(6)), many(tmp_path / "b", 0, range(10, 16))
    found = compare_sides(left, right)
    assert found.pairs == []
    assert not found.same
    assert found.figure("mean_wait").verdict == "untold"
    assert "No run of one side has its like on the other: 6 and 6 runs are compared as two samples." in found.conclusion


def test_few_seeds_are_said_to_be_too_few(tmp_path: Path) -> None:
    left, right = many(tmp_path / "a", 0, range(3)), many(tmp_path / "b", 5, range(4))
    found = compare_sides(left, right)
    assert found.only_right == ["3"]
    assert found.figure("p99_wait").verdict == "untold"
    assert found.figure("mean_wait").over == "jobs"
    assert "3 pairs of runs are too few for intervals over runs (5 at least)." in found.conclusion


def test_traces_below_a_folder_and_groups_of_folders(tmp_path: Path) -> None:
    for trace in ("one", "two"):
        for seed in ("0", "1"):
            write_results(tmp_path / "a" / trace / seed, SLOW)
    assert list(Side.of(tmp_path / "a").runs) == ["one/0", "one/1", "two/0", "two/1"]
    group = Side.group([tmp_path / "a" / "one" / "0", tmp_path / "a" / "two"])
    assert list(group.runs) == ["1", "2/0", "2/1"]


def test_a_folder_without_results_is_named(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    with pytest.raises(ResultsError, match=r"empty holds no results of a run: it has no run\.json"):
        Side.of(tmp_path / "empty")


def test_files_of_jobs_are_compared_too(tmp_path: Path) -> None:
    a, b = write_results(tmp_path / "a", SLOW), write_results(tmp_path / "b", SLOW[:-1])
    found = compare_sides(Side.of(a / "jobs.csv"), Side.of(b / "jobs.csv"))
    assert not found.same
    assert found.figure("mean_wait").left is not None
    assert [end.job for end in found.ends] == ["w0!j59"]


def test_a_comparison_is_the_same_each_time(tmp_path: Path) -> None:
    left, right = many(tmp_path / "a", 0, range(5)), many(tmp_path / "b", 1, range(5))
    told = {str(list(sections(compare_sides(left, right)))) for _ in range(3)}
    assert len(told) == 1
