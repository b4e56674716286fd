"""An HTTP extender of the user's, on the real clock, beside the real kube-scheduler on the simulated one."""

import base64
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import yaml

from tests.run.conftest import Batkube, Outcome, environment

HOUR = 3600.0
PROFILES = {"hour": {"type": "delay", "delay": HOUR}}


@contextmanager
def extender(*options: object) -> Iterator[int]:
    """Its port, while it runs."""
    words = [sys.executable, str(Path(__file__).with_name("extender.py")), *map(str, options)]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True, env=environment()) as process:
        try:
            assert process.stdout is not None
            yield int(process.stdout.readline())
        finally:
            process.kill()


Choice = Callable[..., list[object]]


@pytest.fixture
def with_extender(built_tool: Callable[[str], Path], tmp_path: Path) -> Choice:
    """The options that choose a kube-scheduler that asks an extender at ``port``."""

    def choose(port: int, version: str = "1.36.3", **more: object) -> list[object]:
        asked = {
            "urlPrefix": f"http://127.0.0.1:{port}/place",
            "filterVerb": "filter",
            "prioritizeVerb": "prioritize",
            "weight": 100,
            "nodeCacheCapable": True,
            "httpTimeout": "1m",
            **more,
        }
        path = tmp_path / "scheduler.yaml"
        path.write_text(
            yaml.safe_dump(
                {
                    "apiVersion": "kubescheduler.config.k8s.io/v1",
                    "kind": "KubeSchedulerConfiguration",
                    "extenders": [asked],
                }
            )
        )
        binary = built_tool(f"kube-scheduler-{version}")
        return ["--scheduler", "kube-scheduler", "--scheduler-binary", binary, "--scheduler-config", path]

    return choose


@pytest.fixture
def sample(platform: Callable[..., Path], workload: Callable[..., Path]) -> list[object]:
    """Four jobs of an hour, a minute apart, on four hosts."""
    jobs = [{"id": str(index), "subtime": 60 * index, "res": 1, "profile": "hour"} for index in range(4)]
    return ["-p", platform(4), "-w", workload(jobs, PROFILES)]


PLACED = [
    ("node-3", 0.0),
    ("node-1", 60.0),
    ("node-3", HOUR),
    ("node-1", HOUR + 60),
]
"""The host and the date at which each job starts: on hosts of odd number only, the higher first."""


def told(done: Outcome) -> list[tuple[str, float]]:
    return [(pod["node"], float(pod["starting_time"])) for pod in done.rows("pods.csv")]


@pytest.mark.parametrize("version", ["1.36.3", "1.34.3"])
def test_pods_are_placed_as_the_extender_says_the_same_each_time(
    batkube: Batkube, sample: list[object], with_extender: Choice, version: str
) -> None:
    with extender("--takes", 0.05) as port:
        done = batkube(*sample, *with_extender(port, version), "--repeat", 3)
    assert done.exit_code == 0, done.stdout + done.stderr
    assert told(done) == PLACED
    assert done.run["not_repeatable"] == []
    assert "its number is even" in done.rows("pods.csv")[2]["waited_for"]


def test_an_extender_binds(batkube: Batkube, sample: list[object], with_extender: Choice, tmp_path: Path) -> None:
    with extender("--kubeconfig", tmp_path / "out" / "kubeconfig") as port:
        done = batkube(*sample, *with_extender(port, bindVerb="bind"))
    assert done.exit_code == 0, done.stderr
    assert told(done) == PLACED


def test_both_sides_may_speak_tls(
    batkube: Batkube, sample: list[object], with_extender: Choice, tmp_path: Path
) -> None:
    certificate = tmp_path / "extender.pem"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=placer", "-out", certificate]
    words += ["-addext", "subjectAltName=DNS:placer", "-keyout", tmp_path / "key.pem"]
    subprocess.run(list(map(str, words)), check=True, capture_output=True)
    tls = {"caData": base64.b64encode(certificate.read_bytes()).decode(), "serverName": "placer"}
    certificate.write_text(certificate.read_text() + (tmp_path / "key.pem").read_text())
    with extender("--certificate", certificate) as port:
        given = {"urlPrefix": f"https://127.0.0.1:{port}", "enableHTTPS": True, "tlsConfig": tls}
        done = batkube(*sample, *with_extender(port, **given), "--tls")
        assert done.exit_code == 0, done.stderr
        assert told(done) == PLACED
        # Whose certificate nobody vouches for is asked nothing.
        given["tlsConfig"] = {**tls, "serverName": "somebody"}
        done = batkube(*sample, *with_extender(port, **given))
    assert done.exit_code == 1
    assert "certificate verify failed" in done.run["reason"]


def test_a_run_goes_on_without_an_extender_that_may_be_ignored(
    batkube: Batkube, sample: list[object], with_extender: Choice, free_port: Callable[[], int]
) -> None:
    port = free_port()
    done = batkube(*sample, *with_extender(port, ignorable=True))
    assert done.exit_code == 0, done.stderr
    assert [start for _, start in told(done)] == [0.0, 60.0, 120.0, 180.0]
    refused = f'extender: Post "http://127.0.0.1:{port}/place/filter": connection refused'
    assert refused in done.run["warnings"]
    assert refused in done.stderr


def test_pods_wait_for_an_extender_that_is_away(
    batkube: Batkube, sample: list[object], with_extender: Choice, free_port: Callable[[], int]
) -> None:
    port = free_port()
    done = batkube(*sample, *with_extender(port))
    assert done.exit_code == 1
    assert done.run["jobs"] | {"submitted": 4, "unfinished": 4, "succeeded": 0} == done.run["jobs"]
    assert "nothing can happen any more, and 4 jobs wait" in done.run["reason"]
    assert f'Post "http://127.0.0.1:{port}/place/filter": connection refused' in done.run["reason"]


def test_an_extender_that_takes_too_long_is_cut_off(
    batkube: Batkube, sample: list[object], with_extender: Choice
) -> None:
    with extender("--takes", 20) as port:
        done = batkube(*sample, *with_extender(port, httpTimeout="100ms"))
    assert done.exit_code == 1
    assert f'Post "http://127.0.0.1:{port}/place/filter": no answer within 0.1 s (httpTimeout)' in done.run["reason"]
    assert done.run["not_repeatable"] == ["an extender did not answer in time, which depends on real time"]
