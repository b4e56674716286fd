"""Writes of a caller who knows the rules leave what those of everybody leave: objects, versions, watch events."""

from typing import Any

import orjson
import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.in_process.trusted import PREMISES
from batkube.kube.server import ApiServer, Change
from batkube.kube.storage.store import Store

JSON = dict[str, Any]
DEADLINE = "activeDeadlineSeconds"


class Twins:
    """Two servers: what one is given in trust the other is given by the rules."""

    def __init__(self) -> None:
        self.date = 0.0
        self.trusting, self.strict = (ApiServer(now=lambda: self.date, seed=7) for _ in range(2))
        self._changes: list[list[bytes]] = [[], []]
        for server, changes in zip((self.trusting, self.strict), self._changes, strict=True):
            server.subscribe(lambda change, changes=changes: changes.append(spelt(change)))  # type: ignore[misc]

    def create(self, resource: str, obj: JSON) -> None:
        for server in (self.trusting, self.strict):
            server.create(resource, obj)

    def create_pod(self, name: str, spec: JSON, **labels: str) -> JSON:
        pod = {"metadata": {"name": name, "labels": {"job": name, **labels}, "annotations": {"of": name}}, "spec": spec}
        made = self.trusting.trusted.create_pod(pod, "default", plain=(DEADLINE,))
        assert orjson.dumps(made) == orjson.dumps(self.strict.create("pods", pod, "default"))
        return made

    def set_status(self, name: str, status: JSON) -> JSON:
        new = self.trusting.trusted.set_status("pods", name, status, "default")
        pod = {**self.strict.get("pods", name, "default"), "status": status}
        assert orjson.dumps(new) == orjson.dumps(self.strict.update("pods", pod, "status", verbatim=("startTime",)))
        return new

    def check(self) -> None:
        trusting, strict = self._changes
        assert trusting == strict
        assert self.trusting.store.revision == self.strict.store.revision


def spelt(change: Change) -> bytes:
    return orjson.dumps([change.revision, change.type, change.object, change.version.writer])


def spec(cpu: str = "1", **more: Any) -> JSON:
    container = {"name": "job", "image": "none", "resources": {"requests": {"cpu": cpu, "memory": "1e3"}}}
    return {"schedulerName": "some", "containers": [container], **more}


@pytest.fixture
def twins() -> Twins:
    return Twins()


def test_pods_of_one_form_are_the_same_however_they_are_created(twins: Twins) -> None:
    for number in range(3):
        twins.date = number * 1.5
        twins.create_pod(f"plain-{number}", spec())
        twins.create_pod(f"other-{number}", spec("500m", nodeSelector={"disk": "fast"}))
        twins.create_pod(f"late-{number}", spec(activeDeadlineSeconds=number + 1, nodeSelector={"disk": "fast"}))
    twins.check()


@pytest.mark.parametrize(
    "more",
    [
        {"schedulingGates": [{"name": "example.com/gate"}]},
        {"topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule",
             "labelSelector": {"matchLabels": {"a": "b"}}, "matchLabelKeys": ["job"]}
        ]},
        {"tolerations": [{"operator": "Exists"}]},
        {"terminationGracePeriodSeconds": 7},
    ],
)  # fmt: skip
def test_what_hangs_on_more_than_the_form_is_not_taken_over(twins: Twins, more: JSON) -> None:
    for number in range(3):
        twins.date = number * 1.5
        twins.create_pod(f"p-{number}", spec(**more))
    twins.check()


def test_what_the_rules_look_at_may_change(twins: Twins) -> None:
    twins.create_pod("before", spec())
    twins.create("priorityclasses.scheduling.k8s.io", {"metadata": {"name": "c"}, "value": 7, "globalDefault": True})
    assert twins.create_pod("urgent", spec())["spec"]["priority"] == 7
    limits = [{"type": "Container", "default": {"cpu": "3"}}]
    twins.create("limitranges", {"metadata": {"name": "l"}, "spec": {"limits": limits}})
    for name in ("limited", "limited-too"):
        limited = twins.create_pod(name, spec())
        assert limited["spec"]["containers"][0]["resources"]["limits"] == {"cpu": "3"}
    twins.check()


def test_quotas_are_charged_for_each_pod(twins: Twins) -> None:
    twins.create_pod("before", spec())
    twins.create("resourcequotas", {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "2"}}})
    for server in (twins.trusting, twins.strict):
        server.update(
            "resourcequotas",
            {**server.get("resourcequotas", "q", "default"), "status": {"hard": {"pods": "2"}, "used": {"pods": "0"}}},
            "status",
        )
    twins.create_pod("one", spec())
    twins.create_pod("two", spec())
    with pytest.raises(ApiError, match="exceeded quota"):
        twins.create_pod("three", spec())


def test_a_name_is_taken_once_and_its_next_object_is_another_one(twins: Twins) -> None:
    first = twins.create_pod("p", spec())
    with pytest.raises(ApiError, match="already exists"):
        twins.create_pod("p", spec())
    for server in (twins.trusting, twins.strict):
        server.delete("pods", "p", "default", grace_seconds=0)
    assert twins.create_pod("p", spec())["metadata"]["uid"] != first["metadata"]["uid"]
    twins.check()


def test_new_pods_hang_on_nothing_but_the_premises(twins: Twins, monkeypatch: pytest.MonkeyPatch) -> None:
    read: set[str] = set()
    for name in ("get", "list"):
        method = getattr(Store, name)

        def noted(store: Store, kind: str, *key: str, method: Any = method) -> Any:
            read.add(kind)
            return method(store, kind, *key)

        monkeypatch.setattr(Store, name, noted)
    gpu = {"resources": {"requests": {"nvidia.com/gpu": "1"}, "limits": {"nvidia.com/gpu": "1"}}}
    containers = [{**spec()["containers"][0], **gpu}]
    twins.strict.create("pods", {"metadata": {"name": "p"}, "spec": {**spec(), "containers": containers}}, "default")
    assert read <= set(PREMISES)


def test_a_status_is_stored_as_by_a_client(twins: Twins) -> None:
    twins.create_pod("p", spec())
    since = "2026-01-01T00:00:00.000000001Z"
    twins.set_status("p", {"phase": "Running", "qosClass": "Burstable", "startTime": since})
    again = twins.set_status("p", {"phase": "Running", "qosClass": "Burstable", "startTime": since})
    assert again["metadata"]["resourceVersion"] == str(twins.trusting.store.revision)
    twins.check()


def test_a_pod_that_is_going_or_has_field_managers_is_written_by_the_rules(twins: Twins) -> None:
    status = {"phase": "Running", "qosClass": "Burstable", "startTime": "2026-01-01T00:00:00.000000001Z"}
    for server in (twins.trusting, twins.strict):
        server.create("nodes", {"metadata": {"name": "n"}})
    twins.create_pod("p", {**spec(), "nodeName": "n"})
    for server in (twins.trusting, twins.strict):
        server.delete("pods", "p", "default")
    assert twins.set_status("p", status)["metadata"]["deletionTimestamp"]
    twins.check()
