"""kube-controller-manager's controllers of what workloads use: certificates, roles, volumes, devices."""

from __future__ import annotations

from base64 import b64decode, b64encode
from pathlib import Path
from typing import Any

from .conftest import Cluster, openssl

JSON = dict[str, Any]
SIGNING = "/apis/certificates.k8s.io/v1/certificatesigningrequests"
ROLES = "/apis/rbac.authorization.k8s.io/v1/clusterroles"


def test_a_certificate_is_signed_once_it_is_approved(cluster: Cluster, tmp_path: Path) -> None:
    request = tmp_path / "request"
    subject = ("-subj", "/O=developers/CN=ada", "-nodes", "-keyout", str(tmp_path / "key"))
    openssl("req", "-new", "-newkey", "rsa:2048", *subject, "-out", str(request))
    spec = {
        "request": b64encode(request.read_bytes()).decode(),
        "signerName": "kubernetes.io/kube-apiserver-client",
        "usages": ["client auth"],
        "expirationSeconds": 3600,
    }
    cluster.send("POST", SIGNING, {"metadata": {"name": "ada"}, "spec": spec})
    asked = cluster.send("GET", f"{SIGNING}/ada")
    assert "certificate" not in asked["status"]
    approved = {"type": "Approved", "status": "True", "reason": "ByHand", "message": "known"}
    cluster.send("PUT", f"{SIGNING}/ada/approval", {**asked, "status": {"conditions": [approved]}})
    signed = cluster.wait_until(
        "it is signed", lambda: cluster.send("GET", f"{SIGNING}/ada")["status"].get("certificate")
    )
    assert b64decode(signed).startswith(b"-----BEGIN CERTIFICATE-----")
    cluster.send("DELETE", f"{SIGNING}/ada")


def test_a_cluster_role_gathers_the_rules_of_others(cluster: Cluster) -> None:
    label = {"of": cluster.namespace}
    gathers = {"aggregationRule": {"clusterRoleSelectors": [{"matchLabels": label}]}}
    cluster.send("POST", ROLES, {"metadata": {"name": "gathers"}, **gathers})
    rule = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
    cluster.send("POST", ROLES, {"metadata": {"name": "gathered", "labels": label}, "rules": [rule]})
    cluster.wait_until("it has the rule", lambda: cluster.send("GET", f"{ROLES}/gathers").get("rules") == [rule])
    for name in ("gathers", "gathered"):
        cluster.send("DELETE", f"{ROLES}/{name}")


def test_a_claim_is_bound_to_the_smallest_volume_that_will_do(cluster: Cluster) -> None:
    volumes = "/api/v1/persistentvolumes"
    for name, size in (("tiny", "1Gi"), ("fits", "5Gi"), ("large", "50Gi")):
        spec = {"capacity": {"storage": size}, "accessModes": ["ReadWriteOnce"], "storageClassName": "by-hand"}
        spec |= {"hostPath": {"path": f"/{name}"}, "persistentVolumeReclaimPolicy": "Retain"}
        cluster.send("POST", volumes, {"metadata": {"name": name}, "spec": spec})
    resources = {"requests": {"storage": "4Gi"}}
    wants = {"accessModes": ["ReadWriteOnce"], "storageClassName": "by-hand", "resources": resources}
    cluster.create("v1/persistentvolumeclaims", {"metadata": {"name": "c"}, "spec": wants})

    def claim() -> JSON:
        return cluster.get("v1/persistentvolumeclaims", "c")

    cluster.wait_until("the claim is bound", lambda: claim()["status"]["phase"] == "Bound")
    assert claim()["spec"]["volumeName"] == "fits"
    assert "kubernetes.io/pvc-protection" in claim()["metadata"]["finalizers"]
    cluster.wait_until(
        "the volume says so", lambda: cluster.send("GET", f"{volumes}/fits")["status"]["phase"] == "Bound"
    )
    # A claim that goes leaves the volume behind, to be looked after by hand.
    cluster.delete("v1/persistentvolumeclaims", "c")
    cluster.wait_until("the claim is gone", lambda: cluster.gone(cluster.path("v1/persistentvolumeclaims", "c")))
    cluster.wait_until(
        "the volume is released", lambda: cluster.send("GET", f"{volumes}/fits")["status"]["phase"] == "Released"
    )
    for name in ("tiny", "fits", "large"):
        cluster.send("DELETE", f"{volumes}/{name}")
        cluster.wait_until("the volume is gone", lambda name=name: cluster.gone(f"{volumes}/{name}"))  # type: ignore[misc]


def test_a_pod_gets_its_devices_from_a_claim_of_its_own(cluster: Cluster) -> None:
    group = "/apis/resource.k8s.io/v1"
    cluster.node("of-devices")
    devices = [{"name": "gpu-0", "attributes": {"model": {"string": "a100"}}}]
    pool = {"name": "of-devices", "generation": 1, "resourceSliceCount": 1}
    slices = {"driver": "gpu.example.com", "nodeName": "of-devices", "pool": pool, "devices": devices}
    cluster.send("POST", f"{group}/resourceslices", {"metadata": {"name": "of-devices"}, "spec": slices})
    selector = {"cel": {"expression": "device.driver == 'gpu.example.com'"}}
    cluster.send("POST", f"{group}/deviceclasses", {"metadata": {"name": "gpu"}, "spec": {"selectors": [selector]}})
    request = {"name": "one", "exactly": {"deviceClassName": "gpu"}}
    template = {"spec": {"devices": {"requests": [request]}}}
    cluster.create("resource.k8s.io/v1/resourceclaimtemplates", {"metadata": {"name": "gpu"}, "spec": template})
    container = {"name": "main", "image": "busybox", "resources": {"claims": [{"name": "gpu"}]}}
    spec = {"containers": [container], "resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "gpu"}]}
    cluster.create("v1/pods", {"metadata": {"name": "uses"}, "spec": {**spec, "terminationGracePeriodSeconds": 0}})

    def node() -> str | None:
        found: str | None = cluster.get("v1/pods", "uses")["spec"].get("nodeName")
        return found

    assert cluster.wait_until("the pod is bound", node) == "of-devices"
    (claim,) = cluster.list("resource.k8s.io/v1/resourceclaims")
    (result,) = claim["status"]["allocation"]["devices"]["results"]
    assert (result["device"], result["pool"]) == ("gpu-0", "of-devices")
    (said,) = cluster.get("v1/pods", "uses")["status"]["resourceClaimStatuses"]
    assert said == {"name": "gpu", "resourceClaimName": claim["metadata"]["name"]}
    cluster.pod_status({"metadata": {"name": "uses"}}, phase="Succeeded")
    cluster.wait_until(
        "the claim goes when the pod has ended", lambda: not cluster.list("resource.k8s.io/v1/resourceclaims")
    )
    for path in ("resourceslices/of-devices", "deviceclasses/gpu"):
        cluster.send("DELETE", f"{group}/{path}")
