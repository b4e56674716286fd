"""Claims of devices and of volumes: what a scheduler writes into them, and what it may not."""

from __future__ import annotations

from typing import Any

import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer

JSON = dict[str, Any]
CLAIMS = "resourceclaims.resource.k8s.io"
UID = "11111111-2222-3333-4444-555555555555"
ALLOCATION: JSON = {
    "devices": {"results": [{"request": "gpu", "driver": "d.example.com", "pool": "n1", "device": "gpu-0"}]}
}
CONSUMER: JSON = {"resource": "pods", "name": "p", "uid": UID}


def claim(**exactly: Any) -> JSON:
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu.example.com", **exactly}}
    return {"metadata": {"name": "c", "finalizers": ["x/y"]}, "spec": {"devices": {"requests": [request]}}}


def causes(error: ApiError) -> list[str]:
    assert error.code == 422
    assert error.details is not None
    return [cause["field"] for cause in error.details["causes"]]


def test_one_device_where_nothing_is_said(server: ApiServer) -> None:
    created = server.create(CLAIMS, {**claim(), "status": {"allocation": ALLOCATION}})
    exactly = created["spec"]["devices"]["requests"][0]["exactly"]
    assert (exactly["allocationMode"], exactly["count"]) == ("ExactCount", 1)
    assert "allocation" not in created["status"]
    assert "generation" not in created["metadata"]


def test_allocation_and_reservation(server: ApiServer) -> None:
    created = server.create(CLAIMS, claim())
    status = {"allocation": ALLOCATION, "reservedFor": [CONSUMER]}
    bare = {**created, "metadata": {"name": "c", "namespace": "default"}, "status": status}
    written = server.update(CLAIMS, bare, "status")
    assert written["status"]["reservedFor"] == [CONSUMER]
    assert written["metadata"]["finalizers"] == ["x/y"]  # metadata is not the status' business
    with pytest.raises(ApiError) as refused:
        server.update(CLAIMS, {**written, "status": {"reservedFor": [CONSUMER]}}, "status")
    assert causes(refused.value) == ["status.reservedFor"]
    other = {"devices": {"results": [{**ALLOCATION["devices"]["results"][0], "device": "gpu-1"}]}}
    with pytest.raises(ApiError) as refused:
        server.update(CLAIMS, {**written, "status": {**status, "allocation": other}}, "status")
    assert causes(refused.value) == ["status.allocation"]


@pytest.mark.parametrize(
    ("result", "field"),
    [
        ({"request": "other"}, "request"),
        ({"request": "gpu/sub"}, "request"),
        ({"driver": ""}, "driver"),
        ({"device": "GPU"}, "device"),
    ],
)
def test_a_result_that_cannot_be(server: ApiServer, result: JSON, field: str) -> None:
    created = server.create(CLAIMS, claim())
    wrong = {"devices": {"results": [{**ALLOCATION["devices"]["results"][0], **result}]}}
    with pytest.raises(ApiError) as refused:
        server.update(CLAIMS, {**created, "status": {"allocation": wrong}}, "status")
    assert causes(refused.value) == [f"status.allocation.devices.results[0].{field}"]


def test_the_spec_is_immutable(server: ApiServer) -> None:
    created = server.create(CLAIMS, claim())
    with pytest.raises(ApiError) as refused:
        server.update(CLAIMS, {**created, "spec": claim(count=2)["spec"]})
    assert causes(refused.value) == ["spec"]


def test_a_volume_claim_gets_the_default_class_and_its_volume_once(server: ApiServer) -> None:
    for name, default in (("fast", "true"), ("slow", "false")):
        annotations = {"storageclass.kubernetes.io/is-default-class": default}
        server.create(
            "storageclasses.storage.k8s.io",
            {"metadata": {"name": name, "annotations": annotations}, "provisioner": "x/y"},
        )
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    created = server.create("persistentvolumeclaims", {"metadata": {"name": "v"}, "spec": spec})
    assert created["spec"]["storageClassName"] == "fast"
    assert created["metadata"]["finalizers"] == ["kubernetes.io/pvc-protection"]
    bound = server.update("persistentvolumeclaims", {**created, "spec": {**created["spec"], "volumeName": "a"}})
    with pytest.raises(ApiError) as refused:
        server.update("persistentvolumeclaims", {**bound, "spec": {**bound["spec"], "volumeName": "b"}})
    assert causes(refused.value) == ["spec"]


def test_a_quota_counts_what_is_created_once_somebody_counts(server: ApiServer) -> None:
    quota = server.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"count/configmaps": "1"}}})
    server.create("configmaps", {"metadata": {"name": "free"}})
    status = {"hard": {"count/configmaps": "1"}, "used": {"count/configmaps": "0"}}
    server.update("resourcequotas", {**quota, "status": status}, "status")
    server.create("configmaps", {"metadata": {"name": "first"}})
    assert server.get("resourcequotas", "q")["status"]["used"] == {"count/configmaps": "1"}
    with pytest.raises(ApiError, match="exceeded quota: q, requested: count/configmaps=1") as refused:
        server.create("configmaps", {"metadata": {"name": "second"}})
    assert refused.value.code == 403
