"""The probe tries what this machine can do, and tells what is done instead."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from batkube.clock import probe as probing
from batkube.clock import tcp, tree, vdso
from batkube.clock.oracle import IdleOracle
from batkube.clock.probe import OBSERVED, ONCE, PEERS, TREE, Means, means_for, probe


def refuse(*args: object, **options: object) -> Any:
    raise PermissionError(1, "Operation not permitted")


def found() -> dict[str, Means]:
    return {means.name: means for means in probe()}


@pytest.fixture(scope="module")
def usual() -> dict[str, Means]:
    """Return what is found where nothing is broken."""
    return found()


@pytest.fixture
def compiled(usual: dict[str, Means], monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the compiler, where it works, have built the helper already: each time it takes a second."""
    if usual["C compiler"].works:
        monkeypatch.setattr(tree, "build", lambda target: None)


def test_each_means_is_told_in_a_line_that_says_nothing_of_our_files(usual: dict[str, Means]) -> None:
    for means in usual.values():
        assert means.detail
        assert "\n" not in means.detail
        assert "native" not in means.detail


@pytest.mark.parametrize(
    ("name", "target", "broken"),
    [
        ("schedstat", "counts_in_schedstat", lambda: False),
        ("syscall", "WAITING", None),
        ("sock_diag", "SockDiag", refuse),
        (OBSERVED, "IdleOracle", refuse),
        (PEERS, "peer_pid", lambda connection: None),
        (ONCE, "HeldProcess", refuse),
        ("C compiler", "tree.build", refuse),
        (TREE, "tree.Helper.started", lambda helper: False),
    ],
)
@pytest.mark.usefixtures("compiled")
def test_what_does_not_work_is_told_with_what_is_done_instead(
    usual: dict[str, Means], monkeypatch: pytest.MonkeyPatch, name: str, target: str, broken: object
) -> None:
    if not usual[name].works:
        pytest.skip(usual[name].detail)
    monkeypatch.setattr(f"batkube.clock.probe.{target}", broken)
    after = found()
    assert not after[name].works
    reason, _, instead = after[name].detail.rpartition(": ")
    assert reason
    assert instead
    assert after[name].detail != usual[name].detail


@pytest.mark.usefixtures("compiled")
def test_an_oracle_that_lies_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(IdleOracle, "_second_look", lambda self: None)
    monkeypatch.setattr(IdleOracle, "_first_look", lambda self: None)
    assert "a process that works is seen at rest" in found()[OBSERVED].detail


def test_a_clock_that_does_not_reach_the_program_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    if not means_for("once").works:
        pytest.skip(means_for("once").detail)
    monkeypatch.setattr(vdso, "install", lambda held, page: None)
    assert "sees" in means_for("once").detail


def test_waits_that_are_not_taken_over_are_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    if not means_for("tree").works:
        pytest.skip(means_for("tree").detail)
    monkeypatch.setattr(tree.Helper, "wake", lambda helper: tree.GONE)
    monkeypatch.setattr(probing, "PATIENCE", 0.2)
    assert "does not end with the simulated time" in means_for("tree").detail


@pytest.mark.parametrize("missing", ["date", "sleep"])
@pytest.mark.usefixtures("compiled")
def test_the_clock_is_tried_without_small_programs_too(
    usual: dict[str, Means], monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == missing else which(name))
    assert found() == usual


def test_a_helper_that_cannot_be_compiled_is_told_with_the_first_complaint(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def complain(target: Path) -> None:
        raise subprocess.CalledProcessError(1, "cc", stderr="tree.c:1: no such header\nmore\n")

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(tree, "build_tree", complain)
    if vdso.missing():
        pytest.skip(vdso.missing())
    told = found()["C compiler"]
    assert "tree.c:1: no such header" in told.detail
    assert "--clock tree cannot be built" in told.detail


@pytest.mark.parametrize(("system", "machine"), [("Linux", "aarch64"), ("Darwin", "arm64"), ("FreeBSD", "amd64")])
def test_other_machines_are_told_in_one_line(monkeypatch: pytest.MonkeyPatch, system: str, machine: str) -> None:
    monkeypatch.setattr("platform.system", lambda: system)
    monkeypatch.setattr("platform.machine", lambda: machine)
    told = [means for means in probe() if not means.works]
    assert len(told) == 1
    assert f"this is {system} on {machine}: schedulers keep the real clock" in told[0].detail


def test_no_netlink_is_no_fault(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on macOS."""
    monkeypatch.delattr("socket.AF_NETLINK")
    with pytest.raises(OSError, match="needs Linux"):
        tcp.SockDiag()
