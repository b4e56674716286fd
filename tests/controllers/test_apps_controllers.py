"""The controllers of `apps` and of disruption budgets, where no recorded scenario looks."""

from typing import Any

import pytest

from batkube.controllers.templates.hash import template_hash

from .plane import Plane, conditions, template

JSON = dict[str, Any]

SETS, DEPLOYMENTS = "replicasets.apps", "deployments.apps"


def workload(kind: str, **spec: Any) -> JSON:
    """Return an object of `apps` called ``web``."""
    selector = {"matchLabels": {"app": "test"}}
    whole = {"selector": selector, "template": template(restartPolicy="Always"), **spec}
    return {"metadata": {"name": "web", "namespace": "default"}, "spec": whole}


@pytest.fixture
def plane() -> Plane:
    return Plane()


def test_a_replica_set_says_why_it_has_too_few_pods(plane: Plane) -> None:
    quota = plane.server.create("resourcequotas", {"metadata": {"name": "few"}, "spec": {"hard": {"pods": "1"}}})
    used = {"hard": {"pods": "1"}, "used": {"pods": "0"}}
    plane.server.update("resourcequotas", {**quota, "status": used}, "status")
    plane.create(SETS, workload("ReplicaSet", replicas=3))
    (told,) = plane.get(SETS, "web")["status"]["conditions"]
    assert (told["type"], told["status"], told["reason"]) == ("ReplicaFailure", "True", "FailedCreate")
    assert "exceeded quota" in told["message"]
    assert ("Warning", "FailedCreate") in [(kind, reason) for kind, reason, _ in plane.events("ReplicaSet")]
    plane.server.delete("resourcequotas", "few")
    plane.until(60)
    assert len(plane.active()) == 3
    assert "conditions" not in plane.get(SETS, "web")["status"]


def test_pods_are_adopted_and_released_by_their_labels(plane: Plane) -> None:
    plane.server.create("pods", {"metadata": {"name": "mine", "labels": {"app": "test"}}, "spec": template()["spec"]})
    plane.create(SETS, workload("ReplicaSet", replicas=2))
    owners = {pod["metadata"]["name"]: pod["metadata"].get("ownerReferences") for pod in plane.pods()}
    assert len(owners) == 2
    assert owners["mine"]
    plane.change("pods", "mine", lambda pod: pod["metadata"].update(labels={"app": "other"}))
    assert not plane.get("pods", "mine")["metadata"].get("ownerReferences")
    assert len(plane.active()) == 3


def test_a_deployment_counts_collisions_of_its_hash(plane: Plane) -> None:
    deployment = workload("Deployment", replicas=1)
    stored = plane.server.create(DEPLOYMENTS, deployment)
    name = f"web-{template_hash(stored['spec']['template'])}"
    other = workload("ReplicaSet", replicas=0)
    other["metadata"]["name"] = name
    other["spec"]["template"]["spec"]["containers"][0]["image"] = "other"
    other["metadata"]["labels"] = {"app": "elsewhere"}
    other["spec"]["selector"] = {"matchLabels": {"app": "elsewhere"}}
    other["spec"]["template"]["metadata"]["labels"] = {"app": "elsewhere"}
    plane.create(SETS, other)
    plane.until(10)
    assert plane.get(DEPLOYMENTS, "web")["status"]["collisionCount"] == 1
    made = plane.get(SETS, f"web-{template_hash(stored['spec']['template'], 1)}")
    assert made["status"]["replicas"] == 1


def test_a_complete_deployment_that_loses_pods_is_not_looked_at_for_ever(plane: Plane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=1))
    running = plane.run(plane.active()[0])
    plane.until(5)
    assert "NewReplicaSetAvailable" in [reason for _, _, reason in conditions(plane.get(DEPLOYMENTS, "web"))]
    plane.end(running, 1)
    plane.until(1000)
    assert plane.plane.next_date is None or plane.plane.next_date > 1001


def test_a_deployment_is_rolled_back_by_the_annotation_of_old_clients(plane: Plane) -> None:
    plane.create(DEPLOYMENTS, workload("Deployment", replicas=1))
    first = plane.get(DEPLOYMENTS, "web")["spec"]["template"]["spec"]["containers"][0]["image"]

    def newer(deployment: JSON) -> None:
        deployment["spec"]["template"]["spec"]["containers"][0]["image"] = "newer"

    def back(deployment: JSON) -> None:
        deployment["metadata"]["annotations"]["deprecated.deployment.rollback.to"] = "0"

    plane.change(DEPLOYMENTS, "web", newer)
    plane.change(DEPLOYMENTS, "web", back)
    plane.until(1)
    deployment = plane.get(DEPLOYMENTS, "web")
    assert deployment["spec"]["template"]["spec"]["containers"][0]["image"] == first
    assert deployment["metadata"]["annotations"] == {"deployment.kubernetes.io/revision": "3"}
    told = ("Normal", "DeploymentRollback", 'Rolled back deployment "web" to revision 1')
    assert told in plane.events("Deployment")


def test_a_stateful_set_has_claims_for_its_pods_and_gives_them_up_by_its_policy(plane: Plane) -> None:
    claim = {
        "metadata": {"name": "data"},
        "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
    }
    policy = {"whenScaled": "Delete", "whenDeleted": "Retain"}
    given = workload(
        "StatefulSet",
        replicas=2,
        serviceName="web",
        podManagementPolicy="Parallel",
        ordinals={"start": 5},
        volumeClaimTemplates=[claim],
        persistentVolumeClaimRetentionPolicy=policy,
    )
    plane.create("statefulsets.apps", given)
    assert [pod["metadata"]["name"] for pod in plane.pods()] == ["web-5", "web-6"]
    volumes = plane.get("pods", "web-6")["spec"]["volumes"]
    assert volumes == [{"name": "data", "persistentVolumeClaim": {"claimName": "data-web-6"}}]
    assert plane.get("persistentvolumeclaims", "data-web-6")["metadata"]["labels"] == {"app": "test"}
    for pod in plane.pods():
        plane.run(pod)
    plane.change("statefulsets.apps", "web", lambda found: found["spec"].update(replicas=1))
    assert [pod["metadata"]["name"] for pod in plane.active()] == ["web-5"]
    owners = plane.get("persistentvolumeclaims", "data-web-6")["metadata"]["ownerReferences"]
    assert [(owner["kind"], owner["name"]) for owner in owners] == [("Pod", "web-6")]
    assert "ownerReferences" not in plane.get("persistentvolumeclaims", "data-web-5")["metadata"]


def test_a_daemon_set_replaces_failed_pods_later_each_time(plane: Plane) -> None:
    plane.server.create("nodes", {"metadata": {"name": "node"}})
    plane.change("nodes", "node", lambda found: found["spec"].pop("taints", None))
    plane.create("daemonsets.apps", workload("DaemonSet"))
    waits = []
    for _ in range(4):
        (pod,) = plane.active()
        plane.end(plane.run(pod), 1)
        failed = plane.time.now
        while pod["metadata"]["name"] in [each["metadata"]["name"] for each in plane.pods()]:
            for each in plane.pods():
                if each["metadata"].get("deletionTimestamp"):  # the kubelet's part
                    plane.server.delete("pods", each["metadata"]["name"], grace_seconds=0)
            plane.until(plane.time.now + 1)
        waits.append(plane.time.now - failed)
    assert waits == sorted(waits)
    assert waits[-1] - waits[0] == pytest.approx(4, abs=1)
    assert "FailedDaemonPod" in [reason for _, reason, _ in plane.events("DaemonSet")]


def test_a_budget_allows_nothing_while_its_pods_cannot_be_counted(plane: Plane) -> None:
    owner = {"apiVersion": "example.com/v1", "kind": "Unknown", "name": "x", "uid": "x", "controller": True}
    metadata = {"name": "odd", "labels": {"app": "test"}, "ownerReferences": [owner]}
    plane.server.create("pods", {"metadata": metadata, "spec": template()["spec"]})
    budget = {
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {"maxUnavailable": 1, "selector": {"matchLabels": {"app": "test"}}},
    }
    made = plane.create("poddisruptionbudgets.policy", budget)
    found = plane.get("poddisruptionbudgets.policy", made["metadata"]["name"])
    assert conditions(found) == [("DisruptionAllowed", "False", "SyncFailed")]
    assert found["status"]["disruptionsAllowed"] == 0
