"""Answers recorded from a real kube-apiserver 1.36.3, asked of ours: nine of ten in each area schedulers stand on."""

import json
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[2]
CONFORMANCE = ROOT.parent / "shared" / "conformance"

AREAS = {
    "pods-binding": 0.9,
    "pods-read": 0.9,
    "list": 0.9,
    "watch": 0.9,
    "events": 0.9,
    "leases": 0.9,
    "nodes": 0.9,
}
"""Area, and the share of its cases that must hold."""


@pytest.fixture(scope="module")
def server(free_port: Callable[[], int], tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    port = free_port()
    out = tmp_path_factory.mktemp("api")
    words = [sys.executable, "-m", "batkube", "serve", "--api-only", "--port", str(port), "-o", str(out)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield f"http://127.0.0.1:{port}"
        process.terminate()


@pytest.fixture(scope="module")
def results(server: str, tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[Counter[bool], str]]:
    """Per area: how many cases hold and do not, and what differed."""
    replay = CONFORMANCE / "replay.py"
    if not replay.exists():
        pytest.skip("the recorded cases are not here")
    report = tmp_path_factory.mktemp("report") / "junit.xml"
    only = [word for area in AREAS for word in ("--only", f"{area}/*")]
    words = [sys.executable, str(replay), "check", "--server", server, "--junit", str(report), *only]
    done = subprocess.run([*words, str(CONFORMANCE / "corpus")], capture_output=True, text=True, timeout=300)
    counts: dict[str, Counter[bool]] = {area: Counter() for area in AREAS}
    failures: dict[str, list[str]] = {area: [] for area in AREAS}
    for case in ElementTree.parse(report).iter("testcase"):
        area = case.get("classname", "")
        failure = case.find("failure")
        counts[area][failure is None] += 1
        if failure is not None:
            failures[area].append(f"{case.get('name')}: {(failure.text or '')[:500]}")
    assert done.returncode in (0, 1), done.stderr
    return {area: (counts[area], "\n".join(failures[area])) for area in AREAS}


@pytest.mark.parametrize("area", AREAS)
def test_area(results: dict[str, tuple[Counter[bool], str]], area: str) -> None:
    counts, differences = results[area]
    assert counts.total() > 5, json.dumps(counts)
    assert counts[True] >= AREAS[area] * counts.total(), differences
