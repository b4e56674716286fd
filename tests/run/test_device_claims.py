"""Devices (DRA): the real kube-scheduler allocates them to pods, and they are free again when the pods have ended."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.run.conftest import JSON, Batkube

HOUR = 3600.0
PROFILES = {"hour": {"type": "delay", "delay": HOUR}}

DEVICES = """\
apiVersion: resource.k8s.io/v1
kind: DeviceClass
metadata: {name: gpu}
spec:
  selectors:
  - cel: {expression: device.driver == 'gpu.example.com'}
---
apiVersion: resource.k8s.io/v1
kind: ResourceSlice
metadata: {name: node-0-gpus}
spec:
  driver: gpu.example.com
  nodeName: node-0
  pool: {name: node-0, generation: 1, resourceSliceCount: 1}
  devices:
  - {name: gpu-0, attributes: {size: {int: 40}}}
  - {name: gpu-1, attributes: {size: {int: 80}}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: one-gpu, namespace: default}
spec:
  spec:
    devices:
      requests:
      - {name: gpu, exactly: {deviceClassName: gpu}}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaimTemplate
metadata: {name: big-gpu, namespace: default}
spec:
  spec:
    devices:
      requests:
      - name: gpu
        exactly:
          deviceClassName: gpu
          selectors:
          - cel: {expression: "device.attributes['gpu.example.com'].size >= 80"}
---
apiVersion: resource.k8s.io/v1
kind: ResourceClaim
metadata: {name: shared, namespace: default}
spec:
  devices:
    requests:
    - {name: gpu, exactly: {deviceClassName: gpu}}
"""


def asks(**claim: str) -> JSON:
    """Return what a job's pods are given in addition."""
    containers = [{"name": "job", "resources": {"claims": [{"name": "gpu"}]}}]
    return {"spec": {"resourceClaims": [{"name": "gpu", **claim}], "containers": containers}}


def job(number: int, subtime: float = 0.0, **claim: str) -> JSON:
    fields: JSON = {"id": str(number), "subtime": subtime, "res": 1, "profile": "hour"}
    return {**fields, "pod": asks(**claim)} if claim else fields


@pytest.fixture
def run(
    batkube: Batkube,
    platform: Callable[..., Path],
    workload: Callable[..., Path],
    built_tool: Callable[[str], Path],
    tmp_path: Path,
) -> Callable[..., Any]:
    """Jobs on two nodes of eight cores that are shared; the first node has two devices."""
    (tmp_path / "devices.yaml").write_text(DEVICES)
    words = ["--scheduler", "kube-scheduler", "--scheduler-binary", built_tool("kube-scheduler-1.36.3")]
    words += ["--enable-compute-sharing", "--objects", tmp_path / "devices.yaml"]

    def run(*jobs: JSON, more: tuple[object, ...] = ()) -> Any:
        return batkube("-p", platform(2, cores=8), "-w", workload(jobs, PROFILES), *words, *more)

    return run


def test_pods_wait_for_devices_and_start_when_they_are_free(run: Callable[..., Any]) -> None:
    given = [job(number, 60.0 * number, resourceClaimTemplateName="one-gpu") for number in range(5)]
    done = run(*given, job(5, 300.0), more=("--repeat", 2))
    assert done.exit_code == 0, done.stdout + done.stderr
    pods = done.rows("pods.csv")
    starts = [float(pod["starting_time"]) for pod in pods]
    # Two at a time; who asks for none goes at once.
    assert sorted(starts[:5]) == [0.0, 60.0, HOUR, HOUR + 60, 2 * HOUR]
    assert starts[5] == 300.0
    assert {pod["node"] for pod in pods[:5]} == {"node-0"}
    assert "cannot allocate all claims" in pods[4]["waited_for"]
    assert done.run["makespan"] == 3 * HOUR
    assert [Path(file["path"]).name for file in done.run["objects"]] == ["devices.yaml"]


def test_a_device_is_chosen_by_what_it_is(run: Callable[..., Any]) -> None:
    """The bigger one is taken, though another is free."""
    done = run(*(job(number, resourceClaimTemplateName="big-gpu") for number in range(2)))
    assert done.exit_code == 0, done.stderr
    assert sorted(float(pod["starting_time"]) for pod in done.rows("pods.csv")) == [0.0, HOUR]


def test_pods_share_a_claim_that_is_free_when_the_last_has_ended(run: Callable[..., Any]) -> None:
    sharing = [job(0, 0.0, resourceClaimName="shared"), job(1, 600.0, resourceClaimName="shared")]
    others = [job(number, 660.0, resourceClaimTemplateName="one-gpu") for number in (2, 3)]
    done = run(*sharing, *others)
    assert done.exit_code == 0, done.stderr
    starts = [float(pod["starting_time"]) for pod in done.rows("pods.csv")]
    assert starts[:2] == [0.0, 600.0]
    assert sorted(starts[2:]) == [660.0, 600.0 + HOUR]


def test_a_device_is_asked_for_as_an_extended_resource(run: Callable[..., Any], tmp_path: Path) -> None:
    """kube-scheduler 1.36 makes the claim itself where a class stands for the resource and the node has none of it."""
    manifest = tmp_path / "devices.yaml"
    manifest.write_text(
        DEVICES.replace("spec:\n  selectors", "spec:\n  extendedResourceName: nvidia.com/gpu\n  selectors", 1)
    )
    done = run(*({**job(number), "gpu": 1} for number in range(3)))
    assert done.exit_code == 0, done.stderr
    pods = done.rows("pods.csv")
    assert sorted(float(pod["starting_time"]) for pod in pods) == [0.0, 0.0, HOUR]
    assert {pod["node"] for pod in pods} == {"node-0"}


def test_a_template_that_is_missing_is_named(run: Callable[..., Any]) -> None:
    done = run(job(0, resourceClaimTemplateName="nowhere"))
    assert done.exit_code == 1
    assert 'pod w0-0, claim gpu: resourceclaimtemplates.resource.k8s.io "nowhere" not found' in done.run["warnings"]
    assert "nothing can happen any more" in done.run["reason"]
