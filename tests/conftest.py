"""What all tests share: where the real programs are that `make tools` builds."""

import os
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

BuiltTool = Callable[[str], Path]


def tools_folder() -> Path:
    """The folder into which the Makefile builds (the same rule is written there)."""
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "batkube"
    return Path(os.environ.get("BATKUBE_TOOLS") or cache) / "bin"


@pytest.fixture(scope="session")
def built_tool() -> BuiltTool:
    """Find a program by name and version: ``built_tool("kube-scheduler-1.36.3")``.

    A test that asks for one that is not there is skipped; with BATKUBE_CI set, where all must be there, it fails.
    """

    def find(name: str) -> Path:
        path = tools_folder() / name
        if not path.exists():
            reason = f"{name} is not built: `make tools` does it where Go is installed"
            if os.environ.get("BATKUBE_CI"):
                pytest.fail(reason)
            pytest.skip(reason)
        return path

    return find


@pytest.fixture(scope="session")
def free_port() -> Callable[[], int]:
    """Find a port of the loopback address that nobody uses."""

    def find() -> int:
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            port: int = probe.getsockname()[1]
            return port

    return find
