"""Events: one store, two shapes."""

from __future__ import annotations

from typing import Any

import httpx

from batkube.kube.server import ApiServer

JSON = dict[str, Any]
CORE = "/api/v1/namespaces/default/events"
NEW = "/apis/events.k8s.io/v1/namespaces/default/events"
SCHEDULED: JSON = {
    "metadata": {"name": "e"},
    "eventTime": "2026-01-01T00:00:00.123456Z",
    "reportingController": "default-scheduler",
    "reportingInstance": "s-1",
    "action": "Binding",
    "reason": "Scheduled",
    "regarding": {"kind": "Pod", "namespace": "default", "name": "p"},
    "note": "done",
    "type": "Normal",
}


async def test_a_schedulers_event_in_the_old_shape(client: httpx.AsyncClient) -> None:
    assert (await client.post(NEW, json=SCHEDULED)).status_code == 201
    seen = (await client.get(f"{CORE}/e")).json()
    assert (seen["kind"], seen["apiVersion"]) == ("Event", "v1")
    assert (seen["message"], seen["reportingComponent"]) == ("done", "default-scheduler")
    assert seen["involvedObject"]["name"] == "p"
    assert not {"note", "regarding", "reportingController"} & set(seen)
    again = (await client.get(f"{NEW}/e")).json()
    assert (again["note"], again["regarding"]["name"]) == ("done", "p")


async def test_an_old_event_in_the_new_shape(client: httpx.AsyncClient) -> None:
    old = {
        "metadata": {"name": "o"},
        "involvedObject": {"namespace": "default", "name": "q"},
        "message": "it began",
        "source": {"component": "kubelet"},
        "count": 3,
        "firstTimestamp": "2026-01-01T00:00:00Z",
    }
    assert (await client.post(CORE, json=old)).status_code == 201
    seen = (await client.get(f"{NEW}/o")).json()
    assert (seen["note"], seen["deprecatedCount"], seen["deprecatedSource"]) == (
        "it began",
        3,
        {"component": "kubelet"},
    )
    assert seen["deprecatedFirstTimestamp"] == "2026-01-01T00:00:00Z"


async def test_each_shape_has_its_own_field_selectors(client: httpx.AsyncClient) -> None:
    await client.post(NEW, json=SCHEDULED)
    for path, known, unknown in ((CORE, "involvedObject.name", "regarding.name"), (NEW, "regarding.name", "source")):
        answer = await client.get(path, params={"fieldSelector": f"{known}=p"})
        assert [item["metadata"]["name"] for item in answer.json()["items"]] == ["e"]
        refused = await client.get(path, params={"fieldSelector": f"{unknown}=p"})
        assert (refused.status_code, refused.json()["message"]) == (400, f"field label not supported: {unknown}")


async def test_a_series_grows_and_nothing_else_changes(client: httpx.AsyncClient) -> None:
    await client.post(NEW, json=SCHEDULED)
    headers = {"content-type": "application/merge-patch+json"}
    series = {"series": {"count": 2, "lastObservedTime": "2026-01-01T00:00:05.000000Z"}}
    assert (await client.patch(f"{NEW}/e", json=series, headers=headers)).status_code == 200
    refused = await client.patch(f"{NEW}/e", json={"note": "other"}, headers=headers)
    assert [cause["field"] for cause in refused.json()["details"]["causes"]] == ["message"]


async def test_the_old_shape_is_checked_less(server: ApiServer, client: httpx.AsyncClient) -> None:
    loose = {"metadata": {"name": "l"}, "involvedObject": {"namespace": "default"}, "type": "Whatever"}
    assert (await client.post(CORE, json=loose)).status_code == 201
    strict = await client.post(NEW, json={**SCHEDULED, "type": "Whatever", "deprecatedCount": 1})
    assert sorted(cause["field"] for cause in strict.json()["details"]["causes"]) == ["count", "type"]
