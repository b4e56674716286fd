"""Quiescence by metrics: only when all that was written has been taken note of, and nothing is left to do."""

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from batkube.bridge import metrics_quiescence
from batkube.bridge.metrics_quiescence import MetricsQuiescence
from batkube.clock.metrics import MetricsError, NotYet, Snapshot
from batkube.clock.verdict import Verdict
from batkube.kube.server import ApiServer

SHORT, LONG = 0.2, 120.0
"""Real seconds of patience where quiescence must not, and must, be seen."""


class Endpoint:
    """Metrics as the test sets them."""

    def __init__(self) -> None:
        self.now = Snapshot()
        self.error: Exception | None = None
        self.on_read: Callable[[], None] = lambda: None

    async def read(self) -> Snapshot:
        self.on_read()
        if self.error is not None:
            raise self.error
        return self.now

    async def close(self) -> None:
        pass

    def tell(self, **changes: Any) -> None:
        """Others are as they were; ``handled`` adds to what was handled."""
        handled = self.now.handled + Counter(changes.pop("handled", {}))
        self.now = replace(self.now, handled=handled, **changes)


class World:
    """A cluster, and a scheduler that says of itself what the test wants."""

    def __init__(self) -> None:
        self.server = ApiServer(now=lambda: 0.0)
        self.endpoint = Endpoint()
        self.requests = 0
        self.quiescence = MetricsQuiescence(self.server, self.endpoint, ("default-scheduler",))
        self.exact: bool | None = None

    async def wait(self, timeout: float, quiet_period: float = 60.0) -> Verdict:
        verdict, self.exact = await self.quiescence.wait_for_quiescence(
            lambda: self.requests, timeout=timeout, quiet_period=quiet_period
        )
        return verdict

    async def begin(self) -> None:
        """At rest for the first time."""
        assert (await self.wait(LONG, quiet_period=0.01)).idle
        assert self.exact is False

    def node(self, **status: str) -> dict[str, Any]:
        return {"metadata": {"name": "n"}, "status": {"allocatable": status}}

    def pod(self, name: str = "p", **spec: Any) -> None:
        containers = [{"name": "c", "image": "i"}]
        self.server.create("pods", {"metadata": {"name": name}, "spec": {"containers": containers, **spec}})


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(metrics_quiescence, "SETTLE", 0.01)
    return World()


async def test_nothing_written_nothing_to_do(world: World) -> None:
    await world.begin()
    assert (await world.wait(LONG)).idle
    assert world.exact


@pytest.mark.parametrize("queue", ["active", "backoff", "api_calls"])
async def test_work_in_a_queue_is_not_quiescence_however_long_the_silence(world: World, queue: str) -> None:
    await world.begin()
    world.endpoint.tell(**{queue: 1})
    verdict = await world.wait(SHORT, quiet_period=0.01)
    assert not verdict.idle
    assert "its metrics say that 1" in verdict.reason


async def test_a_pod_is_waited_for_until_it_is_put_aside(world: World) -> None:
    await world.begin()
    world.pod()
    assert "put 0 pods aside, and 1 wait" in (await world.wait(SHORT)).reason  # it is being tried, or on its way
    world.endpoint.tell(unschedulable=1, handled={"UnschedulablePodAdd": 1})
    assert (await world.wait(LONG)).idle
    assert world.exact


async def test_a_binding_is_waited_for_until_its_echo_has_arrived(world: World) -> None:
    await world.begin()
    world.server.create("nodes", world.node(cpu="1"))
    world.pod(nodeName="n")
    world.endpoint.tell(handled={"NodeAdd": 1})
    assert "0 of 1 events AssignedPodAdd" in (await world.wait(SHORT)).reason
    world.endpoint.tell(handled={"AssignedPodAdd": 1})
    assert (await world.wait(LONG)).idle
    world.server.delete("pods", "p", grace_seconds=0)
    assert "0 of 1 events AssignedPodDelete" in (await world.wait(SHORT)).reason
    world.endpoint.tell(handled={"AssignedPodDelete": 1})
    assert (await world.wait(LONG)).idle
    assert world.exact


async def test_a_node_that_changes_is_taken_note_of(world: World) -> None:
    world.server.create("nodes", world.node(cpu="1"))
    await world.begin()
    world.server.update("nodes", world.node(cpu="2"), subresource="status")
    assert "NodeUpdate" in (await world.wait(SHORT)).reason
    world.endpoint.tell(handled={"NodeUpdateNodeAllocatable": 1})
    assert (await world.wait(LONG)).idle
    world.server.delete("nodes", "n")
    assert "NodeDelete" in (await world.wait(SHORT)).reason


async def test_pods_of_others_are_not_waited_for_but_those_of_its_profiles_are(world: World) -> None:
    await world.begin()
    world.pod("a", schedulerName="other")
    assert (await world.wait(LONG)).idle
    world.endpoint.tell(profiles=frozenset(("other",)))
    assert "put 0 pods aside, and 1 wait" in (await world.wait(SHORT)).reason


async def test_a_request_or_a_change_in_between_begins_it_anew(world: World) -> None:
    await world.begin()

    def go_on_requesting() -> None:
        world.requests += 1

    world.endpoint.on_read = go_on_requesting
    assert not (await world.wait(SHORT)).idle
    world.endpoint.on_read = lambda: None
    assert (await world.wait(LONG)).idle


async def test_what_the_counts_do_not_explain_takes_the_quiet_period(world: World) -> None:
    await world.begin()
    world.endpoint.tell(goroutines=1)  # a pod that a plugin holds, say
    assert "1 pieces of work" in (await world.wait(SHORT)).reason
    assert (await world.wait(LONG, quiet_period=0.05)).idle
    assert world.exact is False


async def test_a_scheduler_that_begins_anew_is_followed(world: World) -> None:
    world.endpoint.tell(handled={"NodeAdd": 5})
    await world.begin()
    world.endpoint.now = Snapshot()
    world.server.create("nodes", world.node(cpu="1"))
    assert not (await world.wait(SHORT)).idle
    assert (await world.wait(LONG, quiet_period=0.05)).idle
    world.server.update("nodes", world.node(cpu="2"), subresource="status")
    world.endpoint.tell(handled={"NodeUpdateNodeAllocatable": 1})
    assert (await world.wait(LONG)).idle
    assert world.exact


async def test_metrics_that_cannot_be_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.endpoint.error = MetricsError("http://x answers 403")
    verdict = await world.wait(LONG)
    assert (verdict.idle, verdict.reason) == (False, "its metrics cannot be read: http://x answers 403")
    world.endpoint.error = NotYet("http://x: nobody there")
    monkeypatch.setattr(metrics_quiescence, "PATIENCE", 0.1)
    assert "nobody there" in (await world.wait(LONG)).reason


async def test_its_end_is_the_end_of_the_counting(world: World) -> None:
    world.quiescence.close()
    world.pod()
    assert world.quiescence._expected.waiting == 0
