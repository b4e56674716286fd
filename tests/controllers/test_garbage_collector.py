"""The garbage collector and the end of namespaces in process."""

from typing import Any

import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.in_process.caller import Caller
from tests.controllers.plane import Plane, template

JSON = dict[str, Any]


@pytest.fixture
def plane() -> Plane:
    return Plane()


@pytest.fixture
def user(plane: Plane) -> Caller:
    return plane.server.controller("user")


def config(name: str, *owners: JSON, blocks: bool = False, namespace: str = "default") -> JSON:
    references = [
        {
            "apiVersion": owner["apiVersion"],
            "kind": owner["kind"],
            "name": owner["metadata"]["name"],
            "uid": owner["metadata"]["uid"],
            "blockOwnerDeletion": blocks,
        }
        for owner in owners
    ]
    return {"metadata": {"name": name, "namespace": namespace, "ownerReferences": references}}


def names(plane: Plane, namespace: str = "default") -> list[str]:
    return [each["metadata"]["name"] for each in plane.server.list("configmaps", namespace)]


def delete(plane: Plane, user: Caller, name: str, propagation: str = "") -> None:
    user.delete("configmaps", "default", name, propagation=propagation)
    plane.plane.sync()


def test_what_is_owned_goes_with_its_owner(plane: Plane, user: Caller) -> None:
    owner = plane.create("configmaps", config("owner"))
    middle = plane.create("configmaps", config("middle", owner))
    plane.create("configmaps", config("leaf", middle))
    plane.create("configmaps", config("other"))
    delete(plane, user, "owner")
    assert names(plane) == ["other"]


def test_one_of_two_owners_is_enough(plane: Plane, user: Caller) -> None:
    one, two = plane.create("configmaps", config("one")), plane.create("configmaps", config("two"))
    plane.create("configmaps", config("owned", one, two))
    delete(plane, user, "one")
    owned = plane.get("configmaps", "owned")
    assert [each["name"] for each in owned["metadata"]["ownerReferences"]] == ["two"]
    delete(plane, user, "two")
    assert names(plane) == []


def test_orphans_stay(plane: Plane, user: Caller) -> None:
    owner = plane.create("configmaps", config("owner"))
    plane.create("configmaps", config("owned", owner))
    delete(plane, user, "owner", "Orphan")
    assert names(plane) == ["owned"]
    assert "ownerReferences" not in plane.get("configmaps", "owned")["metadata"]


def test_in_the_foreground_the_owner_goes_last(plane: Plane, user: Caller) -> None:
    owner = plane.create("configmaps", config("owner"))
    held = config("held", owner, blocks=True)
    held["metadata"]["finalizers"] = ["example.com/mine"]
    plane.create("configmaps", held)
    plane.create("configmaps", config("free", owner, blocks=True))
    delete(plane, user, "owner", "Foreground")
    assert names(plane) == ["held", "owner"]
    plane.change("configmaps", "held", lambda obj: obj["metadata"].pop("finalizers"))
    assert names(plane) == []


def test_one_that_names_an_owner_that_never_was_stays(plane: Plane) -> None:
    nobody = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "nobody", "uid": "1-2-3"}}
    plane.create("configmaps", config("owned", nobody))
    plane.until(60.0)
    assert names(plane) == ["owned"]


def test_pods_go_with_their_job(plane: Plane, user: Caller) -> None:
    spec = {"template": template(), "parallelism": 2, "completions": 3}
    plane.create("jobs.batch", {"metadata": {"name": "work", "namespace": "default"}, "spec": spec})
    plane.end(plane.active()[0])
    user.delete("jobs.batch", "default", "work", propagation="Background")
    plane.plane.sync()
    plane.until(30.0)
    assert plane.pods() == []
    assert plane.plane.next_date is None


def test_a_namespace_is_emptied_and_goes(plane: Plane, user: Caller) -> None:
    plane.server.create("namespaces", {"metadata": {"name": "team"}})
    plane.create("configmaps", config("settings", namespace="team"))
    spec = {"template": template(), "parallelism": 2}
    plane.create("jobs.batch", {"metadata": {"name": "work", "namespace": "team"}, "spec": spec})
    running = plane.run(plane.pods("team")[0])
    user.delete("namespaces", "", "team")
    plane.plane.sync()
    assert plane.get("namespaces", "team")["status"]["phase"] == "Terminating"
    plane.until(6.0)
    pod = plane.get("pods", running["metadata"]["name"], "team")
    assert pod["metadata"]["deletionTimestamp"]
    assert names(plane, "team") == ["settings"]  # pods go first
    told = {each["type"]: each["status"] for each in plane.get("namespaces", "team")["status"]["conditions"]}
    assert set(told.values()) == {"False"}
    user.delete("pods", "team", running["metadata"]["name"], grace_seconds=0)  # as its kubelet does
    plane.until(40.0)
    assert plane.server.list("jobs.batch", "team") == []
    with pytest.raises(ApiError, match="not found"):
        plane.get("namespaces", "team")
    assert plane.plane.next_date is None


def test_a_namespace_says_what_holds_it(plane: Plane, user: Caller) -> None:
    plane.server.create("namespaces", {"metadata": {"name": "team"}})
    held = config("held", namespace="team")
    held["metadata"]["finalizers"] = ["example.com/mine"]
    plane.create("configmaps", held)
    user.delete("namespaces", "", "team")
    plane.plane.sync()
    plane.until(30.0)
    told = {each["type"]: each["message"] for each in plane.get("namespaces", "team")["status"]["conditions"]}
    assert told["NamespaceContentRemaining"] == "Some resources are remaining: configmaps. has 1 resource instances"
    assert told["NamespaceFinalizersRemaining"] == (
        "Some content in the namespace has finalizers remaining: example.com/mine in 1 resource instances"
    )


def test_pods_that_were_deleted_without_a_node_go(plane: Plane, user: Caller) -> None:
    pod = {"metadata": {"name": "held", "finalizers": ["example.com/mine"]}, "spec": template()["spec"]}
    plane.create("pods", pod)
    plane.until(3.0)
    user.delete("pods", "default", "held")
    plane.plane.sync()
    plane.until(19.0)
    assert plane.get("pods", "held")["status"]["phase"] == "Pending"
    plane.until(20.0)  # it looks every twenty seconds
    assert plane.get("pods", "held")["status"]["phase"] == "Failed"


def test_pods_go_whose_node_is_gone(plane: Plane, user: Caller) -> None:
    plane.create("nodes", {"metadata": {"name": "node"}})
    plane.create("pods", {"metadata": {"name": "lost"}, "spec": template()["spec"]})
    plane.run(plane.pods()[0])
    plane.until(5.0)
    user.delete("nodes", "", "node")
    plane.plane.sync()
    plane.until(79.0)
    assert [pod["metadata"]["name"] for pod in plane.pods()] == ["lost"]
    plane.until(80.0)  # seen at 20 s, gone for good 40 s later, and taken at the next look
    assert plane.pods() == []
