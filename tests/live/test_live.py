"""The page of a run that goes on: who gets it, what it shows, and that looking changes nothing."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import expect

from batkube.results.comparison import Fingerprint
from tests.live.conftest import Running
from tests.report.browser import Looker
from tests.run.conftest import FIFO_PROGRAM

BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


def looks(response: httpx.Response) -> list[dict[str, Any]]:
    """Return what a stream of events tells until its end."""
    lines = (line for line in response.iter_lines() if line.startswith("data: "))
    return [look for line in lines if (look := json.loads(line.removeprefix("data: ")))]


def test_a_browser_gets_the_page_and_everybody_else_the_list_of_paths(run_paused: Running, tmp_path: Path) -> None:
    url, _ = run_paused(tmp_path / "out")
    page = httpx.get(url, headers={"Accept": BROWSER}, timeout=60)
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "<title>batkube</title>" in page.text
    for accept in ("*/*", "application/json", "application/json, */*", "application/yaml"):
        answer = httpx.get(url, headers={"Accept": accept}, timeout=60)
        assert answer.headers["content-type"] == "application/json"
        assert "/api/v1" in answer.json()["paths"]
    assert httpx.get(f"{url}/healthz", headers={"Accept": BROWSER}, timeout=60).text == "ok"
    assert httpx.post(url, headers={"Accept": BROWSER}, timeout=60).status_code == 405


@pytest.mark.parametrize("options", [[], FIFO_PROGRAM], ids=["policy", "program"])
def test_looking_changes_nothing(run_paused: Running, tmp_path: Path, options: list[str]) -> None:
    alone, looked_at = tmp_path / "alone", tmp_path / "looked-at"
    url, process = run_paused(alone, *options)
    httpx.post(f"{url}/batkube/v1/clock/resume", timeout=60)
    assert process.wait(120) == 0
    url, process = run_paused(looked_at, *options)
    with httpx.stream("GET", f"{url}/batkube/v1/live", timeout=60) as response:
        httpx.post(f"{url}/batkube/v1/clock/resume", timeout=60)
        told = looks(response)
    assert process.wait(120) == 0
    assert Fingerprint.of(alone) == Fingerprint.of(looked_at)
    assert told[0]["clock"]["state"] in ("waiting", "paused")
    dates = [look["clock"]["now"] for look in told]
    assert dates == sorted(dates)


def test_events_tell_what_was_decided_and_names_of_nodes_once(run_paused: Running, tmp_path: Path) -> None:
    url, process = run_paused(tmp_path / "out")
    with httpx.stream("GET", f"{url}/batkube/v1/live", timeout=60) as response:
        for _ in range(3):
            httpx.post(f"{url}/batkube/v1/clock/step", timeout=60)
        httpx.post(f"{url}/batkube/v1/clock/resume", timeout=60)
        told = looks(response)
    assert process.wait(60) == 0
    assert sum(look["nodes"] is not None for look in told) <= 2  # none, then sixteen
    decisions = [decision for look in told for decision in look["decisions"]]
    numbers = [decision["number"] for decision in decisions]
    assert numbers == sorted(set(numbers))
    assert {"bound", "refused"} & {decision["what"] for decision in decisions}


def test_the_page_shows_the_cluster_and_its_clock_can_be_controlled(
    run_paused: Running, looker: Looker, tmp_path: Path
) -> None:
    url, process = run_paused(tmp_path / "out")
    page = looker.open(url)
    expect(page.locator("#state")).to_have_text("paused", timeout=60_000)
    page.click("#step")
    expect(page.locator("#used")).to_have_text("0 / 16", timeout=60_000)  # the simulation has begun
    page.click("#step")
    expect(page.locator("#running")).to_have_text("16", timeout=60_000)
    expect(page.locator("#used")).to_have_text("16 / 16")
    expect(page.locator("#waiting")).to_have_text("16")
    expect(page.locator("#nodes")).to_have_attribute("data-filled", "16")
    assert "burst-" in page.inner_text("#queue")
    assert page.evaluate("document.documentElement.scrollWidth") == 1200
    page.select_option("#pace", "3600")
    page.click("#pause")
    expect(page.locator("#over")).to_have_text("100", timeout=60_000)
    expect(page.locator("#state")).to_have_text("the server has stopped", timeout=60_000)
    assert process.wait(60) == 0
    assert {request.removeprefix(url) for request in looker.requests} == {
        "/",
        "/batkube/v1/live",
        "/batkube/v1/clock/step",
        "/batkube/v1/clock/pace",
        "/batkube/v1/clock/resume",
    }
    assert looker.errors == []


def test_the_description_of_the_api_needs_no_network(run_paused: Running, looker: Looker, tmp_path: Path) -> None:
    url, _ = run_paused(tmp_path / "out")
    page = looker.open(f"{url}/batkube/v1/docs")
    described = page.inner_text("main")
    for path in ("/batkube/v1/state", "/batkube/v1/clock/pace", "/batkube/v1/jobs/{job_id}"):
        assert path in described
    assert looker.requests == [f"{url}/batkube/v1/docs"]
    assert looker.errors == []
