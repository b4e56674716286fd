"""Deployments, jobs and their like: defaults, what may change, scale, evictions and budgets, over HTTP."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer

from .conftest import refused_fields

JSON = dict[str, Any]
APPS = "/apis/apps/v1/namespaces/default"
MERGE = {"Content-Type": "application/merge-patch+json"}


def template(**labels: str) -> JSON:
    return {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "job:1"}]}}


def deployment(**spec: Any) -> JSON:
    return {
        "metadata": {"name": "d"},
        "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template(a="b"), **spec},
    }


def job(**spec: Any) -> JSON:
    made = template()
    made["spec"]["restartPolicy"] = "Never"
    return {"metadata": {"name": "j"}, "spec": {"template": made, **spec}}


async def test_a_deployment_has_its_defaults(server: ApiServer) -> None:
    spec = server.create("deployments.apps", deployment())["spec"]
    assert (spec["replicas"], spec["revisionHistoryLimit"], spec["progressDeadlineSeconds"]) == (1, 10, 600)
    assert spec["strategy"]["rollingUpdate"] == {"maxUnavailable": "25%", "maxSurge": "25%"}
    assert spec["template"]["spec"]["restartPolicy"] == "Always"


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ({"selector": {"matchLabels": {"x": "y"}}}, ["spec.template.metadata.labels"]),
        ({"selector": {}}, ["spec.selector"]),
        ({"replicas": -1}, ["spec.replicas"]),
        ({"strategy": {"type": "Recreate", "rollingUpdate": {}}}, ["spec.strategy.rollingUpdate"]),
        (
            {"strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "x"}}},
            ["spec.strategy.rollingUpdate.maxUnavailable"] * 2,
        ),
        (
            {"selector": {"matchExpressions": [{"key": "a", "operator": "x"}]}, "template": {}},
            ["spec.selector.matchExpressions[0].operator", "spec.selector"],
        ),
    ],
)
async def test_a_deployment_that_could_not_work_is_refused(server: ApiServer, spec: JSON, fields: list[str]) -> None:
    with pytest.raises(ApiError) as refused:
        server.create("deployments.apps", deployment(**spec))
    assert [cause["field"] for cause in (refused.value.details or {})["causes"]] == fields


def stateful_set(**spec: Any) -> JSON:
    return {**deployment(serviceName="s", **spec), "metadata": {"name": "d"}}


def claims(*names: str, **spec: Any) -> list[JSON]:
    asked = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}, **spec}
    return [{"metadata": {"name": name}, "spec": asked} for name in names]


@pytest.mark.parametrize(
    ("storage", "obj", "fields"),
    [
        ("statefulsets.apps", stateful_set(volumeClaimTemplates=claims("data")), []),
        (
            "statefulsets.apps",
            stateful_set(volumeClaimTemplates=claims("Data")),
            ["spec.template.spec.volumes[0].name"],
        ),
        (
            "statefulsets.apps",
            stateful_set(volumeClaimTemplates=claims("data", accessModes=["x"])),
            ["spec.volumeClaimTemplates[0].spec.accessModes"],
        ),
        (
            "statefulsets.apps",
            stateful_set(updateStrategy={"type": "OnDelete", "rollingUpdate": {"partition": 1}}),
            ["spec.updateStrategy.rollingUpdate"],
        ),
        ("jobs.batch", job(completionMode="Indexed"), []),
        ("jobs.batch", job(completionMode="x"), ["spec.completionMode"]),
        ("jobs.batch", job(selector={"matchLabels": {"a": "b"}}), ["spec.selector", "spec.template.metadata.labels"]),
        (
            "jobs.batch",
            job(completionMode="Indexed", completions=100_001, parallelism=10_001, backoffLimitPerIndex=1),
            ["spec.maxFailedIndexes", "spec.parallelism"],
        ),
        (
            "jobs.batch",
            job(podFailurePolicy={"rules": []}, podReplacementPolicy="TerminatingOrFailed"),
            ["spec.podReplacementPolicy"],
        ),
        (
            "cronjobs.batch",
            {"metadata": {"name": "c"}, "spec": {"schedule": "TZ=UTC 0 * * * *", "jobTemplate": job()}},
            ["spec.schedule"],
        ),
        (
            "cronjobs.batch",
            {"metadata": {"name": "c"}, "spec": {"schedule": "@daily", "timeZone": "../x", "jobTemplate": job()}},
            ["spec.timeZone"],
        ),
        ("deployments.apps", {**deployment(), "metadata": {}}, ["metadata.name"]),
    ],
)
async def test_what_makes_pods_is_checked_with_its_template(
    server: ApiServer, storage: str, obj: JSON, fields: list[str]
) -> None:
    assert refused_fields(server, storage, obj) == fields


async def test_the_pods_of_a_job_that_runs_stay_as_they_are(server: ApiServer) -> None:
    made = server.create("jobs.batch", job(suspend=True))
    for suspended, refused in ((True, False), (False, True)):
        spec = {**made["spec"], "suspend": suspended}
        made = server.update("jobs.batch", {"metadata": {"name": "j"}, "spec": spec})
        pods = {**spec["template"]["spec"], "nodeSelector": {"zone": str(suspended)}}
        changed = {**spec, "template": {**spec["template"], "spec": pods}}
        if refused:
            with pytest.raises(ApiError, match="field is immutable"):
                server.update("jobs.batch", {"metadata": {"name": "j"}, "spec": changed})
        else:
            made = server.update("jobs.batch", {"metadata": {"name": "j"}, "spec": changed})


async def test_authors_are_warned_of_names_that_make_no_pods(client: httpx.AsyncClient) -> None:
    body = {**deployment(), "metadata": {"name": "a.b"}}
    assert "a DNS label is recommended" in (await client.post(f"{APPS}/deployments", json=body)).headers["warning"]


async def test_scale_reads_and_writes_the_replicas(server: ApiServer, client: httpx.AsyncClient) -> None:
    server.create("deployments.apps", deployment())
    path = f"{APPS}/deployments/d/scale"
    scale = (await client.get(path)).json()
    assert (scale["kind"], scale["spec"], scale["status"]) == (
        "Scale",
        {"replicas": 1},
        {"replicas": 0, "selector": "a=b"},
    )
    answer = await client.patch(path, json={"spec": {"replicas": 4}}, headers=MERGE)
    assert answer.json()["spec"] == {"replicas": 4}
    stored = server.get("deployments.apps", "d")
    assert (stored["spec"]["replicas"], stored["metadata"]["generation"]) == (4, 2)
    refused = await client.patch(path, json={"spec": {"replicas": -1}}, headers=MERGE)
    assert (refused.status_code, refused.json()["reason"]) == (422, "Invalid")


async def test_a_job_selects_its_own_pods(server: ApiServer) -> None:
    made = server.create("jobs.batch", job())
    uid = made["metadata"]["uid"]
    assert made["spec"]["selector"] == {"matchLabels": {"batch.kubernetes.io/controller-uid": uid}}
    labels = made["spec"]["template"]["metadata"]["labels"]
    assert (labels["job-name"], labels["controller-uid"]) == ("j", uid)
    assert (made["spec"]["completions"], made["spec"]["parallelism"], made["spec"]["backoffLimit"]) == (1, 1, 6)


async def test_the_template_of_a_job_changes_only_while_it_is_suspended(server: ApiServer) -> None:
    made = server.create("jobs.batch", job(suspend=True))
    made["spec"]["template"]["spec"] = {**made["spec"]["template"]["spec"], "nodeSelector": {"pool": "a"}}
    started = server.update("jobs.batch", {**made, "spec": {**made["spec"], "suspend": False}})
    moved = {**started["spec"]["template"]["spec"], "nodeSelector": {"pool": "b"}}
    wrong = {**started, "spec": {**started["spec"], "template": {**started["spec"]["template"], "spec": moved}}}
    with pytest.raises(ApiError) as refused:
        server.update("jobs.batch", wrong)
    assert [cause["field"] for cause in (refused.value.details or {})["causes"]] == ["spec.template"]


async def test_an_eviction_asks_the_budget(server: ApiServer, client: httpx.AsyncClient) -> None:
    made = server.create("pods", {"metadata": {"name": "p", "labels": {"app": "x"}}, "spec": template()["spec"]})
    await client.post(
        "/api/v1/namespaces/default/pods/p/binding", json={"metadata": {"name": "p"}, "target": {"name": "n"}}
    )
    made = server.get("pods", "p")
    running = {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}
    server.update("pods", {**made, "status": running}, subresource="status")
    selector = {"matchLabels": {"app": "x"}}
    budget = server.create("poddisruptionbudgets", {"metadata": {"name": "b"}, "spec": {"selector": selector}})
    counts = {"observedGeneration": 1, "currentHealthy": 1, "desiredHealthy": 1, "expectedPods": 1}
    path, eviction = "/api/v1/namespaces/default/pods/p/eviction", {"metadata": {"name": "p"}}

    budget = server.update("poddisruptionbudgets", {**budget, "status": {**counts, "disruptionsAllowed": 0}}, "status")
    refused = await client.post(path, json=eviction)
    assert (refused.status_code, refused.json()["details"]["causes"][0]["reason"]) == (429, "DisruptionBudget")
    assert "retry-after" not in refused.headers  # a client would sleep in real time

    server.update("poddisruptionbudgets", {**budget, "status": {**counts, "disruptionsAllowed": 1}}, "status")
    assert (await client.post(path, json=eviction)).status_code == 201
    evicted = server.get("pods", "p")
    assert evicted["metadata"]["deletionGracePeriodSeconds"] == 30
    assert evicted["status"]["conditions"][-1]["reason"] == "EvictionByEvictionAPI"
    left = server.get("poddisruptionbudgets", "b")["status"]
    assert (left["disruptionsAllowed"], list(left["disruptedPods"])) == (0, ["p"])


async def test_the_log_of_a_pod_without_a_node_is_empty(server: ApiServer, client: httpx.AsyncClient) -> None:
    server.create("pods", {"metadata": {"name": "p"}, "spec": template()["spec"]})
    answer = await client.get("/api/v1/namespaces/default/pods/p/log")
    assert (answer.status_code, answer.content) == (204, b"")
    refused = await client.get("/api/v1/namespaces/default/pods/p/log?container=zz")
    assert (refused.status_code, refused.json()["message"]) == (400, "container zz is not valid for pod p")


async def test_a_token_names_its_account_until_the_account_is_gone(
    server: ApiServer, client: httpx.AsyncClient
) -> None:
    server.create("serviceaccounts", {"metadata": {"name": "robot"}})
    asked = await client.post("/api/v1/namespaces/default/serviceaccounts/robot/token", json={"spec": {}})
    token = asked.json()["status"]["token"]
    reviews = "/apis/authentication.k8s.io/v1/tokenreviews"
    status = (await client.post(reviews, json={"spec": {"token": token}})).json()["status"]
    assert (status["authenticated"], status["user"]["username"]) == (True, "system:serviceaccount:default:robot")
    for other in (token[:-3] + "abc", "nonsense", "a.b.c"):
        assert "authenticated" not in (await client.post(reviews, json={"spec": {"token": other}})).json()["status"]
    server.delete("serviceaccounts", "robot")
    assert "authenticated" not in (await client.post(reviews, json={"spec": {"token": token}})).json()["status"]
