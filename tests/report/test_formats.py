"""Reports as text: the page's source, Markdown, the terminal, the figure, and the commands that make them."""

import io
import json
import re
import sys
from pathlib import Path

import pytest
from rich.console import Console
from typer.testing import CliRunner

from batkube.commands.cli import app
from batkube.report.document import document
from batkube.report.markdown import markdown
from batkube.report.quantities import duration
from batkube.report.run_data import RunData
from batkube.report.sparkline import means, sparkline
from batkube.report.terminal import WIDTH, show
from batkube.report.wait_spans import Span, between, drawn
from batkube.results.result import load
from batkube.results.usage import UsageRow
from batkube.results.wait_log import Wait
from tests.report.made import REJECTED, Made, busy, write_results

MESSAGE = "0/2 nodes are available: 2 Insufficient cpu."


@pytest.fixture
def out(tmp_path: Path) -> Path:
    """A run of twenty jobs, one of them rejected, one slow."""
    jobs = [*busy(18), Made("slow|one", 1.0, 80.0, 200.0, said=[MESSAGE] * 3)]
    return write_results(tmp_path / "out", [*jobs, Made("big", state=REJECTED, why="it needs 9 cores")], nodes=4)


def data_in(page: str) -> dict[str, object]:
    """The data that a page has in it."""
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found
    data: dict[str, object] = json.loads(found[1])
    return data


def test_the_same_results_give_the_same_page(out: Path) -> None:
    assert document(RunData(load(out))) == document(RunData(load(out)))


def test_the_page_holds_the_jobs_in_order_of_submission_and_loads_nothing(out: Path) -> None:
    page = document(RunData(load(out)))
    jobs = data_in(page)["jobs"]
    assert isinstance(jobs, dict)
    assert jobs["submitted"] == sorted(jobs["submitted"])
    assert jobs["started"][jobs["name"].index("slow|one")] == 80
    assert not re.search(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//""", page)
    assert page.count("<script") == page.count("</script>") == 2
    assert "Copyright (c) 2022 Leon Sorokin" in page  # of the library that goes with it


def used(folder: Path) -> Path:
    """Write the results of a run in which pods use half of their core, and then a quarter."""
    rows = [UsageRow(0, "n0", 1, 1, 0.5, 2**20, 2**20), UsageRow(50, "n1", 1, 1, 1, 2**20, 0),
            UsageRow(50, "n0", 1, 1, 0.25, 2**20, 2**20), UsageRow(100, "n0", 0, 0, 0, 0, 0),
            UsageRow(100, "n1", 0, 0, 0, 0, 0)]  # fmt: skip
    jobs = [Made("a", 0, 0, 100), Made("b", 50, 50, 100, node="n1")]
    return write_results(folder, jobs, usage=rows)


def test_what_pods_really_use_stands_beside_what_they_request(tmp_path: Path) -> None:
    data = RunData(load(used(tmp_path / "out")))
    assert [(use.time, use.cpu_requested, use.cpu_used) for use in data.uses] == [
        (0, 1, 0.5),
        (50, 2, 1.25),
        (100, 0, 0),
    ]
    page = document(data)
    drawn = data_in(page)["usage"]
    assert isinstance(drawn, dict)
    assert (drawn["time"], drawn["cpu_used"], drawn["cpu_requested"]) == ([0, 50, 100], [0.25, 0.625, 0], [0.5, 1, 0])
    said = "Of what they request, pods that ran used CPU 58.3 %, memory 66.7 %."
    assert said in page
    assert said in markdown(data)
    text = io.StringIO()
    show(data, Console(file=text, width=WIDTH))
    assert re.search(r"really used +CPU 58.3 %, memory 66.7 % +of requests", text.getvalue())


def test_nothing_is_said_of_use_where_no_pod_says_so(out: Path) -> None:
    assert "Of what they request" not in document(RunData(load(out)))


def test_the_story_of_a_slow_job_has_what_the_scheduler_said(out: Path) -> None:
    page = document(RunData(load(out)))
    story = page[page.index('id="slowest"') :]
    assert story.index("slow|one") < story.index(MESSAGE) < story.index("bound to n0") < story.index("succeeded after")
    assert "could not be placed, 3 times until 3 s" in story


def test_the_story_of_a_slow_job_has_what_it_waited_for_between_its_attempts(tmp_path: Path) -> None:
    course = [
        ("queue_order", 0, 5, ""), ("no_capacity", 5, 30, ""), ("constraints", 30, 72, "NodeAffinity"),
        ("back_off", 72, 80, ""),
    ]  # fmt: skip
    slow = Made("slow", 0, 80, 90, said=["first", "second"], course=course)
    page = document(RunData(load(write_results(tmp_path / "out", [slow]))))
    story = re.sub(r"<[^>]*>", " ", page[page.index('id="slowest"') : page.index('id="how"')])
    told = re.sub(r"\s+", " ", story)
    assert (
        "submitted 0 s could not be placed first waits queue order 1 s 1 s could not be placed second "
        "waits queue order 4 s no capacity 25 s constraints: NodeAffinity 42 s back-off 8 s 1 min 20 s bound"
    ) in told
    # the bar of the story is in order of time
    bar = page[page.index('<span class="bar stack thin">') :]
    names = re.findall(r'title="([^"]*): [^:"]*"', bar[: bar.index("</span>")])
    assert names == ["queue order", "no capacity", "constraints: NodeAffinity", "back-off"]


def test_the_plugins_stand_below_their_reason_in_every_format(tmp_path: Path) -> None:
    jobs = [
        Made("a", 0, 60, 90, course=[("constraints", 0, 60, "NodeAffinity")]),
        Made("b", 0, 30, 90, course=[("constraints", 0, 20, "TheirOwn"), ("back_off", 20, 30, "")]),
    ]
    data = RunData(load(write_results(tmp_path / "out", jobs)))
    assert data.figures.constraints == {"NodeAffinity": 60, "TheirOwn": 20}
    page = re.sub(r"<[^>]*>", " ", document(data))
    names = r"constraints\s+88.9 %.*NodeAffinity\s+66.7 %.*TheirOwn\s+22.2 %.*back-off\s+11.1 %"
    assert re.search(names, page, re.DOTALL)
    assert "| constraints: NodeAffinity | 66.7 % | 1 min 00 s | its node selector or node affinity |" in markdown(data)
    told = io.StringIO()
    show(data, Console(file=told, width=WIDTH))
    lines = told.getvalue().splitlines()
    assert [line.split()[-4:] for line in lines if "TheirOwn" in line] == [["22.2", "%", "20", "s"]]


def test_a_wait_whose_reason_changes_all_the_time_is_summed_up() -> None:
    waits = [Wait("p", i, i + 1, 1, "no_capacity" if i % 4 else "fragmentation") for i in range(10_000)]
    assert between(waits, 0, 8_000) == [Span("no_capacity", "", 6_000), Span("fragmentation", "", 2_000)]
    assert [(span.reason, round(span.seconds)) for span in drawn(waits)] == [("no_capacity", 10_000)]
    assert drawn([]) == between([], 0, 1) == []
    # reasons that took turns, as waits.csv sums them up
    summed = [Wait("p", 0, 10, 4, "gang"), Wait("p", 0, 10, 6, "no_capacity"), Wait("p", 10, 20, 10, "gang")]
    assert between(summed, 5, 12) == [Span("gang", "", 2), Span("no_capacity", "", 3), Span("gang", "", 2)]
    assert [(span.reason, round(span.seconds)) for span in drawn(summed)] == [("no_capacity", 10), ("gang", 10)]


def test_a_file_of_batsims_own_is_reported_too(out: Path, tmp_path: Path) -> None:
    rows = (out / "jobs.csv").read_text().splitlines()
    place = rows[0].split(",").index("allocated_resources")
    cells = rows[1].split(",")
    cells[place] = "3"
    (tmp_path / "batsim_jobs.csv").write_text("\n".join([rows[0], ",".join(cells), *rows[2:]]) + "\n")
    data = RunData(load(tmp_path / "batsim_jobs.csv"))
    page = document(data)
    drawn = data_in(page)
    assert isinstance(drawn["jobs"], dict)
    assert len(drawn["jobs"]["name"]) == 20
    assert drawn["nodes"] == ["3"]
    assert "batsim_jobs.csv" in page
    assert "batsim" in markdown(data)


def test_a_long_series_is_thinned_and_keeps_its_peak(tmp_path: Path) -> None:
    folder = write_results(tmp_path, busy(30_000, nodes=8), nodes=8)
    drawn = data_in(document(RunData(load(folder))))
    series = drawn["series"]
    assert isinstance(series, dict)
    assert len(series["time"]) < 12_000
    assert max(series["waiting"]) == max(row.waiting_pods for row in load(folder).series_rows)


def test_markdown_has_tables_that_no_name_breaks(out: Path) -> None:
    text = markdown(RunData(load(out)))
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert any(r"slow\|one" in row and MESSAGE in row for row in rows)
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} <= {4, 5, 7}
    assert "| no capacity |" in text
    assert "it needs 9 cores" in text


def test_the_terminals_summary_fits_80_columns(out: Path) -> None:
    told = io.StringIO()
    show(RunData(load(out)), Console(file=told, width=200))
    lines = told.getvalue().splitlines()
    assert max(map(len, lines)) <= WIDTH
    assert any("CPU use" in line and "█" in line for line in lines)
    assert any(line.split()[:1] == ["slow|one"] and "1 min 19 s" in line for line in lines)


@pytest.mark.parametrize("form", ["svg", "png"])
def test_figures_have_the_same_bytes_each_time(out: Path, form: str) -> None:
    path = out / f"report.{form}"
    first = CliRunner().invoke(app, ["report", str(out), "--format", form])
    assert (first.exit_code, first.stdout.strip()) == (0, str(path))
    before = path.read_bytes()
    assert before.startswith({"svg": b"<?xml", "png": b"\x89PNG"}[form])
    CliRunner().invoke(app, ["report", str(out), "-o", str(path)])
    assert path.read_bytes() == before


def test_without_matplotlib_the_command_says_what_to_install(out: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    done = CliRunner().invoke(app, ["report", str(out), "--format", "svg"])
    assert done.exit_code == 1
    assert "pip install 'batkube[plot]'" in done.stderr


def test_report_writes_where_it_is_told(out: Path, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["report", str(out)])
    assert done.exit_code == 0
    assert (out / "report.html").read_text().startswith("<!doctype html>")
    done = CliRunner().invoke(app, ["report", str(out), "-o", "-", "--format", "md"])
    assert done.stdout.startswith("## fifo")


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        (["report", "{missing}"], "there is no such folder"),
        (["show", "{missing}"], "there is no such folder"),
        (["show", "{empty}"], "it has neither run.json nor jobs.csv"),
        (["report", "{out}", "-o", "x.pdf"], "cannot tell the format from the name"),
        (["report", "{out}", "-o", "{missing}/x.html"], "No such file or directory"),
        (["report", "{out}", "-o", "-", "--format", "png"], "name a file"),
    ],
)
def test_bad_input_is_told_in_a_line(out: Path, tmp_path: Path, arguments: list[str], told: str) -> None:
    (tmp_path / "empty").mkdir()
    places = {"missing": tmp_path / "missing", "empty": tmp_path / "empty", "out": out}
    done = CliRunner().invoke(app, [argument.format(**places) for argument in arguments])
    assert done.exit_code == 2
    assert told in done.stderr
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (None, "–"), (0.0, "0 s"), (0.1234, "0.123 s"), (12.34, "12.3 s"), (59.99, "1 min 00 s"),
        (3599.6, "1 h 00 min"),        (86_399.9, "1 d 0 h"), (100_000.0, "1 d 4 h"), (-5.0, "−5 s"),
    ],
)  # fmt: skip
def test_durations_are_told_in_two_units(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_a_sparkline_shows_the_mean_of_each_span() -> None:
    assert means([0.0, 5.0], [2.0, 0.0], 10.0, 4) == [2.0, 1.0 * 2 * 0.5 * 2, 0.0, 0.0]
    assert sparkline([0.0, 1.0, 4.0, 8.0], 8.0) == " ▂▅█"
