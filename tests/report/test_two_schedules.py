"""The page of a comparison in a real browser: both schedules, one scale of time, and the jobs that wait otherwise."""

from pathlib import Path

from batkube.commands import compare
from batkube.comparison.settings import CompareSettings, Format
from tests.comparison.made import queue, write_results
from tests.report.browser import Looker


def test_both_schedules_are_drawn_and_zoom_together(looker: Looker, tmp_path: Path) -> None:
    left = write_results(tmp_path / "a", queue(40))
    right = write_results(tmp_path / "b", queue(30, later=2))
    path = tmp_path / "compare.html"
    given = CompareSettings(folders=(left, right), format=Format.HTML, out=path)
    assert compare.main(given) == 1
    page = looker.open(path.as_uri(), height=1200)
    page.wait_for_function("batkubeCompare.every((side) => side.gantt.drawn > 0)")
    assert page.evaluate("batkubeCompare.map((side) => [side.bars, side.gantt.drawn])") == [[40, 40], [30, 30]]
    page.focus("#gantt-0 .gantt-scroll")
    page.keyboard.press("+")
    page.wait_for_function("batkubeCompare.every((side) => side.gantt.drawn < side.bars)")
    assert "Pods that changed most" in page.content()
    assert looker.errors == []
    assert all(url.startswith("file:") for url in looker.requests)
    text = path.read_bytes()
    assert compare.main(given) == 1
    assert path.read_bytes() == text
