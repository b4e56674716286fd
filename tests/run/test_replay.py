"""``--record``, and ``batkube replay``: a recorded Batsim speaks to the bridge again."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests import warm
from tests.batsim.real import REAL, needs_batsim
from tests.run.conftest import Batkube, environment
from tests.run.test_serve import Serve, serve, stranger
from tests.run.test_simulators import PLATFORM, WORKLOAD

__all__ = ["serve"]


def replay(*arguments: object) -> tuple[int, str, str]:
    words = [sys.executable, "-m", "batkube", "replay", *map(str, arguments)]
    done = warm.run(words, timeout=120, env=environment())
    return done.returncode, done.stdout, done.stderr


@pytest.mark.parametrize("simulator", ["embedded", pytest.param("batsim", marks=needs_batsim)])
def test_a_run_is_replayed(batkube: Batkube, tmp_path: Path, simulator: str) -> None:
    kept = tmp_path / "exchange.jsonl.gz"
    arguments = ["-p", PLATFORM, "-w", WORKLOAD, "--simulator", simulator, "--record", kept]
    done = batkube(*arguments, *(["--batsim-binary", REAL] if simulator == "batsim" else []))
    assert done.exit_code == 0, done.stderr
    code, said, errors = replay(kept, "-p", PLATFORM, "-w", WORKLOAD, "-o", tmp_path / "again")
    assert (code, errors) == (0, "")
    assert said.startswith("the same: ")
    assert (tmp_path / "again" / "events.jsonl").read_bytes() == (done.out / "events.jsonl").read_bytes()


@pytest.mark.parametrize("simulator", ["embedded", pytest.param("batsim", marks=needs_batsim)])
def test_drains_are_done_again(batkube: Batkube, tmp_path: Path, simulator: str) -> None:
    events, kept = tmp_path / "events.yaml", tmp_path / "exchange.jsonl"
    events.write_text("events:\n- {at: 5, node: node-2, drain: 30}\n- {at: 8, node: node-3, down: 10}\n")
    inputs = ["-p", "4 x 1cpu,4Gi", "-w", WORKLOAD, "--requeue", "restart"]
    given = [*inputs, "--events", events, "--simulator", simulator, "--record", kept]
    done = batkube(*given, *(["--batsim-binary", REAL] if simulator == "batsim" else []))
    assert done.exit_code == 0, done.stderr
    assert "node_drained" in (done.out / "events.jsonl").read_text()
    code, said, errors = replay(kept, *inputs, "--events", events, "-o", tmp_path / "again")
    assert (code, errors) == (0, ""), said
    assert said.startswith("the same: ")
    assert (tmp_path / "again" / "events.jsonl").read_bytes() == (done.out / "events.jsonl").read_bytes()
    assert replay(kept, *inputs)[0] == 1
    events.write_text("events:\n- {at: 5, node: node-2, slow: 30, speed: 50%}\n")
    code, _, errors = replay(kept, *inputs, "--events", events)
    assert (code, "--events: slow: the hosts of a recorded Batsim have kept their speed" in errors) == (2, True)


def test_a_platform_in_a_few_words(batkube: Batkube, tmp_path: Path) -> None:
    kept, platform = tmp_path / "exchange.jsonl", ["-p", "16 x 1cpu,4Gi"]
    done = batkube(*platform, "-w", WORKLOAD, "--record", kept)
    assert done.exit_code == 0, done.stderr
    code, said, errors = replay(kept, *platform, "-w", WORKLOAD)
    assert (code, errors) == (0, "")
    assert said.startswith("the same: ")


def test_another_policy_is_another_conversation(batkube: Batkube, tmp_path: Path) -> None:
    kept = tmp_path / "exchange.jsonl"
    assert batkube("-p", PLATFORM, "-w", WORKLOAD, "--record", kept).exit_code == 0
    lines = kept.read_text().splitlines()
    changed = next(index for index, line in enumerate(lines) if "EXECUTE_JOB" in line)
    kept.write_text("\n".join([*lines[:changed], '{"dir":"edc->batsim","msg":{"now":0.0,"events":[]}}', ""]))
    code, said, errors = replay(kept, "-p", PLATFORM)
    assert (code, errors) == (1, "")
    assert "different after 1 answers: line 3: at 0.000000 Batsim said JOB_SUBMITTED of w0!burst-" in said
    assert "decision 1 recorded: nothing" in said
    assert "decision 1 now:      0.0 EXECUTE_JOB" in said


def test_a_broken_recording_is_bad_input(tmp_path: Path) -> None:
    path = tmp_path / "exchange"
    path.write_text("nonsense\n")
    code, said, errors = replay(path)
    assert (code, said) == (2, "")
    assert f"{path}: line 1: " in errors
    assert replay(tmp_path / "none")[0] == 2


def test_each_served_simulation_is_kept(serve: Callable[..., Serve], tmp_path: Path) -> None:
    server = serve("--record", "exchange.jsonl")
    command = [sys.executable, "-m", "batkube.schedulers.fifo", "--kubeconfig", str(server.out / "kubeconfig")]
    with stranger(command):
        assert server.simulate(tmp_path / "batsim") == 0
        server.finished(1)
    lines = (server.out / "simulation-1" / "exchange.jsonl").read_text().splitlines()
    assert "SIMULATION_BEGINS" in lines[0]
    assert "SIMULATION_ENDS" in lines[-2]
