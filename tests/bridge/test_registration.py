"""Jobs (batch/v1) keep a simulation going while somebody may carry them on, and no longer."""

from pathlib import Path

from tests.bridge.test_client_pods import NO_JOBS, play, pod
from tests.bridge.world import JSON, World, first_fit

CONTAINER: JSON = {"name": "main", "image": "app", "command": ["sleep", "5"]}
JOB: JSON = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "work", "namespace": "default"},
    "spec": {
        "template": {
            "spec": {
                "restartPolicy": "Never",
                "containers": [{"name": "main", "image": "app", "command": ["sleep", "5"]}],
            }
        }
    },
}


async def test_a_job_that_nobody_carries_on_is_named_and_does_not_hang_the_simulation(tmp_path: Path) -> None:
    world = await play(tmp_path, JOB, pod("one", duration="5"))
    assert world.time.now == 5
    assert world.simulation.warnings == ["Jobs have not ended, and nothing carries them on: default/work"]


async def test_objects_come_when_the_nodes_are_there(tmp_path: Path) -> None:
    world = World(tmp_path, [4], NO_JOBS, sharing=True, objects=[JOB, pod("one", duration="5")])
    assert not world.server.list("pods")
    assert not world.server.list("jobs.batch")
    await world.run(first_fit)
    assert world.server.get("jobs.batch", "work", "default")["metadata"]["uid"]
    assert world.server.get("pods", "one", "default")["status"]["phase"] == "Succeeded"


async def test_of_two_objects_of_one_name_the_last_counts(tmp_path: Path) -> None:
    world = await play(tmp_path, pod("one", duration="5"), pod("one", duration="9"))
    assert world.time.now == 9
    assert [each["metadata"]["name"] for each in world.server.list("pods")] == ["one"]


async def test_nobody_sees_objects_before_they_come(tmp_path: Path) -> None:
    """The server of `serve` has watches from one simulation to the next: what is only checked must not be told."""
    world = World(tmp_path, [4], NO_JOBS, sharing=True)
    seen: list[str] = []
    world.server.subscribe(lambda change: seen.append(change.type), ("pods",))
    world.server.provide([{"apiVersion": "v1", "kind": "Pod", **pod("one", duration="5")}])
    assert seen == []
    await world.run(first_fit)
    assert seen[0] == "ADDED"
    assert "DELETED" not in seen
