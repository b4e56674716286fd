"""The Job controller in process, at the dates and in the words of kube-controller-manager's."""

from typing import Any

import pytest

from tests.controllers.plane import Plane, conditions, template

JSON = dict[str, Any]
INDEX = "batch.kubernetes.io/job-completion-index"
COMPLETE = [("SuccessCriteriaMet", "True", "CompletionsReached"), ("Complete", "True", "CompletionsReached")]


def job(**spec: Any) -> JSON:
    return {"metadata": {"name": "work", "namespace": "default"}, "spec": {"template": template(), **spec}}


def failed(reason: str) -> list[tuple[str, str, str]]:
    return [("FailureTarget", "True", reason), ("Failed", "True", reason)]


@pytest.fixture
def plane() -> Plane:
    return Plane()


def work(plane: Plane) -> JSON:
    return plane.get("jobs.batch", "work")


def indexes(plane: Plane) -> list[str]:
    return [pod["metadata"]["annotations"][INDEX] for pod in plane.active()]


def test_pods_come_at_once_and_in_waves(plane: Plane) -> None:
    plane.create("jobs.batch", job(completions=3, parallelism=2))
    first, second = plane.active()
    assert first["metadata"]["finalizers"] == ["batch.kubernetes.io/job-tracking"]
    assert first["metadata"]["ownerReferences"][0]["name"] == "work"
    assert work(plane)["status"]["active"] == 2
    plane.until(10.0)
    plane.end(first)
    plane.end(second)
    plane.until(10.9)
    assert plane.active() == []
    plane.until(11.0)  # what happens within a second is one look
    (third,) = plane.active()
    plane.until(20.0)
    plane.end(third)
    plane.until(60.0)
    status = work(plane)["status"]
    assert conditions(work(plane)) == COMPLETE
    assert (status["succeeded"], status["completionTime"]) == (3, "2020-01-01T00:00:21Z")
    assert all("finalizers" not in pod["metadata"] for pod in plane.pods())
    assert [reason for _, reason, _ in plane.events("Job")] == ["SuccessfulCreate"] * 3 + ["Completed"]
    assert plane.plane.next_date is None


def test_after_a_failure_it_waits_ten_seconds_then_twenty_and_gives_up(plane: Plane) -> None:
    plane.create("jobs.batch", job(backoffLimit=2))
    made = []
    for _ in range(3):
        made.append(plane.time.now)
        (pod,) = plane.active()
        plane.until(plane.time.now + 5)
        plane.end(pod, 1)
        ended = plane.time.now
        while not plane.active() and plane.plane.next_date is not None:
            plane.until(plane.plane.next_date)
        if plane.active():
            assert plane.time.now - ended in (10.0, 20.0)
    assert made == [0.0, 15.0, 40.0]
    assert conditions(work(plane)) == failed("BackoffLimitExceeded")
    assert work(plane)["status"]["failed"] == 3
    assert plane.events("Job")[-1] == (
        "Warning", "BackoffLimitExceeded", "Job has reached the specified backoff limit"
    )  # fmt: skip


def test_each_index_gets_its_pod(plane: Plane) -> None:
    plane.create("jobs.batch", job(completions=4, parallelism=3, completionMode="Indexed"))
    assert indexes(plane) == ["0", "1", "2"]
    pod = plane.active()[0]
    assert pod["metadata"]["name"].startswith("work-0-")
    assert pod["metadata"]["labels"][INDEX] == "0"
    assert pod["spec"]["hostname"] == "work-0"
    assert pod["spec"]["containers"][0]["env"][0]["name"] == "JOB_COMPLETION_INDEX"
    plane.end(plane.active()[1])
    plane.until(1.0)
    assert indexes(plane) == ["0", "2", "3"]
    assert work(plane)["status"]["completedIndexes"] == "1"
    for pod in plane.active():
        plane.end(pod)
    plane.until(5.0)
    assert work(plane)["status"]["completedIndexes"] == "0-3"
    assert conditions(work(plane)) == COMPLETE


def test_indexes_fail_by_themselves(plane: Plane) -> None:
    spec = {"completions": 3, "parallelism": 3, "completionMode": "Indexed", "backoffLimitPerIndex": 1}
    plane.create("jobs.batch", job(**spec, maxFailedIndexes=2))
    by_index = dict(zip(indexes(plane), plane.active(), strict=True))
    plane.end(by_index["0"])
    plane.end(by_index["2"])
    plane.end(by_index["1"], 1)
    plane.until(10.0)
    (again,) = plane.active()
    assert again["metadata"]["annotations"]["batch.kubernetes.io/job-index-failure-count"] == "1"
    plane.end(again, 1)
    plane.until(20.0)
    status = work(plane)["status"]
    assert (status["completedIndexes"], status["failedIndexes"]) == ("0,2", "1")
    assert conditions(work(plane)) == failed("FailedIndexes")


def test_a_policy_ignores_counts_or_fails(plane: Plane) -> None:
    rules = [
        {"action": "Ignore", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [42]}},
    ]
    plane.create("jobs.batch", job(backoffLimit=0, podFailurePolicy={"rules": rules}))
    (pod,) = plane.active()
    plane.end(pod, 1, conditions=[{"type": "DisruptionTarget", "status": "True", "reason": "Test"}])
    plane.until(15.0)
    (pod,) = plane.active()
    assert "failed" not in work(plane)["status"]
    plane.end(pod, 42)
    plane.until(30.0)
    assert conditions(work(plane)) == failed("PodFailurePolicy")
    name = pod["metadata"]["name"]
    message = f"Container main for pod default/{name} failed with exit code 42 matching FailJob rule at index 1"
    assert plane.events("Job")[-1] == ("Warning", "PodFailurePolicy", message)


def test_a_success_policy_ends_what_still_runs(plane: Plane) -> None:
    policy = {"rules": [{"succeededIndexes": "0"}]}
    plane.create("jobs.batch", job(completions=2, parallelism=2, completionMode="Indexed", successPolicy=policy))
    leader, _ = plane.active()
    plane.end(leader)
    plane.until(5.0)
    assert conditions(work(plane)) == [
        ("SuccessCriteriaMet", "True", "SuccessPolicy"), ("Complete", "True", "SuccessPolicy")
    ]  # fmt: skip
    assert plane.active() == []


def test_it_may_not_be_active_for_longer_than_it_says(plane: Plane) -> None:
    plane.create("jobs.batch", job(activeDeadlineSeconds=30))
    assert plane.plane.awaited_date is not None
    plane.until(29.0)
    assert len(plane.active()) == 1
    plane.until(35.0)
    assert plane.active() == []
    assert conditions(work(plane)) == failed("DeadlineExceeded")


def test_nobody_waits_for_the_deadline_of_a_job_that_is_done(plane: Plane) -> None:
    plane.create("jobs.batch", job(activeDeadlineSeconds=3000))
    plane.end(plane.active()[0])
    plane.until(10.0)
    assert conditions(work(plane)) == COMPLETE
    assert plane.plane.next_date is None


def test_suspended_and_resumed(plane: Plane) -> None:
    plane.create("jobs.batch", job(suspend=True))
    assert plane.active() == []
    assert conditions(work(plane)) == [("Suspended", "True", "JobSuspended")]
    plane.until(100.0)
    plane.change("jobs.batch", "work", lambda obj: obj["spec"].update(suspend=False))
    assert len(plane.active()) == 1
    assert work(plane)["status"]["startTime"] == "2020-01-01T00:01:40Z"
    plane.until(200.0)
    plane.change("jobs.batch", "work", lambda obj: obj["spec"].update(suspend=True))
    assert plane.pods() == []
    assert "startTime" not in work(plane)["status"]
    words = [reason for _, reason, _ in plane.events("Job")]
    assert words == ["Suspended", "SuccessfulCreate", "Resumed", "SuccessfulDelete"]  # the first counts twice by now


def test_more_and_less_parallelism(plane: Plane) -> None:
    plane.create("jobs.batch", job(completions=10, parallelism=3))
    running = plane.run(plane.active()[1])
    plane.change("jobs.batch", "work", lambda obj: obj["spec"].update(parallelism=1))
    assert [pod["metadata"]["name"] for pod in plane.active()] == [running["metadata"]["name"]]
    plane.change("jobs.batch", "work", lambda obj: obj["spec"].update(parallelism=4))
    plane.until(5.0)
    assert len(plane.active()) == 4


def test_one_of_another_manager_is_left_alone(plane: Plane) -> None:
    plane.create("jobs.batch", job(managedBy="example.com/mine"))
    plane.until(5.0)
    assert plane.pods() == []


def test_it_adopts_a_pod_that_fits_its_selector(plane: Plane) -> None:
    orphan = {"metadata": {"name": "orphan", "labels": {"app": "test"}}, "spec": template()["spec"]}
    plane.server.create("pods", orphan)
    spec = job(manualSelector=True, selector={"matchLabels": {"app": "test"}})
    plane.create("jobs.batch", spec)
    (pod,) = plane.pods()
    assert pod["metadata"]["ownerReferences"][0]["kind"] == "Job"
    assert pod["metadata"]["finalizers"] == ["batch.kubernetes.io/job-tracking"]


def test_pods_that_are_refused_are_tried_again(plane: Plane) -> None:
    quota = {"metadata": {"name": "none"}, "spec": {"hard": {"pods": "0"}}}
    made = plane.server.create("resourcequotas", quota)
    plane.server.update("resourcequotas", {**made, "status": {"hard": {"pods": "0"}, "used": {"pods": "0"}}}, "status")
    plane.create("jobs.batch", job())
    assert plane.pods() == []
    kind, reason, message = plane.events("Job")[0]
    assert (kind, reason) == ("Warning", "FailedCreate")
    assert message.startswith("Error creating: pods ")
    plane.until(1000.0)
    assert plane.plane.awaited_date is None  # nobody waits for ever
    plane.server.delete("resourcequotas", "none")
    plane.until(1060.0)
    assert len(plane.active()) == 1


def test_many_pods_make_few_events(plane: Plane) -> None:
    """Ten messages of one reason are combined, and 25 Events in all are written: client-go's correlator."""
    plane.create("jobs.batch", job(completions=40, parallelism=40))
    found = plane.server.list("events")
    assert len(plane.active()) == 40
    assert sum(each["count"] for each in found) == 25
    assert any(each["message"].startswith("(combined from similar events): Created pod: ") for each in found)
