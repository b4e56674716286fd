"""The page of a run in a real browser: it draws what there is, complains of nothing, and asks nobody."""

from pathlib import Path

import pytest

from batkube.report.document import document
from batkube.report.run_data import RunData
from batkube.results.nodes import NodeChange
from batkube.results.result import load
from batkube.results.usage import UsageRow
from tests.report.browser import Looker
from tests.report.made import REJECTED, Made, busy, write_results

PAINTED = "html[data-painted]"
HOSTILE = "</script><img src=x onerror=window.hacked=1>"


def page_of(folder: Path) -> str:
    """Write the page of a folder of results; its address."""
    path = folder / "report.html"
    path.write_text(document(RunData(load(folder))), encoding="utf-8")
    return path.as_uri()


def test_there_is_a_bar_for_each_pod_and_each_job_that_ran(looker: Looker, tmp_path: Path) -> None:
    jobs = [*busy(40), Made("never", submitted=3.0, state=REJECTED, why="too large")]
    page = looker.open(page_of(write_results(tmp_path, jobs, nodes=4)), height=1200)
    page.wait_for_selector(PAINTED)
    assert page.evaluate("[batkubeReport.mode, batkubeReport.bars, batkubeReport.drawn]") == ["node", 40, 40]
    assert page.get_attribute("#gantt", "data-drawn") == "40"
    page.click("[data-mode=job]")
    assert page.evaluate("[batkubeReport.mode, batkubeReport.bars, batkubeReport.drawn]") == ["job", 40, 40]
    assert looker.errors == []


def test_what_pods_really_use_is_a_chart(looker: Looker, tmp_path: Path) -> None:
    rows = [UsageRow(0, "n0", 1, 1, 0.5, 2**20, 2**20), UsageRow(100, "n0", 0, 0, 0, 0, 0)]
    page = looker.open(page_of(write_results(tmp_path, [Made("a", 0, 0, 100)], usage=rows)))
    page.wait_for_selector(PAINTED)
    assert page.locator("#usage .uplot").count() == 1
    assert looker.errors == []


def test_zooming_shows_fewer_bars_in_all_charts_and_back_all(looker: Looker, tmp_path: Path) -> None:
    page = looker.open(page_of(write_results(tmp_path, busy(40), nodes=4)), height=1200)
    page.wait_for_selector(PAINTED)
    for _ in range(3):
        page.click("#closer")
    page.wait_for_selector("#gantt[data-drawn='8']")
    assert page.inner_text("#span") != ""
    page.click("#all")
    page.wait_for_selector("#gantt[data-drawn='40']")
    box = page.locator(".gantt-scroll").bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 300, box["y"] + 20)
    page.mouse.down()
    page.mouse.move(box["x"] + 500, box["y"] + 20)
    page.mouse.up()
    page.wait_for_selector("#gantt:not([data-drawn='40'])")
    assert looker.errors == []


def test_pointing_at_a_bar_tells_of_its_job(looker: Looker, tmp_path: Path) -> None:
    page = looker.open(page_of(write_results(tmp_path, [Made("solve", 5.0, 10.0, 100.0, user="ada")])), height=1200)
    page.wait_for_selector(PAINTED)
    page.locator(".gantt-scroll").hover(position={"x": 600, "y": 8})
    told = page.inner_text(".tip")
    assert "solve" in told
    assert "ada" in told
    assert "1 min 30 s" in told


def test_names_and_messages_are_text_whatever_they_look_like(looker: Looker, tmp_path: Path) -> None:
    jobs = [
        Made(HOSTILE, 0.0, 5.0, 9.0, user=HOSTILE, queue=HOSTILE, said=[HOSTILE]),
        Made("b", 0.0, 5.0, 9.0, node="n1", user="b", queue="b"),
        Made("c" + HOSTILE, state=REJECTED, why=HOSTILE),
    ]
    folder = write_results(tmp_path, jobs, scheduler=HOSTILE, warnings=[HOSTILE])
    page = looker.open(page_of(folder))
    page.wait_for_selector(PAINTED)
    page.click("[data-mode=job]")
    page.select_option("#color", "user")
    page.locator(".gantt-scroll").hover(position={"x": 700, "y": 8})
    assert HOSTILE in page.inner_text(".tip")
    assert HOSTILE in page.inner_text("#slowest")
    assert HOSTILE in page.inner_text("#failures")
    assert page.evaluate("[window.hacked, document.images.length]") == [None, 0]
    assert looker.errors == []


@pytest.mark.parametrize(("width", "scheme"), [(390, "dark"), (900, "light"), (1600, "dark")])
def test_the_page_fits_any_window_and_asks_nobody(looker: Looker, tmp_path: Path, width: int, scheme: str) -> None:
    jobs = [*busy(30), Made("a-very-long-name-" * 9, 0.0, 60.0, 300.0, said=["0/4 nodes are available. " * 20] * 2)]
    changes = [NodeChange(20.0, "n1", False), NodeChange(50.0, "n1", True)]
    url = page_of(write_results(tmp_path, jobs, nodes=4, changes=changes, warnings=["x" * 300]))
    page = looker.open(url, width=width, scheme="dark" if scheme == "dark" else "light")
    page.wait_for_selector(PAINTED)
    assert page.evaluate("document.documentElement.scrollWidth") == width
    assert page.locator("#utilization canvas").count() == 1
    assert page.locator("#waits canvas").count() == 1
    background = page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(255, 255, 255)") == (scheme == "light")
    assert looker.requests == [url]
    assert looker.errors == []


def test_on_paper_the_page_is_light(looker: Looker, tmp_path: Path) -> None:
    page = looker.open(page_of(write_results(tmp_path, busy(8))), scheme="dark")
    page.wait_for_selector(PAINTED)
    page.evaluate("window.dispatchEvent(new Event('beforeprint'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    page.evaluate("window.dispatchEvent(new Event('afterprint'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != "rgb(255, 255, 255)"
    assert page.pdf().startswith(b"%PDF")


def test_what_is_not_there_is_said(looker: Looker, tmp_path: Path) -> None:
    rejected = [Made(name, state=REJECTED, why="too large") for name in "abc"]
    cases: dict[str, tuple[list[Made], str]] = {
        "no job": ([], "No job ran"),
        "one job": ([Made("only", 0.0, 0.0, 10.0)], "One job: 0 s"),
        "all rejected": (rejected, "No job ran"),
        "one that runs": ([Made("a", 0.0, 4.0)], "No job has run to an end"),
        "one that waits": ([Made("a", 0.0)], "No job ran"),
    }
    for name, (jobs, told) in cases.items():
        page = looker.open(page_of(write_results(tmp_path / name, jobs, end=20.0)))
        page.wait_for_selector(PAINTED)
        assert told in page.inner_text("main"), name
    assert looker.errors == []


def test_fifty_thousand_bars(looker: Looker, tmp_path: Path) -> None:
    page = looker.open(page_of(write_results(tmp_path, busy(50_000, nodes=64), nodes=64)), height=1200)
    page.wait_for_selector(PAINTED)
    page.click("[data-mode=job]")
    page.wait_for_selector("#gantt[data-drawn='50000']")
    page.click("[data-mode=node]")
    page.wait_for_selector("#gantt[data-drawn='50000']")
    assert looker.errors == []
