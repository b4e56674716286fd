"""Words and ports that cannot be used are told in a line, with exit code 2."""

import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from batkube.commands import cli, run, serve
from batkube.settings import RunSettings, ServeSettings

SMALL = Path(__file__).parents[2] / "platforms" / "small-cluster.xml"
BURST = Path(__file__).parents[2] / "workloads" / "burst-then-trickle.json"


@pytest.mark.parametrize("option", ["--master-host", "--sched-cfg", "--sg-log", "--in-cluster-dir", "--out"])
def test_a_word_that_is_no_text(
    option: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["batkube", "run", option, "a\udcff"])
    with pytest.raises(SystemExit) as ended:
        cli.main()
    assert ended.value.code == 2
    assert capsys.readouterr().err == "batkube: 'a\\udcff' on the command line is not UTF-8\n"


def test_an_endpoint_that_another_process_has(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        address = f"tcp://127.0.0.1:{holder.getsockname()[1]}"
        settings = RunSettings(platform=SMALL, workloads=(BURST,), out=tmp_path / "out", simulator=address)
        assert run.main(settings) == 2
    assert f"{address}: Address already in use" in capsys.readouterr().err


@pytest.mark.parametrize("address", ["tcp://nonsense", "nowhere://x"])
def test_an_endpoint_that_is_none(address: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    settings = RunSettings(platform=SMALL, workloads=(BURST,), out=tmp_path / "out", simulator=address)
    assert run.main(settings) == 2
    assert address in capsys.readouterr().err


@pytest.mark.parametrize("api_only", [True, False])
def test_a_port_that_is_taken(
    api_only: bool, free_port: Callable[[], int], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with socket.socket() as holder:
        holder.bind(("127.0.0.1", 0))
        holder.listen()
        port = holder.getsockname()[1]
        beside: dict[str, Any] = {} if api_only else {"batsim": f"tcp://127.0.0.1:{free_port()}"}
        assert serve.main(ServeSettings(port=port, out=tmp_path / "out", api_only=api_only, **beside)) == 2
    assert f"--port: cannot listen on 127.0.0.1:{port}: Address already in use" in capsys.readouterr().err
