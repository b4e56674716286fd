"""Pods as the API server makes, checks, changes and ends them; asked in process, by the rules of HTTP."""

from __future__ import annotations

from typing import Any

import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer

from .conftest import EPOCH

JSON = dict[str, Any]


@pytest.fixture
def server() -> ApiServer:
    return ApiServer(now=lambda: EPOCH, seed=7)


def pod(name: str = "p", **spec: Any) -> JSON:
    return {"metadata": {"name": name}, "spec": {"containers": [{"name": "c", "image": "job:1"}], **spec}}


def with_resources(name: str = "p", **resources: dict[str, str]) -> JSON:
    return pod(name, containers=[{"name": "c", "image": "job:1", "resources": resources}])


def causes(refused: pytest.ExceptionInfo[ApiError]) -> list[tuple[str, str]]:
    details = refused.value.details or {}
    return [(cause["reason"], cause["field"]) for cause in details.get("causes", ())]


def test_a_new_pod_has_what_schedulers_and_kubelets_count_on(server: ApiServer) -> None:
    made = server.create("pods", pod())
    spec, status = made["spec"], made["status"]
    assert made["metadata"]["generation"] == 1
    assert {key: spec[key] for key in ("schedulerName", "restartPolicy", "terminationGracePeriodSeconds")} == {
        "schedulerName": "default-scheduler",
        "restartPolicy": "Always",
        "terminationGracePeriodSeconds": 30,
    }
    assert (spec["priority"], spec["preemptionPolicy"]) == (0, "PreemptLowerPriority")
    assert [toleration["tolerationSeconds"] for toleration in spec["tolerations"]] == [300, 300]
    assert spec["containers"][0]["imagePullPolicy"] == "IfNotPresent"
    assert status == {"phase": "Pending", "qosClass": "BestEffort"}


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("job", "Always"),
        ("job:latest", "Always"),
        ("job:1", "IfNotPresent"),
        ("registry.io:5000/a/job", "Always"),
        ("job@sha256:" + "0" * 64, "IfNotPresent"),
    ],
)
def test_images_without_a_fixed_version_are_always_pulled(server: ApiServer, image: str, policy: str) -> None:
    made = server.create("pods", pod(containers=[{"name": "c", "image": image}]))
    assert made["spec"]["containers"][0]["imagePullPolicy"] == policy


@pytest.mark.parametrize(
    ("resources", "qos"),
    [
        ({}, "BestEffort"),
        ({"requests": {"cpu": "0"}}, "BestEffort"),
        ({"requests": {"cpu": "1"}}, "Burstable"),
        ({"limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"requests": {"cpu": "1000m", "memory": "1024Mi"}, "limits": {"cpu": "1", "memory": "1Gi"}}, "Guaranteed"),
        ({"requests": {"cpu": "1"}, "limits": {"cpu": "1"}}, "Burstable"),
    ],
)
def test_quality_of_service_follows_from_resources(server: ApiServer, resources: JSON, qos: str) -> None:
    assert server.create("pods", with_resources(**resources))["status"]["qosClass"] == qos


def test_requests_default_to_limits_in_canonical_form(server: ApiServer) -> None:
    made = server.create("pods", with_resources(limits={"cpu": "0.5", "memory": "1.5Gi"}))
    assert made["spec"]["containers"][0]["resources"] == {
        "limits": {"cpu": "500m", "memory": "1536Mi"},
        "requests": {"cpu": "500m", "memory": "1536Mi"},
    }


def test_a_gated_pod_says_why_it_waits_and_cannot_be_born_on_a_node(server: ApiServer) -> None:
    made = server.create("pods", pod(schedulingGates=[{"name": "example.com/quota"}]))
    (condition,) = made["status"]["conditions"]
    assert (condition["type"], condition["status"], condition["reason"]) == ("PodScheduled", "False", "SchedulingGated")
    with pytest.raises(ApiError) as refused:
        server.create("pods", pod("q", schedulingGates=[{"name": "a"}], nodeName="n1"))
    assert causes(refused) == [("FieldValueForbidden", "spec.nodeName")]


def test_priority_comes_from_the_class_and_from_nowhere_else(server: ApiServer) -> None:
    server.create("priorityclasses", {"metadata": {"name": "high"}, "value": 1000, "preemptionPolicy": "Never"})
    made = server.create("pods", pod(priorityClassName="high"))
    assert (made["spec"]["priority"], made["spec"]["preemptionPolicy"]) == (1000, "Never")
    assert (
        server.create("pods", pod("s", priorityClassName="system-node-critical"))["spec"]["priority"] == 2_000_001_000
    )
    for wrong in ({"priority": 5}, {"priorityClassName": "none"}, {"priorityClassName": "high", "priority": 5}):
        with pytest.raises(ApiError) as refused:
            server.create("pods", pod("q", **wrong))
        assert (refused.value.code, refused.value.reason) == (403, "Forbidden")


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({"containers": []}, [("FieldValueRequired", "spec.containers")]),
        (
            {"containers": [{"name": "A", "image": " x "}]},
            [("FieldValueInvalid", "spec.containers[0].name"), ("FieldValueInvalid", "spec.containers[0].image")],
        ),
        ({"restartPolicy": "Sometimes"}, [("FieldValueNotSupported", "spec.restartPolicy")]),
        ({"nodeSelector": {"bad key": "x"}}, [("FieldValueInvalid", "spec.nodeSelector")]),
        ({"tolerations": [{"operator": "Equal"}]}, [("FieldValueInvalid", "spec.tolerations[0].operator")]),
        (
            {"topologySpreadConstraints": [{"maxSkew": 0, "topologyKey": "z", "whenUnsatisfiable": "DoNotSchedule"}]},
            [("FieldValueInvalid", "spec.topologySpreadConstraints[0].maxSkew")],
        ),
        ({"resourceClaims": [{"name": "a"}]}, [("FieldValueInvalid", "spec.resourceClaims[0]")]),
        (
            {
                "containers": [
                    {"name": "c", "image": "i", "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "1"}}}
                ]
            },
            [("FieldValueInvalid", "spec.containers[0].resources.requests")],
        ),
        (
            {"containers": [{"name": "c", "image": "i", "resources": {"limits": {"a.b/gpu": "500m"}}}]},
            [
                ("FieldValueInvalid", "spec.containers[0].resources.limits[a.b/gpu]"),
                ("FieldValueInvalid", "spec.containers[0].resources.requests[a.b/gpu]"),
            ],
        ),
    ],
)
def test_what_no_cluster_takes_is_refused_with_its_field(
    server: ApiServer, spec: JSON, expected: list[tuple[str, str]]
) -> None:
    with pytest.raises(ApiError) as refused:
        server.create("pods", pod(**spec))
    assert (refused.value.code, refused.value.reason) == (422, "Invalid")
    assert causes(refused) == expected


def test_of_a_pods_spec_only_images_deadlines_tolerations_and_gates_change(server: ApiServer) -> None:
    made = server.create("pods", pod(schedulingGates=[{"name": "a"}, {"name": "b"}]))
    changed = {**made, "spec": {**made["spec"], "schedulingGates": [{"name": "b"}]}}
    changed["spec"]["containers"] = [{**made["spec"]["containers"][0], "image": "job:2"}]
    updated = server.update("pods", changed)
    assert updated["metadata"]["generation"] == 2
    for wrong in ({"nodeName": "n1"}, {"schedulerName": "other"}, {"schedulingGates": [{"name": "c"}]}):
        with pytest.raises(ApiError) as refused:
            server.update("pods", {**updated, "spec": {**updated["spec"], **wrong}})
        assert refused.value.code == 422


def test_a_gated_pods_node_selector_may_be_narrowed_but_not_changed(server: ApiServer) -> None:
    made = server.create("pods", pod(schedulingGates=[{"name": "a"}], nodeSelector={"disk": "ssd"}))
    narrowed = {**made, "spec": {**made["spec"], "nodeSelector": {"disk": "ssd", "gpu": "yes"}}}
    made = server.update("pods", narrowed)
    with pytest.raises(ApiError) as refused:
        server.update("pods", {**made, "spec": {**made["spec"], "nodeSelector": {"disk": "hdd"}}})
    assert ("FieldValueInvalid", "spec.nodeSelector") in causes(refused)


def test_a_status_write_leaves_the_spec_and_keeps_the_class_of_service(server: ApiServer) -> None:
    made = server.create("pods", pod())
    written = {**made, "spec": {**made["spec"], "nodeName": "n1"}, "status": {"phase": "Running", "podIP": "10.0.0.1"}}
    updated = server.update("pods", written, subresource="status")
    assert "nodeName" not in updated["spec"]
    assert updated["status"] == {
        "phase": "Running",
        "qosClass": "BestEffort",
        "podIP": "10.0.0.1",
        "podIPs": [{"ip": "10.0.0.1"}],
    }
    assert updated["metadata"]["generation"] == 1
    with pytest.raises(ApiError) as refused:
        server.update("pods", {**updated, "status": {"qosClass": "Guaranteed"}}, subresource="status")
    assert causes(refused) == [("FieldValueInvalid", "status.qosClass")]


def test_limit_ranges_fill_in_and_bound(server: ApiServer) -> None:
    limits = [{"type": "Container", "default": {"cpu": "1"}, "max": {"cpu": "2"}}]
    server.create("limitranges", {"metadata": {"name": "l"}, "spec": {"limits": limits}})
    made = server.create("pods", pod())
    assert made["spec"]["containers"][0]["resources"] == {"limits": {"cpu": "1"}, "requests": {"cpu": "1"}}
    with pytest.raises(ApiError, match="maximum cpu usage per Container is 2, but limit is 3"):
        server.create("pods", with_resources("q", limits={"cpu": "3"}))


def test_a_quota_is_used_up_pod_by_pod(server: ApiServer) -> None:
    quota = server.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"requests.cpu": "2"}}})
    server.create("pods", pod("before"))  # it counts once its status says so
    status = {"hard": {"requests.cpu": "2"}, "used": {"requests.cpu": "0"}}
    server.update("resourcequotas", {**quota, "status": status}, subresource="status")
    server.create("pods", with_resources("a", requests={"cpu": "1500m"}))
    assert server.get("resourcequotas", "q")["status"]["used"] == {"requests.cpu": "1500m"}
    with pytest.raises(ApiError, match=r"exceeded quota: q, requested: requests\.cpu=1, used: requests\.cpu=1500m"):
        server.create("pods", with_resources("b", requests={"cpu": "1"}))
    with pytest.raises(ApiError, match=r"must specify requests\.cpu for: c"):
        server.create("pods", pod("d"))


@pytest.mark.parametrize(
    ("system", "spec", "refused"),
    [
        ("linux", {"securityContext": {"windowsOptions": {}}}, "spec.securityContext.windowsOptions"),
        ("windows", {"securityContext": {"fsGroup": 1}}, "spec.securityContext.fsGroup"),
        ("windows", {"hostPID": True}, "spec.hostPID"),
        ("windows", {"shareProcessNamespace": False}, "spec.shareProcessNamespace"),
    ],
)
def test_what_only_another_operating_system_has(server: ApiServer, system: str, spec: JSON, refused: str) -> None:
    with pytest.raises(ApiError) as error:
        server.create("pods", pod(os={"name": system}, **spec))
    assert [cause["field"] for cause in (error.value.details or {})["causes"]] == [refused]


def test_a_false_that_was_not_there_is_a_change(server: ApiServer) -> None:
    made = server.create("pods", pod())
    container = made["spec"]["containers"][0]
    same = {**made["spec"], "containers": [{**container, "stdin": False}]}  # in Go no pointer: as if it were absent
    server.update("pods", {**made, "spec": same})
    other = {**made["spec"], "containers": [{**container, "securityContext": {"runAsNonRoot": False}}]}
    with pytest.raises(ApiError, match="pod updates may not change fields"):
        server.update("pods", {**made, "spec": other})


@pytest.mark.parametrize(
    ("source", "refused"),
    [
        ({"iscsi": {"targetPortal": "1.2.3.4", "iqn": "x", "lun": 1}}, "spec.volumes[0].iscsi.iqn"),
        ({"quobyte": {"registry": "x", "volume": "v"}}, "spec.volumes[0].quobyte.registry"),
        ({"cinder": {"volumeID": "v", "secretRef": {}}}, "spec.volumes[0].cinder.secretRef.name"),
    ],
)
def test_sources_of_volumes_are_looked_into(server: ApiServer, source: JSON, refused: str) -> None:
    with pytest.raises(ApiError) as error:
        server.create("pods", pod(volumes=[{"name": "v", **source}]))
    assert [cause["field"] for cause in (error.value.details or {})["causes"]] == [refused]
