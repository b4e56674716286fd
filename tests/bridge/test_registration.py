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
    assert world.simulation.warnings == ["Jobs have not ended, and no controller carries them on: default/work"]


async def test_objects_come_when_the_nodes_are_there(tmp_path: Path) -> None:
    world = World(tmp_path, [4], NO_JOBS, sharing=True, objects=[JOB, pod("one", duration="5")])
    assert not world.server.list("pods")
    assert not world.server.list("jobs.batch")
    await world.run(first_fit)
    assert world.server.get("jobs.batch", "work", "default")["metadata"]["uid"]
    assert world.server.get("pods", "one", "default")["status"]["phase"] == "Succeeded"
