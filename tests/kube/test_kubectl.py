"""Stock kubectl against the server: what it prints, explains and refuses to send."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from batkube.kube.server import ApiServer

from ..conftest import BuiltTool
from .conftest import Clock, pod

Kubectl = Callable[..., Awaitable[str]]

COLUMNS = ["NAME", "READY", "STATUS", "RESTARTS", "AGE", "IP", "NODE", "NOMINATED", "NODE", "READINESS", "GATES"]


@pytest.fixture
def kubectl(built_tool: BuiltTool, server: ApiServer, tmp_path: Path) -> Kubectl:
    """Run kubectl with these words; what it prints, errors too."""
    program = built_tool("kubectl-1.36.3")
    environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}  # its cache and configuration, of this test alone

    async def run(*words: str, stdin: str = "") -> str:
        process = await asyncio.create_subprocess_exec(
            program,
            "--server",
            server.url,
            *words,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env=environment,
        )
        out, _ = await process.communicate(stdin.encode())
        return out.decode()

    return run


async def test_explain_shows_the_documentation_of_fields(kubectl: Kubectl) -> None:
    told = await kubectl("explain", "pod.spec.tolerations.effect")
    assert "Effect indicates the taint effect to match." in told
    assert "FIELD: effect <string>" in told


async def test_get_prints_the_columns_users_know(kubectl: Kubectl, server: ApiServer, clock: Clock) -> None:
    server.create("pods", pod("a"), "default")
    clock.seconds += 3 * 3600
    lines = (await kubectl("get", "pods", "-o", "wide")).splitlines()
    assert lines[0].split() == COLUMNS
    assert lines[1].split() == ["a", "0/1", "Pending", "0", "3h", "<none>", "<none>", "<none>", "<none>"]


async def test_a_misspelt_field_is_refused(kubectl: Kubectl) -> None:
    manifest = '{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a"},"spec":{"containrs":[]}}'
    assert 'unknown field "spec.containrs"' in await kubectl("create", "-f", "-", stdin=manifest)


async def test_apply_creates_then_changes_nothing(kubectl: Kubectl) -> None:
    manifest = '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1"}}'
    assert "configmap/c created" in await kubectl("apply", "-f", "-", stdin=manifest)
    assert "configmap/c unchanged" in await kubectl("apply", "-f", "-", stdin=manifest)
    changed = manifest.replace('"1"', '"2"')
    assert "configmap/c configured" in await kubectl("apply", "-f", "-", stdin=changed)


async def test_api_resources_lists_kinds_with_their_short_names(kubectl: Kubectl) -> None:
    rows = [line.split() for line in (await kubectl("api-resources")).splitlines()]
    assert ["poddisruptionbudgets", "pdb", "policy/v1", "true", "PodDisruptionBudget"] in rows
    assert not [row for row in rows if "extensions/v1beta1" in row]
