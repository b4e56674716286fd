"""The command line of Batsim 5."""

import shutil
import subprocess
from pathlib import Path

import pytest

from batkube.batsim.batprotocol.command_line import arguments
from batkube.batsim.batprotocol.init_string import Options
from batkube.simulator.standalone.batsim5 import parse_arguments

ROOT = Path(__file__).parents[2]
EVERYTHING = {
    "platform": ROOT / "platforms" / "small-cluster.xml",
    "workloads": [ROOT / "workloads" / "batsim5.json"],
    "external_events": [ROOT / "README.md"],
    "export_prefix": Path("results/batsim"),
    "master_host": "master_host",
    "roles": ["a0,a1:storage"],
    "mmax": 3,
    "options": Options(compute_sharing=True),
}


def test_every_input_has_its_option() -> None:
    given = parse_arguments(arguments("tcp://127.0.0.1:28000", **EVERYTHING))  # type: ignore[arg-type]
    assert given.platform == EVERYTHING["platform"]
    assert given.workload == EVERYTHING["workloads"]
    assert given.external_events == EVERYTHING["external_events"]
    assert given.export == f"{Path.cwd()}/results/batsim_"
    assert given.edc_socket_str == ["tcp://127.0.0.1:28000", '{"batkube": {"compute_sharing":true}}']
    assert given.add_role == [["a0", "storage"], ["a1", "storage"]]
    assert (given.master_host, given.mmax) == ("master_host", 3)


@pytest.mark.skipif(shutil.which("batsim5") is None, reason="there is no batsim5 on PATH")
def test_a_real_batsim_5_understands_them() -> None:
    words = arguments("tcp://127.0.0.1:1", mmax_workload=True, energy=True, quiet=True, **EVERYTHING)  # type: ignore[arg-type]
    done = subprocess.run(["batsim5", *words, "--dump-execution-context"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert f"{Path.cwd()}/results/batsim_" in done.stdout


def test_a_users_own_init_string_goes_as_it_is() -> None:
    words = arguments("tcp://127.0.0.1:1", platform=Path("p.xml"), init="policy=fcfs")
    assert words[words.index("-s") + 2] == "policy=fcfs"


def test_a_role_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match=r"expected HOST\[,HOST\]:ROLE, not 'storage'"):
        arguments("tcp://127.0.0.1:1", platform=Path("p.xml"), roles=["storage"])
