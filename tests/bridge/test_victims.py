"""Possible victims of preemption differ in when they have started: else kube-scheduler takes the first of a Go map."""

from pathlib import Path

from batkube.bridge.decision_time import DecisionTime
from tests.bridge.world import World, delays, first_fit


async def test_who_writes_back_a_status_keeps_the_fraction_of_the_start(tmp_path: Path) -> None:
    """As kube-scheduler does with the condition DisruptionTarget, before it deletes a victim."""
    world = World(tmp_path, [1, 1], delays({"id": "a", "res": 2}))
    path = "/api/v1/namespaces/default/pods/w0-a-1"
    kept: list[str] = []

    async def schedule(world: World) -> None:
        await first_fit(world)
        pod = (await world.client.get(path)).json()
        if "startTime" in pod["status"] and not kept:
            before = pod["status"]["startTime"]
            whole = f"{before[:19]}Z"
            assert whole != before
            condition = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}
            for body in (
                {"status": {"conditions": [condition]}},
                {"status": {"startTime": whole}},
                {"status": {"startTime": "1970-01-01T00:01:00Z"}},
            ):
                kind = {"Content-Type": "application/strategic-merge-patch+json"}
                answer = await world.client.patch(f"{path}/status", json=body, headers=kind)
                assert answer.status_code == 200, answer.text
                kept.append(answer.json()["status"]["startTime"])
            kept.append(before)

    await world.run(schedule)
    first, second, other, before = kept
    assert first == second == before
    assert other == "1970-01-01T00:01:00Z"


async def test_a_pod_that_starts_when_the_decision_is_over_has_a_start_time_with_its_node(tmp_path: Path) -> None:
    """It may be a victim before: in the same reaction a pod of a higher priority may need its node."""
    world = World(tmp_path, [1, 1], delays({"id": "a"}, {"id": "b"}), decision_time=DecisionTime.parse("0.05"))
    seen: list[str] = []

    async def schedule(world: World) -> None:
        await first_fit(world)
        seen.extend(
            pod["status"]["startTime"] for pod in world.server.list("pods") if pod["status"]["phase"] == "Pending"
        )

    await world.run(schedule)
    assert len(seen) == len(set(seen)) == 2
