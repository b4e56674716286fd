"""Events go an hour of simulated time after they were last written."""

from __future__ import annotations

from typing import Any

from batkube.kube.server import ApiServer

from .conftest import Clock


def event(name: str) -> dict[str, Any]:
    about = {"kind": "Pod", "namespace": "default", "name": "p"}
    return {"metadata": {"name": name}, "involvedObject": about, "reason": "Scheduled", "type": "Normal"}


def names(server: ApiServer) -> list[str]:
    return [item["metadata"]["name"] for item in server.list("events")]


def test_old_events_go_when_new_ones_come(server: ApiServer, clock: Clock) -> None:
    server.create("events", event("a"))
    clock.seconds += 1800
    server.create("events", event("b"))
    clock.seconds += 1801
    server.create("events", event("c"))
    assert names(server) == ["b", "c"]


def test_an_event_that_is_written_again_stays(server: ApiServer, clock: Clock) -> None:
    made = server.create("events", event("a"))
    clock.seconds += 3000
    server.update("events", {**made, "count": 2})
    clock.seconds += 3000
    server.create("events", event("b"))
    assert names(server) == ["a", "b"]
    clock.seconds += 1000
    server.create("events", event("c"))
    assert names(server) == ["b", "c"]


def test_other_kinds_stay(server: ApiServer, clock: Clock) -> None:
    server.create("configmaps", {"metadata": {"name": "a"}})
    server.create("events", event("a"))
    clock.seconds += 100_000
    server.create("events", event("b"))
    assert names(server) == ["b"]
    assert [item["metadata"]["name"] for item in server.list("configmaps", "default")] == ["a"]
