"""The suite's runner: how it takes names, logs and wishes; running the suite itself is `make scheduler-suite`."""

from collections import Counter
from pathlib import Path

from .expected import Leaf, Needs, expected
from .report import shortfalls, table
from .running import results_of
from .server import options

LOG = """\
\x16=== RUN   TestBind
\x16=== RUN   TestBind/Async_API:_true
\x16=== RUN   TestBind/Async_API:_true/same_UID
some words\x16--- PASS: TestBind/Async_API:_true/same_UID (0.01s)
    bind_test.go:7: --- FAIL: TestBind/Async_API:_true/other_UID (said by the test)
\x16=== RUN   TestBind/Async_API:_true/other_UID
\x16--- FAIL: TestBind/Async_API:_true/other_UID (0.01s)
\x16=== RUN   TestBind/Async_API:_true/no_UID
panic: test timed out after 1s
"""


def test_leaves_are_told_by_what_they_need() -> None:
    counted = Counter(expected(set(Needs)).values())
    assert counted == {Needs.PLAIN: 535, Needs.ALPHA: 104, Needs.FLAGS: 10, Needs.PERF: 69, Needs.PROCESS: 7}
    plain = expected({Needs.PLAIN})
    assert Leaf("scheduler", "TestAllocatable") in plain
    assert Leaf("scheduler/bind", "TestDefaultBinder/x/y").top == Leaf("scheduler/bind", "TestDefaultBinder")


def test_the_results_in_a_log(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(LOG)
    results = results_of(Leaf("scheduler/bind", "TestBind"), tmp_path / "log")
    assert {leaf.test.rpartition("/")[2]: result for leaf, result in results.items()} == {
        "same_UID": "PASS",
        "other_UID": "FAIL",
        "no_UID": "UNFINISHED",
    }


def test_a_process_that_said_nothing_has_not_passed(tmp_path: Path) -> None:
    (tmp_path / "log").write_text("panic: no memory\n")
    top = Leaf("scheduler", "TestAllocatable")
    assert results_of(top, tmp_path / "log") == {top: "UNFINISHED"}


def test_the_table_and_what_is_missing() -> None:
    one, two, three = Leaf("a", "TestOne"), Leaf("a", "TestTwo"), Leaf("b", "TestThree")
    wanted = {one: Needs.PLAIN, two: Needs.ALPHA, three: Needs.PLAIN}
    results = {one: "PASS", two: "FAIL"}
    assert shortfalls(wanted, results) == ["FAIL a TestTwo (alpha)", "NOT RUN b TestThree (plain)"]
    assert table(wanted, results).splitlines() == [
        "| package | plain | alpha |",
        "| --- | ---: | ---: |",
        "| a | 1 of 1 | 0 of 1 |",
        "| b | 0 of 1 |  |",
        "| all | 1 of 2 | 0 of 1 |",
    ]


def test_batkube_gets_what_it_can_do_of_what_a_test_asks() -> None:
    flags = [
        "--disable-admission-plugins=ServiceAccount,Priority",
        "--emulated-version=kube=1.33",
        "--feature-gates=GenericWorkload=true",
        "--runtime-config=",
    ]
    compared = "--feature-gates=TaintTolerationComparisonOperators=true"  # which tests turn on once the server runs
    assert options(flags, "") == [
        compared,
        "--disable-admission-plugins=ServiceAccount,Priority",
        "--feature-gates=GenericWorkload=true",
    ]
    assert options(flags[:1], "*priority.Plugin") == [
        compared,
        "--enable-admission-plugins=Priority",
        "--disable-admission-plugins=ServiceAccount",
    ]
