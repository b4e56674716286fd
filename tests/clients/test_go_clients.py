"""client-go and controller-runtime against `batkube serve --api-only`: what controllers in Go are made of."""

import json
import os
import subprocess
from pathlib import Path

import pytest
import yaml

from ..conformance.servers import batkube
from ..conftest import BuiltTool

AREAS = {"apply", "create", "custom", "delete", "discovery", "errors", "events", "evict", "informer", "leader", "list"}
AREAS |= {"manager", "patch", "scale", "update", "watch"}


@pytest.mark.parametrize(
    "features",
    [
        {},
        # As clients older than 1.35 do: a list, then a watch from its version.
        {"KUBE_FEATURE_WatchListClient": "false"},
    ],
    ids=["watch-list", "list-and-watch"],
)
def test_all_checks_hold(built_tool: BuiltTool, tmp_path: Path, features: dict[str, str]) -> None:
    program = built_tool("go-clients-1.36.3")
    with batkube(tls=True) as server:
        (tmp_path / "kubeconfig").write_text(yaml.safe_dump(server.kubeconfig()))
        done = subprocess.run(
            [str(program), "--kubeconfig", str(tmp_path / "kubeconfig")],
            capture_output=True,
            text=True,
            timeout=1200,
            env={**os.environ, **features},
        )
    report = [json.loads(line) for line in done.stdout.splitlines()]
    failed = [line for line in report if "error" in line]
    if features:
        failed = [line for line in failed if line["check"] != "informer/begins-with-a-watch"]
    assert not failed, done.stderr[-2000:]
    assert {line["check"].partition("/")[0] for line in report} == AREAS, done.stderr[-2000:]
