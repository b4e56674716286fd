"""Workloads and pod groups of scheduling.k8s.io/v1alpha2, as in kube-apiserver 1.36.3 with their feature gates on."""

from typing import Any

import httpx
import pytest

from batkube.kube.server import ApiServer

JSON = dict[str, Any]

GROUPS = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/podgroups"
WORKLOADS = "/apis/scheduling.k8s.io/v1alpha2/namespaces/default/workloads"
GANG = {"gang": {"minCount": 2}}


def client(**options: Any) -> httpx.AsyncClient:
    server = ApiServer(now=lambda: 0.0, **options)
    return httpx.AsyncClient(transport=httpx.ASGITransport(server.asgi), base_url="http://test")


async def made(asked: httpx.AsyncClient, path: str, name: str = "x", **spec: Any) -> httpx.Response:
    return await asked.post(path, json={"metadata": {"name": name}, "spec": spec})


async def test_a_pod_group_is_filled_in() -> None:
    group = (await made(client(), GROUPS, schedulingPolicy=GANG)).json()
    assert group["spec"] == {
        "podGroupTemplateRef": None,
        "schedulingPolicy": GANG,
        "disruptionMode": "Pod",
        "priority": 0,
    }
    assert group["status"] == {}
    assert "finalizers" not in group["metadata"]
    assert "generation" not in group["metadata"]


async def test_pod_groups_are_protected_where_a_gate_says_so() -> None:
    asked = client(feature_gates={"GenericWorkload": True})
    group = (await made(asked, GROUPS, schedulingPolicy=GANG)).json()
    assert group["metadata"]["finalizers"] == ["scheduling.k8s.io/podgroup-protection"]
    without = client(feature_gates={"GenericWorkload": True}, disable_admission_plugins=["PodGroupProtection"])
    assert "finalizers" not in (await made(without, GROUPS, schedulingPolicy=GANG)).json()["metadata"]


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ({}, 'spec.schedulingPolicy: Invalid value: "": must specify one of: `basic`, `gang`'),
        ({"schedulingPolicy": {**GANG, "basic": {}}}, "must specify exactly one of: `basic`, `gang`"),
        ({"schedulingPolicy": {"gang": {}}}, "spec.schedulingPolicy.gang.minCount: Required value"),
        ({"schedulingPolicy": {"gang": {"minCount": -1}}}, "Invalid value: -1: must be greater than or equal to 1"),
        (
            {"schedulingPolicy": GANG, "podGroupTemplateRef": {}},
            'spec.podGroupTemplateRef: Invalid value: "": must specify one of: `workload`',
        ),
        (
            {"schedulingPolicy": GANG, "podGroupTemplateRef": {"workload": {"workloadName": "w"}}},
            "spec.podGroupTemplateRef.workload.podGroupTemplateName: Required value",
        ),
        (
            {"schedulingPolicy": GANG, "schedulingConstraints": {"topology": [{"key": "a"}, {"key": "b"}]}},
            "spec.schedulingConstraints.topology: Too many: 2: must have at most 1 item",
        ),
        (
            {"schedulingPolicy": GANG, "disruptionMode": "Host"},
            'spec.disruptionMode: Unsupported value: "Host": supported values: "Pod", "PodGroup"',
        ),
    ],
)
async def test_a_pod_group_that_is_not_right(spec: JSON, complaint: str) -> None:
    answer = await made(client(), GROUPS, **spec)
    assert answer.status_code == 422
    assert complaint in answer.json()["message"]


@pytest.mark.parametrize(
    ("spec", "complaint"),
    [
        ({}, "spec.podGroupTemplates: Required value"),
        (
            {"podGroupTemplates": [{"name": f"t{index}", "schedulingPolicy": GANG} for index in range(9)]},
            "spec.podGroupTemplates: Too many: 9: must have at most 8 items",
        ),
        (
            {"podGroupTemplates": [{"name": "t", "schedulingPolicy": GANG}] * 2},
            "spec.podGroupTemplates[1]: Duplicate value",
        ),
        ({"podGroupTemplates": [{"schedulingPolicy": GANG}]}, "spec.podGroupTemplates[0].name: Required value"),
        (
            {"podGroupTemplates": [{"name": "t", "schedulingPolicy": GANG}], "controllerRef": {"kind": "a/b"}},
            "[spec.controllerRef.kind: Invalid value: \"a/b\": may not contain '/', "
            "spec.controllerRef.name: Required value]",
        ),
    ],
)
async def test_a_workload_that_is_not_right(spec: JSON, complaint: str) -> None:
    answer = await made(client(), WORKLOADS, **spec)
    assert answer.status_code == 422
    assert complaint in answer.json()["message"]


async def test_the_workload_that_a_pod_group_names_is_there() -> None:
    asked = client()
    template = {"name": "t", "schedulingPolicy": GANG}
    workload = {"metadata": {"name": "w", "finalizers": ["a/b"]}, "spec": {"podGroupTemplates": [template]}}
    assert (await asked.post(WORKLOADS, json=workload)).status_code == 201

    async def group(workload: str, template: str) -> httpx.Response:
        reference = {"workload": {"workloadName": workload, "podGroupTemplateName": template}}
        return await made(asked, GROUPS, schedulingPolicy=GANG, podGroupTemplateRef=reference)

    for answer, why in (
        (await group("nowhere", "t"), 'Workload "nowhere" not found'),
        (await group("w", "u"), 'PodGroupTemplate "u" not found in Workload "w"'),
    ):
        assert answer.status_code == 403
        assert answer.json()["message"].endswith(f"PodGroup rejected: {why}")
    assert (await group("w", "t")).status_code == 201
    await asked.delete(f"{WORKLOADS}/w")
    answer = await group("w", "t")
    assert (answer.status_code, answer.json()["reason"]) == (403, "Forbidden")
    assert answer.json()["message"].endswith('Workload "w" is being deleted')


async def test_the_priority_of_a_pod_group_is_that_of_its_class() -> None:
    asked = client()
    body = {"metadata": {"name": "high"}, "value": 7}
    await asked.post("/apis/scheduling.k8s.io/v1/priorityclasses", json=body)
    group = await made(asked, GROUPS, schedulingPolicy=GANG, priorityClassName="high")
    assert group.json()["spec"]["priority"] == 7
    refused = await made(asked, GROUPS, "y", schedulingPolicy=GANG, priorityClassName="none")
    assert refused.json()["message"].endswith("no PriorityClass with name none was found")
    refused = await made(asked, GROUPS, "y", schedulingPolicy=GANG, priority=5)
    assert "priority set in the pod group (5) must match the priority computed (0)" in refused.json()["message"]


async def test_a_scheduler_says_how_a_pod_group_fares() -> None:
    asked = client()
    group = (await made(asked, GROUPS, schedulingPolicy=GANG)).json()
    condition = {
        "type": "PodGroupScheduled",
        "status": "True",
        "reason": "Scheduled",
        "message": "",
        "lastTransitionTime": "2026-01-01T00:00:00Z",
    }
    merge = {"Content-Type": "application/merge-patch+json"}
    changed = await asked.patch(
        f"{GROUPS}/x", json={"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}}, headers=merge
    )
    assert changed.json()["message"].endswith("spec.schedulingPolicy: Invalid value: null: field is immutable")
    said = await asked.patch(f"{GROUPS}/x/status", json={"status": {"conditions": [condition]}}, headers=merge)
    assert said.json()["status"] == {"conditions": [condition]}
    assert said.json()["spec"] == group["spec"]
    wrong = {"status": {"conditions": [{"type": "Scheduled", "status": "Maybe"}]}}
    refused = await asked.patch(f"{GROUPS}/x/status", json=wrong, headers=merge)
    assert [cause["field"] for cause in refused.json()["details"]["causes"]] == [
        f"status.conditions[0].{field}" for field in ("status", "lastTransitionTime", "reason")
    ]


@pytest.mark.parametrize(("group", "code"), [({"podGroupName": "x"}, 201), ({"podGroupName": "X_"}, 422), ({}, 422)])
async def test_a_pod_says_its_group(group: JSON, code: int) -> None:
    spec: JSON = {"containers": [{"name": "c", "image": "i"}], "schedulingGroup": group}
    answer = await made(client(), "/api/v1/namespaces/default/pods", **spec)
    assert answer.status_code == code
    if code == 201:
        assert answer.json()["spec"]["schedulingGroup"] == group
