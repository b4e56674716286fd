"""What jobs and profiles may say of their pods, and what a slip is answered."""

from typing import Any

import pytest

from batkube.bridge.errors import InputError, InvariantBroken
from batkube.bridge.jobs import Job, JobState, PodWishes


def test_the_jobs_own_fields_go_before_its_profiles() -> None:
    wishes = PodWishes.read(
        "job 1",
        {"id": "1", "cpu": 2, "labels": {"a": "job"}},
        {"type": "delay", "delay": 3, "cpu": 1, "memory": "1Gi", "labels": {"a": "profile", "b": 5}},
    )
    assert wishes.cpu == "2"
    assert wishes.memory == "1Gi"
    assert wishes.labels == {"a": "job", "b": "5"}


@pytest.mark.parametrize(("given", "canonical"), [(0.188, "188m"), ("0.5", "500m"), (4, "4"), ("2500m", "2500m")])
def test_cpu_is_a_number_or_a_quantity(given: object, canonical: str) -> None:
    assert PodWishes.read("job 1", {"cpu": given}, {}).cpu == canonical


@pytest.mark.parametrize(
    ("job", "complaint"),
    [
        ({"cpu": "lots"}, "w.json: job 1: cpu is 'lots'"),
        ({"cpu": True}, "w.json: job 1: cpu is True"),
        ({"memory": -1}, "w.json: job 1: memory is -1: must not be negative"),
        ({"nodeSelector": "gpu"}, "w.json: job 1: nodeSelector is 'gpu'"),
        ({"priority": [1]}, "w.json: job 1: priority"),
        ({"pod": 3}, "w.json: job 1: pod is 3"),
        ({"scheduler": 7}, "w.json: job 1: scheduler is 7"),
    ],
)
def test_a_slip_names_file_job_and_field(job: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        PodWishes.read("w.json: job 1", job, {})
    assert str(caught.value).startswith(complaint)
    assert "\n" not in str(caught.value)


def test_a_job_only_moves_forward() -> None:
    job = Job("w0!1", 0, 0.0, 1, "p", None, PodWishes(), "default-scheduler")
    job.move(JobState.RUNNING)
    job.move(JobState.ENDED)
    with pytest.raises(InvariantBroken, match="job w0!1 was ended and cannot become running"):
        job.move(JobState.RUNNING)
