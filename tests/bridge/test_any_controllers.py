"""Jobs, CronJobs, users and failures at random: whatever they do, Jobs come to an end, no pod is left, and twice is
the same."""

from pathlib import Path
from random import Random
from typing import Any

import pytest

from batkube.batsim.external_events import ExternalEvent
from batkube.bridge.controller_settings import Which
from tests.bridge.world import JSON, World, first_fit, outage

NO_JOBS: JSON = {"jobs": [], "profiles": {"ten": {"type": "delay", "delay": 10}}}


def template(draw: Random) -> JSON:
    command = f"sleep {draw.randint(1, 60)}; exit {draw.choice((0, 0, 0, 1, 3))}"
    container = {"name": "main", "image": "app", "command": ["sh", "-c", command]}
    policy = draw.choice(("Never", "Never", "OnFailure"))
    return {"spec": {"restartPolicy": policy, "containers": [{**container, "resources": {"requests": {"cpu": "1"}}}]}}


def job_spec(draw: Random) -> JSON:
    """Return the spec of a Job that comes to an end by itself."""
    spec: JSON = {"template": template(draw), "parallelism": draw.randint(1, 4), "backoffLimit": draw.randint(0, 3)}
    if draw.random() < 0.8:
        spec["completions"] = draw.randint(1, 6)
        if draw.random() < 0.5:
            spec["completionMode"] = "Indexed"
            if draw.random() < 0.5 and spec["template"]["spec"]["restartPolicy"] == "Never":
                spec |= {
                    "backoffLimitPerIndex": draw.randint(0, 2),
                    "maxFailedIndexes": draw.randint(0, spec["completions"]),
                }
            if draw.random() < 0.3:
                spec["successPolicy"] = {"rules": [{"succeededCount": 1}]}
    if draw.random() < 0.3:
        spec["activeDeadlineSeconds"] = draw.randint(10, 120)
    if draw.random() < 0.3:
        spec["podReplacementPolicy"] = "Failed"
    if draw.random() < 0.3:
        spec["ttlSecondsAfterFinished"] = draw.randint(0, 60)
    return spec


def objects(draw: Random) -> list[JSON]:
    found = []
    for index in range(draw.randint(1, 5)):
        metadata = {"name": f"job{index}", "namespace": "default"}
        found.append({"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": job_spec(draw)})
    if draw.random() < 0.5:
        policy = draw.choice(("Allow", "Forbid", "Replace"))
        spec = {"schedule": "* * * * *", "concurrencyPolicy": policy, "jobTemplate": {"spec": job_spec(draw)}}
        metadata = {"name": "tick", "namespace": "default"}
        found.append({"apiVersion": "batch/v1", "kind": "CronJob", "metadata": metadata, "spec": spec})
    return found


def outages(fate: Random) -> list[ExternalEvent]:
    """Return when hosts fail; all come back."""
    events = []
    for host in (0, 1):
        date = 0.0
        for _ in range(fate.randint(0, 3)):
            date += fate.randint(1, 100)
            length = fate.choice((1, 30, 60, 400))
            events += outage(host, date, date + length)
            date += length
    return sorted(events, key=lambda event: event.timestamp)


async def play(folder: Path, seed: int) -> World:
    draw, fate = Random(seed), Random(f"machines {seed}")
    world = World(
        folder, [8, 8], NO_JOBS, sharing=True, objects=objects(draw), until=draw.randint(0, 300),
        controllers=Which.AUTO, external_events=outages(fate), grace=fate.choice((0.0, 50.0)),
    )  # fmt: skip

    def of(resource: str) -> Any:
        found = world.server.list(resource, "default")
        return draw.choice(found)["metadata"]["name"] if found else None

    async def schedule(now: World) -> None:
        await first_fit(now)
        deed = draw.random()
        if deed < 0.05 and (name := of("pods")):
            now.server.delete("pods", name)
        elif deed < 0.07 and (name := of("jobs.batch")):
            how = draw.choice(("Background", "Foreground", "Orphan"))
            now.server.controller("user").delete("jobs.batch", "default", name, propagation=how)
        elif deed < 0.09 and (name := of("jobs.batch")):
            user, suspended = now.server.controller("user"), draw.random() < 0.3
            user.modify("jobs.batch", "default", name, lambda obj: obj["spec"].update(suspend=suspended))
        elif deed < 0.11 and (name := of("jobs.batch")):
            parallelism = draw.randint(1, 5)
            user = now.server.controller("user")
            user.modify("jobs.batch", "default", name, lambda obj: obj["spec"].update(parallelism=parallelism))

    await world.run(schedule)
    return world


@pytest.mark.parametrize("seed", range(6))
async def test_all_comes_to_an_end_and_twice_is_the_same(tmp_path: Path, seed: int) -> None:
    world = await play(tmp_path / "one", seed)
    for job in world.server.list("jobs.batch"):
        states = {each["type"] for each in job["status"].get("conditions", ()) if each["status"] == "True"}
        assert states & {"Complete", "Failed", "Suspended"}, job
        assert states & {"Suspended"} or not job["status"].get("active"), job
        if states & {"Complete", "Failed"}:
            assert job["status"].get("uncountedTerminatedPods", {}) == {}, job
    for pod in world.server.list("pods"):
        assert "finalizers" not in pod["metadata"], pod
        if pod["metadata"].get("ownerReferences"):  # an orphan may be started again for ever
            assert pod["status"]["phase"] in ("Succeeded", "Failed"), pod
    other = await play(tmp_path / "other", seed)
    assert (tmp_path / "one" / "events.jsonl").read_bytes() == (tmp_path / "other" / "events.jsonl").read_bytes()
    assert world.server.list("pods") == other.server.list("pods")
