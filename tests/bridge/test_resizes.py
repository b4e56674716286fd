"""Pods that are resized on their nodes, as ``kubectl patch --subresource resize`` asks for it."""

from pathlib import Path
from typing import Any

from batkube.results.metrics import complete_pod
from batkube.results.resizes import Resize, read_resizes_csv, spans
from batkube.results.usage import read_usage_csv
from tests.bridge.test_client_pods import pod, runs
from tests.bridge.world import JSON, World, delays, first_fit

GI = 2**30


async def resize(world: World, name: str, **requests: str) -> None:
    container: JSON = {"name": "job" if name.startswith("w0") else "main", "resources": {"requests": requests}}
    done = await world.client.patch(
        f"/api/v1/namespaces/default/pods/{name}/resize",
        headers={"Content-Type": "application/strategic-merge-patch+json"},
        json={"spec": {"containers": [container]}},
    )
    assert done.status_code == 200, done.text


class Asked(World):
    """A world in which pods are resized by date, and what is stored of the pods is kept."""

    def __init__(self, folder: Path, workload: JSON, *pods: JSON, wishes: dict[float, dict[str, JSON]]) -> None:
        super().__init__(folder, [4], workload, sharing=True, objects=pods)
        self.wishes = wishes
        self.seen: dict[tuple[float, str], JSON] = {}

        def keep(change: Any) -> None:
            if change.resource.storage == "pods":
                self.seen[self.time.now, change.object["metadata"]["name"]] = change.object["status"]

        self.server.subscribe(keep)

    async def play(self) -> None:
        async def schedule(world: World) -> None:
            for name, requests in self.wishes.pop(self.time.now, {}).items():
                await resize(self, name, **requests)
            await first_fit(world)

        await self.run(schedule)
        self.simulation.close()
        self.events.close()

    def conditions(self, date: float, name: str) -> dict[str, JSON]:
        return {each["type"]: each for each in self.seen[date, name]["conditions"]}

    def told(self, name: str) -> list[str]:
        """Return the reasons of the Events on a pod, in order."""
        events = [each for each in self.server.list("events") if each["involvedObject"]["name"] == name]
        return [each["reason"] for each in sorted(events, key=lambda each: str(each["metadata"]["name"]))]


def tick(*dates: int) -> list[JSON]:
    return [{"id": f"tick{date}", "subtime": date, "cpu": "100m", "profile": "none"} for date in dates]


async def test_a_pod_that_shrinks_makes_room_at_once(tmp_path: Path) -> None:
    workload = delays(*tick(5), {"id": "big", "subtime": 1, "cpu": 3, "profile": "p"}, p=10, none=1)
    world = Asked(tmp_path, workload, pod("one", cpu="3", duration="100"), wishes={5: {"one": {"cpu": "500m"}}})
    await world.play()
    assert {name: start for name, _, start, _ in runs(world)}["big"] == 5
    (status,) = world.seen[5, "one"]["containerStatuses"]
    assert status["allocatedResources"] == {"cpu": "500m"}
    assert status["resources"] == {"requests": {"cpu": "500m"}}
    assert world.told("one") == ["ResizeStarted", "ResizeCompleted"]
    assert list(read_resizes_csv(tmp_path / "resizes.csv")) == [Resize(5, "one", "h0", 0.5, 0)]
    assert [event["pod"] for event in world.logged() if event["event"] == "pod_resized"] == ["one"]
    accounts = world.simulation.accounts()
    for row in world.simulation.finished.pods():
        complete_pod(row, accounts.end)
        accounts.add_pod(row)
    timeline = accounts.timeline()
    requested = {row.time: row.cpu_requested for _, nodes in timeline.play() for row in nodes}
    assert requested == {0: 3, 5: 3.6, 6: 3.5, 15: 0.5, 100: 0}
    assert [row.pods for row in timeline.node_rows()] == [3]


async def test_a_pod_that_grows_waits_until_there_is_room(tmp_path: Path) -> None:
    workload = delays(*tick(5), {"id": "big", "cpu": 3, "profile": "p"}, p=10, none=1)
    world = Asked(tmp_path, workload, pod("one", cpu="500m", duration="100"), wishes={5: {"one": {"cpu": "2"}}})
    await world.play()
    pending = world.conditions(5, "one")["PodResizePending"]
    assert (pending["status"], pending["reason"]) == ("True", "Deferred")
    assert pending["message"].startswith("Node didn't have enough resource: cpu, requested: 2000, used: 3")
    assert world.seen[5, "one"]["containerStatuses"][0]["allocatedResources"] == {"cpu": "500m"}
    assert "PodResizePending" not in world.conditions(10, "one")
    assert world.seen[10, "one"]["containerStatuses"][0]["allocatedResources"] == {"cpu": "2"}
    assert world.told("one") == ["ResizeDeferred", "ResizeStarted", "ResizeCompleted"]
    assert [event["event"] for event in world.logged() if event["event"].startswith("pod_resize")] == [
        "pod_resize_deferred", "pod_resized",
    ]  # fmt: skip


async def test_of_those_that_wait_the_higher_priority_goes_first_and_a_new_wish_counts(tmp_path: Path) -> None:
    pods = [pod(name, cpu="1", duration="100") for name in ("one", "two")]
    pods[1]["spec"]["priorityClassName"] = "system-cluster-critical"
    workload = delays(*tick(5, 6), {"id": "big", "cpu": 2, "profile": "p"}, p=10, none=1)
    wishes: dict[float, dict[str, JSON]] = {5: {"one": {"cpu": "3"}, "two": {"cpu": "2500m"}}, 6: {"one": {"cpu": "1"}}}
    world = Asked(tmp_path, workload, *pods, wishes=wishes)
    await world.play()
    assert world.seen[10, "two"]["containerStatuses"][0]["allocatedResources"] == {"cpu": "2500m"}
    assert world.seen[6, "one"]["containerStatuses"][0]["allocatedResources"] == {"cpu": "1"}
    assert "PodResizePending" not in world.conditions(6, "one")


async def test_what_is_requested_beside_its_usage_follows(tmp_path: Path) -> None:
    pods = pod("one", cpu="3", usage="cpu=250m", duration="10"), pod("plain", cpu="500m", duration="20")
    wishes: dict[float, dict[str, JSON]] = {5: {"one": {"cpu": "1"}, "plain": {"cpu": "2"}}}
    world = Asked(tmp_path, delays(*tick(5), none=1), *pods, wishes=wishes)
    await world.play()
    rows = [(row.time, row.cpu_requested, row.cpu_used) for row in read_usage_csv(tmp_path / "usage.csv")]
    assert rows == [(0, 3.5, 0.75), (5, 3.1, 2.35), (6, 3, 2.25), (10, 2, 2), (20, 0, 0)]


def test_spans_say_what_a_pod_asks_for_from_when_to_when() -> None:
    changes = [Resize(5, "one", "h0", 2, 0), Resize(7, "one", "h0", 3, 0), Resize(50, "one", "h0", 9, 0)]
    assert [(span.since, span.until, span.cpu) for span in spans(1, 10, 1, 0, changes)] == [
        (1, 5, 1), (5, 7, 2), (7, 10, 3),
    ]  # fmt: skip
    assert [(span.since, span.until, span.cpu) for span in spans(5, None, 1, 0, changes[:1])] == [(5, None, 2)]
