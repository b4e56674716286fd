"""The proof: an unmodified kube-controller-manager does its work, and what it makes kube-scheduler places."""

from __future__ import annotations

from typing import Any

from .conftest import Cluster

JSON = dict[str, Any]


def template(app: str, **spec: Any) -> JSON:
    container = {"name": "main", "image": "nginx:1", "resources": {"requests": {"cpu": "100m"}}}
    return {"metadata": {"labels": {"app": app}}, "spec": {"containers": [container], **spec}}


def deployment(app: str, replicas: int) -> JSON:
    selector = {"matchLabels": {"app": app}}
    spec = {"replicas": replicas, "selector": selector, "template": template(app)}
    return {"metadata": {"name": app}, "spec": spec}


def owner(kind: str, api_version: str, obj: JSON) -> JSON:
    return {"apiVersion": api_version, "kind": kind, "name": obj["metadata"]["name"], "uid": obj["metadata"]["uid"]}


def test_a_deployment_becomes_bound_pods(cluster: Cluster) -> None:
    for name in ("bound-1", "bound-2"):
        cluster.node(name)

    def placed() -> list[str]:
        return [pod["spec"]["nodeName"] for pod in cluster.list("v1/pods") if pod["spec"].get("nodeName")]

    cluster.create("apps/v1/deployments", deployment("web", 4))
    cluster.wait_until("four pods are bound", lambda: len(placed()) == 4)
    assert set(placed()) <= {"bound-1", "bound-2"}

    def available() -> JSON:
        cluster.run_pods("app=web")  # again: on a node that was not heard for a while they are not ready any more
        status: JSON = cluster.get("apps/v1/deployments", "web")["status"]
        return status if status.get("availableReplicas") == 4 else {}

    status = cluster.wait_until("the deployment is available", available)
    assert (status["replicas"], status["updatedReplicas"], status["readyReplicas"]) == (4, 4, 4)
    (first,) = cluster.list("apps/v1/replicasets")
    assert first["metadata"]["ownerReferences"][0]["name"] == "web"

    # Another image is another ReplicaSet, and a wish for fewer takes pods away.
    image = [{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": "nginx:2"}]
    path = cluster.path("apps/v1/deployments", "web")
    cluster.send("PATCH", path, image, "application/json-patch+json")
    cluster.wait_until("there are two sets", lambda: len(cluster.list("apps/v1/replicasets")) == 2)
    cluster.patch(path, {"spec": {"paused": True}})
    cluster.patch(path + "/scale", {"spec": {"replicas": 0}})
    cluster.delete("apps/v1/deployments", "web", "Foreground")

    def gone() -> bool:
        cluster.end_pods()
        return cluster.gone(path)

    cluster.wait_until("the deployment is gone, after its sets", gone)

    def empty() -> bool:
        cluster.end_pods()
        return cluster.list("apps/v1/replicasets") == cluster.list("v1/pods") == []

    cluster.wait_until("nothing of it is left", empty)


def test_a_job_runs_to_its_end(cluster: Cluster) -> None:
    spec = {"completions": 3, "parallelism": 2, "completionMode": "Indexed", "backoffLimit": 1}
    cluster.create(
        "batch/v1/jobs",
        {"metadata": {"name": "sums"}, "spec": {**spec, "template": template("sums", restartPolicy="Never")}},
    )

    def succeed() -> bool:
        for pod in cluster.list("v1/pods", "job-name=sums"):
            if pod["status"]["phase"] == "Pending":
                cluster.pod_status(pod, phase="Succeeded")
        status = cluster.get("batch/v1/jobs", "sums")["status"]
        return any(one["type"] == "Complete" and one["status"] == "True" for one in status.get("conditions", ()))

    cluster.wait_until("the job is complete", succeed)
    job = cluster.get("batch/v1/jobs", "sums")
    assert (job["status"]["succeeded"], job["status"]["completedIndexes"]) == (3, "0-2")
    assert {"startTime", "completionTime"} <= set(job["status"])
    pods = cluster.list("v1/pods", "job-name=sums")
    indexes = [pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"] for pod in pods]
    assert sorted(indexes) == ["0", "1", "2"]
    assert not [pod for pod in pods if pod["metadata"].get("finalizers")]  # all are counted
    cluster.delete("batch/v1/jobs", "sums")
    cluster.wait_until("its pods are gone", lambda: not cluster.list("v1/pods", "job-name=sums"))


def test_a_job_that_fails_too_often_is_given_up(cluster: Cluster) -> None:
    spec = {"backoffLimit": 0, "template": template("fails", restartPolicy="Never")}
    cluster.create("batch/v1/jobs", {"metadata": {"name": "fails"}, "spec": spec})
    (pod,) = cluster.wait_until("its pod is there", lambda: cluster.list("v1/pods", "job-name=fails"))
    cluster.pod_status(pod, phase="Failed")

    def failure() -> JSON | None:
        conditions = cluster.get("batch/v1/jobs", "fails")["status"].get("conditions", ())
        return next((one for one in conditions if one["type"] == "Failed"), None)

    failed = cluster.wait_until("the job is given up", failure)
    assert failed is not None
    assert failed["reason"] == "BackoffLimitExceeded"


def test_what_has_lost_its_owner_is_collected_unless_it_is_to_be_an_orphan(cluster: Cluster) -> None:
    for name in ("gone", "left"):
        reference = owner("ConfigMap", "v1", cluster.create("v1/configmaps", {"metadata": {"name": name}}))
        cluster.create("v1/secrets", {"metadata": {"name": f"of-{name}", "ownerReferences": [reference]}})
    # An owner that never was.
    nobody = {"apiVersion": "v1", "kind": "ConfigMap", "name": "nobody", "uid": "3f9b7a52-6c8e-4c53-9a5f-0d2f4cc1f3ae"}
    cluster.create("v1/secrets", {"metadata": {"name": "alone", "ownerReferences": [nobody]}})
    cluster.wait_until("what nobody owns is collected", lambda: cluster.gone(cluster.path("v1/secrets", "alone")))
    # So the collector has heard of the secrets before. An owner whose dependents it does not know leaves no orphan.
    for name, propagation in (("gone", "Background"), ("left", "Orphan")):
        cluster.delete("v1/configmaps", name, propagation)
    cluster.wait_until("the dependent is collected", lambda: cluster.gone(cluster.path("v1/secrets", "of-gone")))
    cluster.wait_until("the owner is gone", lambda: cluster.gone(cluster.path("v1/configmaps", "left")))
    assert "ownerReferences" not in cluster.get("v1/secrets", "of-left")["metadata"]


def test_a_node_that_falls_silent_is_tainted_and_its_pods_leave(cluster: Cluster) -> None:
    for name in ("silent", "heard-1", "heard-2"):  # where no node is heard any more, none is given up
        cluster.node(name)
    cluster.silent.add("silent")
    spec = {"nodeName": "silent", "terminationGracePeriodSeconds": 0}
    tolerations = [
        {"key": f"node.kubernetes.io/{key}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 1}
        for key in ("not-ready", "unreachable")
    ]
    cluster.create("v1/pods", {**template("p", **spec, tolerations=tolerations), "metadata": {"name": "p"}})

    def taints() -> set[tuple[str, str]]:
        found = cluster.send("GET", "/api/v1/nodes/silent")["spec"].get("taints") or ()
        return {(taint["key"].rpartition("/")[2], taint["effect"]) for taint in found}

    cluster.wait_until(
        "the node is unreachable", lambda: {("unreachable", "NoSchedule"), ("unreachable", "NoExecute")} <= taints()
    )
    (ready,) = cluster.send("GET", "/api/v1/nodes/silent")["status"]["conditions"][:1]
    assert (ready["type"], ready["status"], ready["reason"]) == ("Ready", "Unknown", "NodeStatusUnknown")
    cluster.wait_until("its pod is marked", lambda: _leaving(cluster, "p"))

    cluster.silent.clear()
    cluster.wait_until("the node is back", lambda: not taints())


def _leaving(cluster: Cluster, name: str) -> bool:
    """Marked, or gone: seen in one answer, as it may go at any time."""
    found = (pod["metadata"] for pod in cluster.list("v1/pods") if pod["metadata"]["name"] == name)
    return all("deletionTimestamp" in metadata for metadata in found)


def test_a_budget_says_how_many_may_go(cluster: Cluster) -> None:
    cluster.create("apps/v1/replicasets", deployment("kept", 3))
    cluster.wait_until("there are three pods", lambda: len(cluster.list("v1/pods")) == 3)
    budget = {"minAvailable": 2, "selector": {"matchLabels": {"app": "kept"}}}
    cluster.create("policy/v1/poddisruptionbudgets", {"metadata": {"name": "kept"}, "spec": budget})

    def status() -> JSON:
        found: JSON = cluster.get("policy/v1/poddisruptionbudgets", "kept").get("status", {})
        return found

    cluster.wait_until("all pods are expected", lambda: status().get("expectedPods") == 3)
    assert (status()["currentHealthy"], status()["disruptionsAllowed"]) == (0, 0)
    cluster.run_pods("app=kept")
    cluster.wait_until("one may go", lambda: status().get("disruptionsAllowed") == 1)
    assert (status()["currentHealthy"], status()["desiredHealthy"]) == (3, 2)


def test_a_namespace_ends_with_all_that_is_in_it(cluster: Cluster) -> None:
    cluster.create("apps/v1/deployments", deployment("web", 2))
    cluster.create("v1/configmaps", {"metadata": {"name": "c"}})
    cluster.wait_until("there are two pods", lambda: len(cluster.list("v1/pods")) == 2)
    path = f"/api/v1/namespaces/{cluster.namespace}"
    cluster.send("DELETE", path)
    cluster.wait_until("the namespace is gone", lambda: cluster.gone(path))
    assert cluster.list("v1/pods") == []


def test_a_namespace_gets_an_account_and_the_authority(cluster: Cluster) -> None:
    cluster.wait_until("the account is there", lambda: not cluster.gone(cluster.path("v1/serviceaccounts", "default")))
    cluster.wait_until(
        "the authority is there", lambda: not cluster.gone(cluster.path("v1/configmaps", "kube-root-ca.crt"))
    )
    cluster.delete("v1/serviceaccounts", "default")
    cluster.wait_until(
        "another takes its place", lambda: not cluster.gone(cluster.path("v1/serviceaccounts", "default"))
    )
    annotation = {"kubernetes.io/service-account.name": "default"}
    cluster.create(
        "v1/secrets",
        {"metadata": {"name": "lasting", "annotations": annotation}, "type": "kubernetes.io/service-account-token"},
    )
    cluster.wait_until("the token is made", lambda: cluster.get("v1/secrets", "lasting").get("data", {}).get("token"))


def test_sets_and_services_and_quotas_are_kept(cluster: Cluster) -> None:
    selector = {"matchLabels": {"app": "db"}}
    quota = {"metadata": {"name": "small"}, "spec": {"hard": {"pods": "2", "count/secrets": "9"}}}
    cluster.create("v1/resourcequotas", quota)
    cluster.wait_until(
        "the quota is counted", lambda: cluster.get("v1/resourcequotas", "small").get("status", {}).get("used")
    )
    stateful = {"serviceName": "db", "replicas": 2, "selector": selector, "template": template("db")}
    stateful["podManagementPolicy"] = "Parallel"
    cluster.create("apps/v1/statefulsets", {"metadata": {"name": "db"}, "spec": stateful})
    cluster.wait_until("both pods are there", lambda: len(cluster.list("v1/pods")) == 2)
    assert [pod["metadata"]["name"] for pod in cluster.list("v1/pods")] == ["db-0", "db-1"]
    cluster.wait_until(
        "both are counted", lambda: cluster.get("v1/resourcequotas", "small")["status"]["used"]["pods"] == "2"
    )
    cluster.create(
        "v1/services", {"metadata": {"name": "db"}, "spec": {"selector": {"app": "db"}, "ports": [{"port": 1}]}}
    )
    cluster.node("of-db")

    def placed() -> list[JSON]:
        return [pod for pod in cluster.list("v1/pods") if pod["spec"].get("nodeName")]

    cluster.wait_until("both are bound", lambda: len(placed()) == 2)
    for index, pod in enumerate(placed()):
        cluster.pod_status(pod, podIPs=[{"ip": f"192.0.2.{index + 1}"}], podIP=f"192.0.2.{index + 1}")
    cluster.run_pods("app=db")

    def addresses() -> list[str]:
        slices = cluster.list("discovery.k8s.io/v1/endpointslices", "kubernetes.io/service-name=db")
        return sorted(address for one in slices for end in one["endpoints"] or () for address in end["addresses"])

    cluster.wait_until("the service has both addresses", lambda: addresses() == ["192.0.2.1", "192.0.2.2"])
    cluster.send("DELETE", "/api/v1/nodes/of-db")


def test_a_daemon_set_has_a_pod_on_each_node(cluster: Cluster) -> None:
    for name in ("daemon-1", "daemon-2"):
        cluster.node(name)
    agent = deployment("agent", 1)
    del agent["spec"]["replicas"]
    cluster.create("apps/v1/daemonsets", agent)

    def nodes() -> list[str]:
        pods = cluster.list("v1/pods", "app=agent")
        return sorted(pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName"))

    cluster.wait_until("there is a pod on each", lambda: nodes() == ["daemon-1", "daemon-2"])

    def ready() -> bool:
        cluster.run_pods("app=agent")
        return bool(cluster.get("apps/v1/daemonsets", "agent")["status"].get("numberReady") == 2)

    cluster.wait_until("both are counted", ready)
    assert cluster.list("apps/v1/controllerrevisions", "app=agent")[0]["revision"] == 1
    # A cordon is no reason to leave, a node without the label is.
    cluster.patch("/api/v1/nodes/daemon-1", {"spec": {"unschedulable": True}})
    choice = {"spec": {"template": {"spec": {"nodeSelector": {"kubernetes.io/hostname": "daemon-1"}}}}}
    cluster.patch(cluster.path("apps/v1/daemonsets", "agent"), choice)

    def left() -> bool:
        cluster.end_pods()
        return nodes() == ["daemon-1"]

    cluster.wait_until("one pod is left", left)


def test_a_cron_job_starts_what_is_due(cluster: Cluster) -> None:
    job = {"spec": {"template": template("nightly", restartPolicy="Never")}}
    cron = {"schedule": "0 3 * * *", "timeZone": "Europe/Paris", "jobTemplate": job, "concurrencyPolicy": "Forbid"}
    cluster.create("batch/v1/cronjobs", {"metadata": {"name": "nightly"}, "spec": {**cron, "suspend": True}})
    path = cluster.path("batch/v1/cronjobs", "nightly")
    cluster.patch(path + "/status", {"status": {"lastScheduleTime": "2026-01-01T02:00:00Z"}})
    cluster.patch(path, {"spec": {"suspend": False}})
    (started,) = cluster.wait_until("the job of last night is there", lambda: cluster.list("batch/v1/jobs"))
    assert started["metadata"]["ownerReferences"][0]["name"] == "nightly"

    def active() -> list[JSON]:
        found: list[JSON] = cluster.get("batch/v1/cronjobs", "nightly")["status"].get("active", [])
        return found

    (named,) = cluster.wait_until("it is named as active", active)
    assert named["name"] == started["metadata"]["name"]

    def ended() -> bool:
        for pod in cluster.list("v1/pods"):
            if pod["status"]["phase"] == "Pending":
                cluster.pod_status(pod, phase="Succeeded")
        return not active()

    cluster.wait_until("it has ended", ended)
    cluster.wait_until(
        "its success is noted", lambda: "lastSuccessfulTime" in cluster.get("batch/v1/cronjobs", "nightly")["status"]
    )


def test_a_job_is_cleared_away_when_its_time_is_up(cluster: Cluster) -> None:
    spec = {"ttlSecondsAfterFinished": 0, "backoffLimit": 0, "template": template("brief", restartPolicy="Never")}
    cluster.create("batch/v1/jobs", {"metadata": {"name": "brief"}, "spec": spec})
    (pod,) = cluster.wait_until("its pod is there", lambda: cluster.list("v1/pods"))
    cluster.pod_status(pod, phase="Succeeded")
    cluster.wait_until("the job is gone", lambda: cluster.gone(cluster.path("batch/v1/jobs", "brief")))
    cluster.wait_until("so is its pod", lambda: not cluster.list("v1/pods"))


def test_a_replication_controller_keeps_its_pods(cluster: Cluster) -> None:
    spec = {"replicas": 2, "selector": {"app": "old"}, "template": template("old")}
    cluster.create("v1/replicationcontrollers", {"metadata": {"name": "old"}, "spec": spec})

    def pods() -> list[str]:
        cluster.end_pods()
        return [pod["metadata"]["name"] for pod in cluster.list("v1/pods")]

    cluster.wait_until("both pods are there", lambda: len(pods()) == 2)
    first, _ = pods()
    cluster.delete("v1/pods", first)
    cluster.wait_until("another takes the place of the one that left", lambda: len(pods()) == 2 and first not in pods())
    cluster.patch(cluster.path("v1/replicationcontrollers", "old") + "/scale", {"spec": {"replicas": 0}})
    cluster.wait_until("none is left", lambda: not pods())
