"""``waits.csv``: a row is a line, whatever a scheduler says, and those of some pods are found among many."""

from pathlib import Path

import pytest

from batkube.results.csv_rows import ResultsError
from batkube.results.wait_log import Wait, WaitLog, read_waits_csv, waits_of
from batkube.results.wait_reasons import Cause, Reason, Stretch


@pytest.fixture
def written(tmp_path: Path) -> Path:
    path = tmp_path / "waits.csv"
    log = WaitLog(path)
    ruled = Cause(Reason.CONSTRAINTS, "Zones", 'node(s) in "a", or\nin b', 2)
    log.write("p1", [Stretch(0, 1_500_000, 1_500_000, Cause(Reason.QUEUE_ORDER))])
    log.write("p2", [Stretch(10**15, 10**15 + 1, 1, ruled), Stretch(10**15 + 1, 10**15 + 9, 3, Cause(Reason.GANG))])
    log.write("p1", [Stretch(1_500_000, 2_000_000, 500_000, Cause(Reason.STARTUP))])
    log.close()
    log.close()
    return path


P1 = [Wait("p1", 0, 1.5, 1.5, "queue_order"), Wait("p1", 1.5, 2, 0.5, "startup")]


def test_what_was_written_is_read(written: Path) -> None:
    first, ruled, gang, last = read_waits_csv(written)
    assert [first, last] == P1
    assert ruled == Wait("p2", 1e9, 1e9 + 1e-6, 1e-6, "constraints", "Zones", 'node(s) in "a", or in b', 2)
    assert gang == Wait("p2", 1e9 + 1e-6, 1e9 + 9e-6, 3e-6, "gang")
    assert len(written.read_text().splitlines()) == 5


def test_the_rows_of_some_pods_are_found(written: Path) -> None:
    assert waits_of(written, {"p1", "p"}) == {"p1": P1, "p": []}


def test_a_fault_is_told_with_its_line(written: Path) -> None:
    with written.open("a") as file:
        file.write("p2,unread\np1,soon,2,3,gang,,,\n")
    with pytest.raises(ResultsError, match=r"waits.csv: line 7: start is 'soon': expected a number"):
        waits_of(written, ["p1"])
    with pytest.raises(ResultsError, match=r"waits.csv: line 6: start is 'unread'"):
        list(read_waits_csv(written))
    written.write_text("pod,start\n")
    with pytest.raises(ResultsError, match=r"waits.csv: has no column end"):
        waits_of(written, ["p1"])
