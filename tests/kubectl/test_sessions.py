"""kubectl of two minors against `batkube serve --api-only`: what people type at a cluster, and what they read."""

import pytest

from ..conformance.servers import batkube
from ..conftest import BuiltTool
from .sessions import names, played, recorded, versions


@pytest.mark.parametrize(("name", "version"), [(name, version) for name in names() for version in versions(name)])
def test_session(name: str, version: str, built_tool: BuiltTool) -> None:
    """Each command prints what it printed with kube-apiserver, and warns of what is kept and never acted upon."""
    kubectl = built_tool(f"kubectl-{version}")
    session = recorded(name, version)
    with batkube(tls=True) as server:
        now = played(session, server, kubectl)
    for was, got in zip(session.steps, now.steps, strict=True):
        assert (got.command, without_own_warnings(got.output)) == (was.command, was.output)


def without_own_warnings(output: str) -> str:
    return "".join(line for line in output.splitlines(keepends=True) if not line.startswith("Warning: batkube "))
