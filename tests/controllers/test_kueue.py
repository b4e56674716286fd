"""The proof: an unmodified Kueue admits jobs by quota, with kube-controller-manager and kube-scheduler beside it.

Its webhooks are not called: batkube calls none. What they would fill in is written here by hand.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest
import yaml

from ..conformance.servers import Server
from ..conftest import BuiltTool
from .conftest import Cluster, running
from .kueue_definitions import kueue_definitions

JSON = dict[str, Any]

PROGRAM = "kueue-0.17.0"
QUEUE = "kueue.x-k8s.io/queue-name"
KINDS = "kueue.x-k8s.io/v1beta2"
NAMESPACE = "kueue-system"
SECRET = f"/api/v1/namespaces/{NAMESPACE}/secrets/kueue-webhook-server-cert"
DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"


@pytest.fixture(scope="module")
def kueue(program_beside: BuiltTool) -> Path:
    """Find the program."""
    return program_beside(PROGRAM)


@pytest.fixture(scope="module")
def definitions(kueue: Path, sources: Callable[[str, str], Path]) -> list[JSON]:
    """Read Kueue's CustomResourceDefinitions."""
    return kueue_definitions(sources("kueue", "sigs.k8s.io/kueue"))


@pytest.fixture
def queues(
    control_plane: Server,
    cluster: Cluster,
    kueue: Path,
    definitions: list[JSON],
    free_port: Callable[[], int],
    tmp_path: Path,
) -> Iterator[Cluster]:
    """A cluster with Kueue at work."""
    for definition in definitions:
        cluster.send("POST", DEFINITIONS, definition)
    cluster.send("POST", "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
    secret = SECRET.rpartition("/")
    cluster.send("POST", secret[0], {"metadata": {"name": secret[2]}})
    for kind in ("validating", "mutating"):
        name = f"kueue-{kind}-webhook-configuration"
        cluster.send("POST", f"{WEBHOOKS}/{kind}webhookconfigurations", {"metadata": {"name": name}})
    certificates = tmp_path / "certificates"
    certificates.mkdir()
    health = f"127.0.0.1:{free_port()}"
    configuration = {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "health": {"healthProbeBindAddress": health},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": free_port(), "certDir": str(certificates)},
        "leaderElection": {"leaderElect": False},
        "integrations": {"frameworks": ["batch/job"]},
        "featureGates": {"VisibilityOnDemand": False},
    }
    config, access = tmp_path / "config.yaml", tmp_path / "kubeconfig"
    config.write_text(yaml.safe_dump(configuration))
    access.write_text(yaml.safe_dump(control_plane.kubeconfig()))
    log = tmp_path / "kueue.log"
    with ExitStack() as stack:
        stack.enter_context(running([str(kueue), f"--config={config}", f"--kubeconfig={access}"], log))
        # What a kubelet does: the secret that Kueue has filled appears as files.
        data = cluster.wait_until("there are certificates", lambda: cluster.send("GET", SECRET).get("data", {}))
        for name, value in data.items():
            (certificates / name).write_bytes(base64.b64decode(value))
        cluster.wait_until("Kueue is ready", lambda: _is_ok(f"http://{health}/readyz"))
        yield cluster


def _is_ok(url: str) -> bool:
    try:
        return httpx.get(url, trust_env=False, timeout=60).is_success
    except httpx.TransportError:
        return False


def job(name: str, cpu: str) -> JSON:
    container = {"name": "main", "image": "sums:1", "resources": {"requests": {"cpu": cpu}}}
    template = {"metadata": {"labels": {"app": name}}, "spec": {"containers": [container], "restartPolicy": "Never"}}
    # Suspended, as the webhook would make it.
    return {"metadata": {"name": name, "labels": {QUEUE: "team"}}, "spec": {"suspend": True, "template": template}}


def custom(kind: str, name: str) -> JSON:
    """An object of Kueue's. Unlike those built in, custom ones must name their kind."""
    return {"apiVersion": KINDS, "kind": kind, "metadata": {"name": name}}


def condition(obj: JSON, kind: str) -> JSON:
    found = (one for one in obj.get("status", {}).get("conditions", ()) if one["type"] == kind)
    return next(found, {"status": "Unknown"})


def test_jobs_are_admitted_as_far_as_the_quota_goes(queues: Cluster) -> None:
    cluster = queues
    cluster.node("worker")
    root = f"/apis/{KINDS}"
    cluster.send("POST", f"{root}/resourceflavors", custom("ResourceFlavor", "standard"))
    quota = {"name": "standard", "resources": [{"name": "cpu", "nominalQuota": "3"}]}
    group = {"coveredResources": ["cpu"], "flavors": [quota]}
    spec = {"namespaceSelector": {}, "resourceGroups": [group]}
    cluster.send("POST", f"{root}/clusterqueues", custom("ClusterQueue", "all") | {"spec": spec})
    cluster.create(f"{KINDS}/localqueues", custom("LocalQueue", "team") | {"spec": {"clusterQueue": "all"}})
    cluster.wait_until(
        "the queue takes jobs",
        lambda: condition(cluster.get(f"{KINDS}/localqueues", "team"), "Active")["status"] == "True",
    )

    def workload(name: str) -> JSON:
        uid = cluster.get("batch/v1/jobs", name)["metadata"]["uid"]
        found = cluster.list(f"{KINDS}/workloads", f"kueue.x-k8s.io/job-uid={uid}")
        return found[0] if found else {}

    def pod_of(name: str) -> JSON:
        """The job's pod, once it has a node."""
        pods = cluster.list("v1/pods", f"app={name}")
        return pods[0] if pods and pods[0]["spec"].get("nodeName") else {}

    cluster.create("batch/v1/jobs", job("first", "2"))
    first = cluster.wait_until("the first job's pod has a node", lambda: pod_of("first"))
    assert not cluster.get("batch/v1/jobs", "first")["spec"]["suspend"]
    admission = workload("first")["status"]["admission"]
    assert admission["clusterQueue"] == "all"
    assert admission["podSetAssignments"][0]["flavors"] == {"cpu": "standard"}

    cluster.create("batch/v1/jobs", job("second", "2"))

    def told_to_wait() -> bool:
        reserved = condition(workload("second"), "QuotaReserved")
        return reserved["status"] == "False" and "insufficient unused quota" in reserved["message"]

    cluster.wait_until("the second job is told to wait", told_to_wait)
    assert cluster.get("batch/v1/jobs", "second")["spec"]["suspend"]
    cluster.create("batch/v1/jobs", job("small", "1"))  # there is room beside the first
    cluster.wait_until("the small job's pod has a node", lambda: pod_of("small"))
    assert cluster.list("v1/pods", "app=second") == []

    cluster.pod_status(first, phase="Succeeded")
    cluster.wait_until(
        "the first job is complete",
        lambda: condition(cluster.get("batch/v1/jobs", "first"), "Complete")["status"] == "True",
    )
    cluster.wait_until("the second job's pod has a node", lambda: pod_of("second"))
    cluster.wait_until(
        "the first workload is finished", lambda: condition(workload("first"), "Finished")["status"] == "True"
    )

    def used() -> str:
        usage = cluster.send("GET", f"{root}/clusterqueues/all").get("status", {}).get("flavorsUsage") or [{}]
        return str((usage[0].get("resources") or [{}])[0].get("total"))

    cluster.wait_until("the quota is used up by the other two", lambda: used() == "3")
