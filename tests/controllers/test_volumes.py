"""Claims get volumes: those that are there, or new ones; and both go when nobody needs them."""

from typing import Any

import pytest

from .plane import Plane, template

JSON = dict[str, Any]
CLAIMS, VOLUMES, CLASSES = "persistentvolumeclaims", "persistentvolumes", "storageclasses.storage.k8s.io"


@pytest.fixture
def plane() -> Plane:
    return Plane()


def claim(name: str, size: str = "1Gi", **spec: Any) -> JSON:
    whole = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": size}}, **spec}
    return {"metadata": {"name": name}, "spec": whole}


def volume(name: str, size: str, **spec: Any) -> JSON:
    whole = {"accessModes": ["ReadWriteOnce"], "capacity": {"storage": size}, "hostPath": {"path": "/x"}, **spec}
    return {"metadata": {"name": name}, "spec": whole}


def storage_class(name: str, mode: str = "Immediate", **more: Any) -> JSON:
    return {"metadata": {"name": name}, "provisioner": "disk.example.com", "volumeBindingMode": mode, **more}


def user_of(name: str, node: str = "") -> JSON:
    spec = {**template()["spec"], "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": name}}]}
    return {"metadata": {"name": f"user-of-{name}"}, "spec": {**spec, **({"nodeName": node} if node else {})}}


def phase(plane: Plane, resource: str, name: str) -> str:
    return str(plane.get(resource, name)["status"]["phase"])


def reasons(plane: Plane) -> list[str]:
    return [reason for _, reason, _ in plane.events("PersistentVolumeClaim")]


def test_the_smallest_volume_that_fits_is_bound(plane: Plane) -> None:
    for name, size in (("large", "8Gi"), ("small", "2Gi"), ("tiny", "500Mi")):
        plane.create(VOLUMES, volume(name, size))
    plane.create(VOLUMES, volume("of-a-class", "1Gi", storageClassName="fast"))
    plane.create(CLAIMS, claim("data", storageClassName=""))
    bound = plane.get(CLAIMS, "data")
    assert bound["spec"]["volumeName"] == "small"
    assert bound["metadata"]["annotations"] == {
        "pv.kubernetes.io/bind-completed": "yes",
        "pv.kubernetes.io/bound-by-controller": "yes",
    }
    assert bound["status"] == {"phase": "Bound", "accessModes": ["ReadWriteOnce"], "capacity": {"storage": "2Gi"}}
    assert plane.get(VOLUMES, "small")["spec"]["claimRef"]["uid"] == bound["metadata"]["uid"]
    assert [phase(plane, VOLUMES, name) for name in ("large", "small", "tiny")] == ["Available", "Bound", "Available"]


def test_a_claim_that_nothing_fits_waits_for_a_volume(plane: Plane) -> None:
    plane.create(CLAIMS, claim("data", storageClassName=""))
    assert phase(plane, CLAIMS, "data") == "Pending"
    assert reasons(plane) == ["FailedBinding"]
    plane.create(VOLUMES, volume("late", "1Gi", claimRef={"name": "other", "namespace": "default"}))
    assert phase(plane, CLAIMS, "data") == "Pending"
    plane.create(VOLUMES, volume("later", "1Gi"))
    assert phase(plane, CLAIMS, "data") == "Pending"
    plane.until(15)
    assert plane.get(CLAIMS, "data")["spec"]["volumeName"] == "later"


def test_a_volume_is_made_at_once(plane: Plane) -> None:
    plane.create(CLASSES, storage_class("fast", reclaimPolicy="Retain", mountOptions=["noatime"]))
    plane.create(CLAIMS, claim("data", storageClassName="fast"))
    bound = plane.get(CLAIMS, "data")
    name = f"pvc-{bound['metadata']['uid']}"
    assert bound["spec"]["volumeName"] == name
    assert bound["status"]["phase"] == "Bound"
    made = plane.get(VOLUMES, name)
    assert made["spec"]["csi"]["driver"] == "disk.example.com"
    assert made["spec"]["mountOptions"] == ["noatime"]
    assert made["status"]["phase"] == "Bound"
    assert reasons(plane) == ["ExternalProvisioning"]


def test_the_first_pod_chooses_where_the_volume_is(plane: Plane) -> None:
    node: JSON = {"metadata": {"name": "n1", "labels": {"topology.kubernetes.io/zone": "a"}}}
    plane.create("nodes", node)
    plane.create(CLASSES, storage_class("local", "WaitForFirstConsumer"))
    plane.create(CLAIMS, claim("data", storageClassName="local"))
    assert reasons(plane) == ["WaitForFirstConsumer"]

    def choose(obj: JSON) -> None:
        obj["metadata"].setdefault("annotations", {})["volume.kubernetes.io/selected-node"] = "n1"

    plane.change(CLAIMS, "data", choose)
    made = plane.get(VOLUMES, plane.get(CLAIMS, "data")["spec"]["volumeName"])
    (term,) = made["spec"]["nodeAffinity"]["required"]["nodeSelectorTerms"]
    assert term["matchExpressions"] == [{"key": "topology.kubernetes.io/zone", "operator": "In", "values": ["a"]}]
    assert phase(plane, CLAIMS, "data") == "Bound"


def test_a_scheduler_binds_a_volume_that_is_there(plane: Plane) -> None:
    """It keeps the volume for the claim; the controller does the rest."""
    plane.create(
        CLASSES, {**storage_class("local", "WaitForFirstConsumer"), "provisioner": "kubernetes.io/no-provisioner"}
    )
    plane.create(VOLUMES, volume("disk", "1Gi", storageClassName="local"))
    made = plane.create(CLAIMS, claim("data", storageClassName="local"))
    assert phase(plane, CLAIMS, "data") == "Pending"

    def keep(obj: JSON) -> None:
        metadata = made["metadata"]
        obj["spec"]["claimRef"] = {name: metadata[name] for name in ("name", "namespace", "uid")}
        obj["metadata"].setdefault("annotations", {})["pv.kubernetes.io/bound-by-controller"] = "yes"

    plane.change(VOLUMES, "disk", keep)
    assert plane.get(CLAIMS, "data")["spec"]["volumeName"] == "disk"
    assert [phase(plane, CLAIMS, "data"), phase(plane, VOLUMES, "disk")] == ["Bound", "Bound"]


def test_no_volume_is_made_without_a_provisioner(plane: Plane) -> None:
    plane.create(CLASSES, {**storage_class("none"), "provisioner": "kubernetes.io/no-provisioner"})
    plane.create(CLAIMS, claim("data", storageClassName="none"))
    plane.create(CLAIMS, claim("other", storageClassName="gone"))
    assert sorted(message for _, _, message in plane.events("PersistentVolumeClaim")) == [
        "no volume plugin matched name: kubernetes.io/no-provisioner",
        'storageclass.storage.k8s.io "gone" not found',
    ]


def test_a_claim_in_use_stays_until_its_pod_is_gone(plane: Plane) -> None:
    plane.create(CLASSES, storage_class("fast"))
    plane.create(CLAIMS, claim("data", storageClassName="fast"))
    name = plane.get(CLAIMS, "data")["spec"]["volumeName"]
    plane.create("pods", user_of("data", node="n1"))
    plane.server.delete(CLAIMS, "data")
    plane.until(10)
    assert "deletionTimestamp" in plane.get(CLAIMS, "data")["metadata"]
    plane.server.delete("pods", "user-of-data", grace_seconds=0)
    plane.until(20)
    assert not plane.server.list(CLAIMS)
    assert name
    assert not plane.server.list(VOLUMES)


def test_a_volume_that_is_to_be_kept_is_released(plane: Plane) -> None:
    plane.create(VOLUMES, volume("disk", "1Gi"))
    plane.create(CLAIMS, claim("data", storageClassName=""))
    plane.server.delete(CLAIMS, "data")
    plane.until(10)
    assert phase(plane, VOLUMES, "disk") == "Released"


def test_a_claim_whose_volume_is_gone_is_lost(plane: Plane) -> None:
    plane.create(VOLUMES, volume("disk", "1Gi"))
    plane.create(CLAIMS, claim("data", storageClassName=""))
    plane.server.delete(VOLUMES, "disk")
    plane.change(VOLUMES, "disk", lambda obj: obj["metadata"].update(finalizers=[]))
    plane.until(10)
    assert phase(plane, CLAIMS, "data") == "Lost"
    assert reasons(plane) == ["ClaimLost"]
