"""The real kube-controller-manager and kube-scheduler beside `batkube serve --api-only`, and a kubelet's part."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, TypeVar

import httpx
import pytest
import yaml

from ..conformance.servers import Server, batkube
from ..conftest import BuiltTool
from ..waiting import wait_until

JSON = dict[str, Any]
T = TypeVar("T")


class Cluster:
    """A server with controllers. Each test has a namespace of its own."""

    def __init__(self, server: Server, namespace: str) -> None:
        headers = {"Authorization": f"Bearer {server.token}"}
        self._http = httpx.Client(base_url=server.url, headers=headers, verify=False, timeout=60, trust_env=False)
        self.namespace = namespace
        self._nodes: list[str] = []
        self.silent: set[str] = set()
        """Nodes of whose kubelets nothing is heard."""
        self._heard = 0.0

    def path(self, resource: str, name: str = "") -> str:
        """Of a resource as `batch/v1/jobs`; of the core group `v1/pods`."""
        version, _, plural = resource.rpartition("/")
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        return f"{root}/namespaces/{self.namespace}/{plural}" + (f"/{name}" if name else "")

    def send(self, method: str, path: str, body: object = None, kind: str = "application/json") -> JSON:
        answer = self._http.request(method, path, json=body, headers={"Content-Type": kind})
        assert answer.is_success, f"{method} {path}: {answer.text}"
        found: JSON = answer.json()
        return found

    def create(self, resource: str, body: JSON) -> JSON:
        return self.send("POST", self.path(resource), body)

    def get(self, resource: str, name: str) -> JSON:
        return self.send("GET", self.path(resource, name))

    def list(self, resource: str, selector: str = "") -> list[JSON]:
        items: list[JSON] = self.send("GET", f"{self.path(resource)}?labelSelector={selector}")["items"]
        return items

    def patch(self, path: str, body: JSON) -> JSON:
        return self.send("PATCH", path, body, "application/merge-patch+json")

    def delete(self, resource: str, name: str, propagation: str = "Background") -> None:
        self.send("DELETE", self.path(resource, name), {"propagationPolicy": propagation})

    def gone(self, path: str) -> bool:
        return self._http.get(path).status_code == 404

    def node(self, name: str) -> None:
        """A node of four cores whose kubelet says that it is ready."""
        resources = {"cpu": "4", "memory": "8Gi", "pods": "110"}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
        status = {"capacity": resources, "allocatable": resources, "conditions": [ready]}
        labels = {"kubernetes.io/hostname": name}
        self._nodes.append(name)
        self.send("POST", "/api/v1/nodes", {"metadata": {"name": name, "labels": labels}, "status": status})

    def heartbeat(self, name: str) -> None:
        """Renew the condition Ready, as the kubelet does again and again."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "lastHeartbeatTime": now}
        self.patch(f"/api/v1/nodes/{name}/status", {"status": {"conditions": [ready]}})

    def keep_alive(self) -> None:
        """Send the heartbeats of all nodes, each half second while somebody waits: a node is lost after four."""
        if time.monotonic() - self._heard >= 0.5:
            for name in self._nodes:
                if name not in self.silent:
                    self.heartbeat(name)
            self._heard = time.monotonic()

    def wait_until(self, what: str, found: Callable[[], T]) -> T:
        """Wait for what controllers bring about, while the kubelets go on; return the value that is true at last."""

        def look() -> T:
            if not (value := found()):
                self.keep_alive()
            return value

        return wait_until(what, look)

    def pod_status(self, pod: JSON, **status: Any) -> None:
        """Write the status of a pod, as the kubelet does."""
        self.patch(self.path("v1/pods", pod["metadata"]["name"]) + "/status", {"status": status})

    def run_pods(self, selector: str) -> None:
        """All these pods are running and ready."""
        ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z"}
        for pod in self.list("v1/pods", selector):
            self.pod_status(pod, phase="Running", conditions=[ready])

    def end_pods(self) -> None:
        """Pods that are to end have ended."""
        for pod in self.list("v1/pods"):
            if "deletionTimestamp" in pod["metadata"]:
                path = self.path("v1/pods", pod["metadata"]["name"])
                self._http.request("DELETE", path, json={"gracePeriodSeconds": 0})  # it may be gone by now

    def close(self) -> None:
        """Nodes go: those that nobody hears of any more would hold up the controllers in the next test."""
        for name in self._nodes:
            self._http.request("DELETE", f"/api/v1/nodes/{name}")  # the test may have done it
        self._http.close()


def openssl(*words: str) -> None:
    subprocess.run(["openssl", *words], check=True, capture_output=True)


@contextmanager
def running(command: list[str], log: Path) -> Iterator[None]:
    with log.open("w") as output, subprocess.Popen(command, stdout=output, stderr=output) as process:
        try:
            yield
            assert process.poll() is None, f"{command[0]} ended: {log.read_text()[-2000:]}"
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def control_plane(built_tool: BuiltTool, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Both programs at work. A node is lost after four seconds without a word of its kubelet."""
    programs = [built_tool("kube-controller-manager-1.36.3"), built_tool("kube-scheduler-1.36.3")]
    folder = tmp_path_factory.mktemp("control-plane")
    access, key, authority = folder / "kubeconfig", folder / "service-account.key", folder / "authority.crt"
    openssl("genrsa", "-out", str(key), "2048")
    openssl("req", "-x509", "-new", "-key", str(key), "-subj", "/CN=authority", "-out", str(authority))
    common = [f"--kubeconfig={access}", "--leader-elect=false", "--secure-port=0"]
    common += ["--kube-api-qps=500", "--kube-api-burst=500"]
    manager = [f"--service-account-private-key-file={key}", f"--flex-volume-plugin-dir={folder}"]
    manager += ["--node-monitor-period=1s", "--node-monitor-grace-period=4s"]
    manager += [f"--cluster-signing-cert-file={authority}", f"--cluster-signing-key-file={key}"]
    with ExitStack() as stack:
        server = stack.enter_context(batkube(tls=True))
        access.write_text(yaml.safe_dump(server.kubeconfig()))
        for program, options in zip(programs, (manager, []), strict=True):
            log = folder / f"{program.name}.log"
            stack.enter_context(running([str(program), *common, *options], log))
        yield server


@pytest.fixture
def cluster(control_plane: Server, request: pytest.FixtureRequest) -> Iterator[Cluster]:
    name = request.node.name.replace("_", "-")[:60].strip("-")
    cluster = Cluster(control_plane, name)
    cluster.send("POST", "/api/v1/namespaces", {"metadata": {"name": name}})
    yield cluster
    cluster.close()
