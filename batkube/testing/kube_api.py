"""A Kubernetes API server for tests, in a process of its own, so that tests without an event loop can use it."""

import json
import select
import subprocess
import sys
from functools import cached_property
from pathlib import Path
from typing import Any

UP_WITHIN = 120.0
"""Real seconds."""


class KubeApi:
    """An API server without nodes, controllers and kubelet: what ``envtest`` is, without binaries."""

    def __init__(self, folder: Path) -> None:
        self.kubeconfig = folder / "kubeconfig"
        """The file for clients; everybody is an administrator."""
        self._errors = (folder / "stderr.txt").open("w+b")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "batkube.testing.served", str(self.kubeconfig)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        self.url: str = self._answer()["url"]

    @cached_property
    def client(self) -> Any:
        """The ``ApiClient`` of the official Python client: ``CoreV1Api(kube_api.client)``."""
        from kubernetes import config

        return config.new_client_from_config(str(self.kubeconfig))

    def reset(self) -> None:
        """Delete all objects, but for those that each cluster has from the start."""
        assert self._process.stdin is not None
        self._process.stdin.write(b"reset\n")
        self._process.stdin.flush()
        self._answer()

    def close(self) -> None:
        """End the server."""
        if "client" in self.__dict__:
            self.client.close()
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=UP_WITHIN)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
        self._errors.close()

    def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], UP_WITHIN)
        line = self._process.stdout.readline() if ready else b""
        if not line:
            self._errors.seek(0)
            said = self._errors.read().decode(errors="replace").strip()
            raise RuntimeError(f"the API server has not answered: {said or 'it said nothing'}")
        answer: dict[str, Any] = json.loads(line)
        return answer
