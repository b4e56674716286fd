"""The servers that are asked, each started empty on free ports of the loopback interface."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from tests import warm

ROOT = Path(__file__).parents[2]
TOKEN = "conformance"


class Server(NamedTuple):
    """The address of a server, and the credentials for it."""

    url: str
    token: str

    def kubeconfig(self) -> dict[str, Any]:
        """Return what clients need to come in, where they send a token at all: over TLS."""
        return {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "test", "cluster": {"server": self.url, "insecure-skip-tls-verify": True}}],
            "users": [{"name": "admin", "user": {"token": self.token}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "admin"}}],
            "current-context": "test",
        }


@contextmanager
def batkube(*options: str, tls: bool = False) -> Iterator[Server]:
    """`batkube serve --api-only`, and the options: as kube-apiserver is where no controller manager is beside it.
    RuntimeError where it does not start.
    """
    with tempfile.TemporaryDirectory() as out:
        words = [sys.executable, "-m", "batkube", "serve", "--api-only", "--port", "0", "--out", out]
        words += ["--no-node-lifecycle", "--token", TOKEN, *([] if tls else ["--insecure"]), *options]
        with warm.Popen(words, stdout=subprocess.PIPE, text=True) as process:
            try:
                assert process.stdout is not None
                url = next((word for word in process.stdout.readline().split() if word.startswith("http")), None)
                if url is None:
                    raise RuntimeError("batkube serve did not start")
                yield Server(url, TOKEN)
            finally:
                process.terminate()


@contextmanager
def kube_apiserver() -> Iterator[Server]:
    """kube-apiserver with etcd, as `make control-plane` builds them, started as the benchmarks do."""
    sys.path.insert(0, str(ROOT / "benchmarks"))  # they are scripts, no package
    from servers import started

    with tempfile.TemporaryDirectory() as folder, started("kube-apiserver", Path(folder)) as server:
        yield Server(server.endpoint.url, server.endpoint.token)
