"""The settings of pods in jobs and profiles, and the answers to slips in them."""

from typing import Any

import pytest

from batkube.batsim.jobs import JobState, parse_job
from batkube.bridge.errors import InputError, InvariantBroken
from batkube.bridge.jobs import Job, PodRequirements


def test_the_jobs_own_fields_go_before_its_profiles() -> None:
    requirements = PodRequirements.read(
        "job 1",
        {"id": "1", "cpu": 2, "labels": {"a": "job"}},
        {"type": "delay", "delay": 3, "cpu": 1, "memory": "1Gi", "labels": {"a": "profile", "b": 5}},
    )
    assert requirements.cpu == "2"
    assert requirements.memory == "1Gi"
    assert requirements.labels == {"a": "job", "b": "5"}


FLOPS = {"type": "parallel_homogeneous", "cpu": 1e10, "com": 0}


@pytest.mark.parametrize(
    "profile",
    [
        FLOPS,
        {"type": "parallel", "cpu": [1e10, 0], "com": [0, 0, 0, 0]},
        {"type": "parallel_homogeneous_total", "cpu": 1e10, "com": 1e6},
        {"type": "ParallelTaskHomogeneousProfile", "cpu": 1e10},
        {"type": "composed", "seq": ["p"], "cpu": 4, "scheduler": "theirs", "priority": 3},
    ],
)
def test_flops_are_no_request(profile: dict[str, Any]) -> None:
    assert PodRequirements.read("job 1", {"id": "1"}, profile) == PodRequirements()


def test_a_profile_of_any_type_says_what_its_pods_ask_for_in_a_member_of_its_own() -> None:
    profile = {**FLOPS, "batkube": {"cpu": 2, "memory": "1Gi", "labels": {"a": "profile", "b": "profile"}}}
    requirements = PodRequirements.read("job 1", {"id": "1", "memory": "2Gi", "labels": {"a": "job"}}, profile)
    assert (requirements.cpu, requirements.memory, requirements.labels) == ("2", "2Gi", {"a": "job", "b": "profile"})
    mine = PodRequirements.read("job 1", {"cpu": 1, "batkube": {"cpu": 3, "storage": {"pfs": "disk"}}}, profile)
    assert (mine.cpu, mine.storage) == ("3", {"pfs": "disk"})


def test_a_storage_of_the_users_own_is_nobodys_business() -> None:
    assert PodRequirements.read("job 1", {"storage": "on tape"}, {"type": "delay", "storage": 3}).storage == {}


@pytest.mark.parametrize(("given", "canonical"), [(0.188, "188m"), ("0.5", "500m"), (4, "4"), ("2500m", "2500m")])
def test_cpu_is_a_number_or_a_quantity(given: object, canonical: str) -> None:
    assert PodRequirements.read("job 1", {"cpu": given}, {}).cpu == canonical


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
        ({"batkube": "gpu"}, "w.json: job 1: batkube is 'gpu': expected an object"),
        ({"batkube": {"cpu": "lots"}}, "w.json: job 1: cpu is 'lots'"),
    ],
)
def test_a_slip_names_file_job_and_field(job: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError) as caught:
        PodRequirements.read("w.json: job 1", job, {})
    assert str(caught.value).startswith(complaint)
    assert "\n" not in str(caught.value)


def test_a_job_only_moves_forward() -> None:
    job = Job("w0!1", parse_job({"id": "1", "subtime": 0, "res": 1, "profile": "p"}), 0, PodRequirements(), "mine")
    job.move(JobState.RUNNING)
    job.complete(JobState.COMPLETED_KILLED, -1, 3.0)
    with pytest.raises(InvariantBroken, match="job w0!1 was COMPLETED_KILLED and cannot become RUNNING"):
        job.move(JobState.RUNNING)
