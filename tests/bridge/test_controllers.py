"""Controllers that are built in, in simulations: their dates are stops, and their pods run."""

from pathlib import Path
from typing import Any

import pytest

from batkube.bridge.controller_settings import Which
from batkube.bridge.errors import RunFailed
from tests.bridge.world import JSON, World, first_fit

NO_JOBS: JSON = {"jobs": [], "profiles": {"ten": {"type": "delay", "delay": 10}}}


def template(command: str) -> JSON:
    container = {"name": "main", "image": "app", "command": ["sh", "-c", command]}
    return {"spec": {"restartPolicy": "Never", "containers": [{**container, "resources": {"requests": {"cpu": "1"}}}]}}


def job(name: str, command: str, **spec: Any) -> JSON:
    metadata = {"name": name, "namespace": "default"}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": metadata,
        "spec": {"template": template(command), **spec},
    }


def cron_job(schedule: str, command: str) -> JSON:
    spec = {"schedule": schedule, "jobTemplate": {"spec": {"template": template(command)}}}
    return {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tick", "namespace": "default"},
        "spec": spec,
    }


def world(folder: Path, *objects: JSON, workload: JSON = NO_JOBS, **options: Any) -> World:
    return World(folder, [8], workload, sharing=True, objects=objects, **{"controllers": Which.AUTO, **options})


def starts(played: World) -> list[tuple[float | None, float | None]]:
    """Return start and finish of each job of the simulation, in order of their ends."""
    return [(each.life.starting_time, each.life.finish_time) for each in played.simulation.control.ended]


def ends(played: World) -> dict[str, str]:
    """Return the last condition of each Job."""
    found = played.server.list("jobs.batch", "default")
    return {each["metadata"]["name"]: each["status"]["conditions"][-1]["type"] for each in found}


async def test_a_job_goes_on_until_it_is_complete_or_has_failed(tmp_path: Path) -> None:
    waves = job("waves", "sleep 30", completions=3, parallelism=2)
    played = world(tmp_path, waves, job("unlucky", "sleep 5; exit 1", backoffLimit=1))
    await played.run(first_fit)
    assert starts(played) == [(0, 5), (15, 20), (0, 30), (0, 30), (31, 61)]
    assert ends(played) == {"waves": "Complete", "unlucky": "Failed"}
    assert played.time.now == 62


async def test_no_controllers_make_no_pods(tmp_path: Path) -> None:
    played = world(tmp_path, job("work", "sleep 30"), controllers=Which.NONE)
    await played.run(first_fit)
    assert starts(played) == []
    assert played.simulation.warnings == ["Jobs have not ended, and nothing carries them on: default/work"]


@pytest.mark.parametrize(("which", "pods"), [(Which.AUTO, 0), (Which.BUILTIN, 1)])
async def test_they_stand_aside_where_a_controller_manager_has_called(tmp_path: Path, which: Which, pods: int) -> None:
    played = world(tmp_path, job("work", "sleep 30"), controllers=which)
    agent = "kube-controller-manager/v1.36.3 (linux/amd64) kubernetes/0123456/job-controller"
    await played.client.get("/api/v1/pods", headers={"User-Agent": agent})
    await played.run(first_fit)
    assert len(starts(played)) == pods
    assert any("stand aside" in each for each in played.simulation.warnings) == (which is Which.AUTO)


async def test_cron_jobs_begin_jobs_before_the_end_that_was_asked_for_and_not_after(tmp_path: Path) -> None:
    played = world(tmp_path, cron_job("* * * * *", "sleep 70"), until=200.0)
    await played.run(first_fit)
    assert starts(played) == [(60.1, 130.1), (120.1, 190.1), (180.1, 250.1)]


async def test_cron_jobs_begin_jobs_while_the_workload_goes_on(tmp_path: Path) -> None:
    workload = {
        "jobs": [{"id": "long", "subtime": 0, "res": 1, "profile": "p"}],
        "profiles": {"p": {"type": "delay", "delay": 150}},
    }
    played = world(tmp_path, cron_job("* * * * *", "sleep 70"), workload=workload)
    await played.run(first_fit)
    assert starts(played) == [(60.1, 130.1), (0, 150), (120.1, 190.1)]


async def test_cron_jobs_do_not_go_on_for_ever_beside_a_job_that_waits_in_vain(tmp_path: Path) -> None:
    workload = {
        "jobs": [{"id": "picky", "subtime": 0, "res": 1, "profile": "p", "nodeSelector": {"disk": "ssd"}}],
        "profiles": {"p": {"type": "delay", "delay": 150}},
    }
    played = world(tmp_path, cron_job("0 * * * *", "sleep 70"), workload=workload)

    async def schedule(now: World) -> None:
        for pod in now.waiting():
            if "nodeSelector" not in pod["spec"]:
                await now.bind(pod["metadata"]["name"], "h0", "default")

    with pytest.raises(RunFailed, match="nothing can happen any more, and 1 jobs wait"):
        await played.run(schedule)
    assert 24 * 3600 <= played.time.now < 26 * 3600


async def test_nothing_waits_for_what_only_cleans_up(tmp_path: Path) -> None:
    played = world(tmp_path, job("work", "sleep 30", ttlSecondsAfterFinished=1000))
    await played.run(first_fit)
    assert played.time.now == 31


async def test_a_pod_that_is_deleted_is_replaced_when_it_has_ended(tmp_path: Path) -> None:
    """Its finalizer holds it until its Job has counted it as failed."""
    played = world(tmp_path, job("work", "sleep 30", podReplacementPolicy="Failed"), job("bell", "sleep 10"))

    async def schedule(now: World) -> None:
        await first_fit(now)
        for pod in now.server.list("pods", "default"):
            if now.time.now == 10 and pod["metadata"]["name"].startswith("work"):
                now.server.delete("pods", pod["metadata"]["name"])

    await played.run(schedule)
    assert starts(played) == [(0, 10), (0, 10), (20, 50)]
    assert ends(played) == {"work": "Complete", "bell": "Complete"}
    assert played.server.get("jobs.batch", "work", "default")["status"]["failed"] == 1
