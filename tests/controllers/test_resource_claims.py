"""The resourceclaim controller's part: claims are made for pods, and free when these have ended."""

from collections.abc import Iterator
from typing import Any

import pytest

from batkube.bridge.time import SimulatedTime
from batkube.controllers.control_plane import ControlPlane
from batkube.controllers.resource_claims import CLAIMS, PROTECTION, TEMPLATES, ResourceClaimController
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer

JSON = dict[str, Any]
SPEC = {"devices": {"requests": [{"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}
NODE = {"metadata": {"name": "n"}, "status": {"capacity": {"cpu": "8", "pods": "8"}}}


class World:
    """A server, claims that are followed, and what a scheduler and a kubelet do."""

    def __init__(self) -> None:
        time = SimulatedTime(0.0)
        self.server = ApiServer(now=time.unix)
        self.server.create("nodes", NODE)
        self.warnings: list[str] = []
        self.claims = ControlPlane(self.server, time, self.warnings.append, kinds=[ResourceClaimController])
        self.claims.start()

    def template(self) -> None:
        metadata = {"labels": {"team": "a"}, "annotations": {"note": "b"}}
        self.server.create(TEMPLATES, {"metadata": {"name": "one"}, "spec": {"metadata": metadata, "spec": SPEC}})
        self.claims.sync()

    def pod(self, name: str, *claims: JSON) -> JSON:
        spec = {"containers": [{"name": "c", "image": "i"}], "resourceClaims": list(claims)}
        pod = self.server.create("pods", {"metadata": {"name": name}, "spec": spec})
        self.claims.sync()
        return self.server.get("pods", name, "default") | {"uid": pod["metadata"]["uid"]}

    def claim(self, name: str) -> JSON:
        return self.server.get(CLAIMS, name)

    def allocate(self, name: str, *pods: JSON) -> None:
        """As kube-scheduler does: finalizer, then allocation and reservation."""
        claim = self.claim(name)
        if PROTECTION not in claim["metadata"].get("finalizers", ()):
            claim = self.server.update(CLAIMS, {**claim, "metadata": {**claim["metadata"], "finalizers": [PROTECTION]}})
        result = {"request": "gpu", "driver": "d.example.com", "pool": "p", "device": "gpu-0"}
        reserved = [{"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["uid"]} for pod in pods]
        status = {"allocation": {"devices": {"results": [result]}}, "reservedFor": reserved}
        self.server.update(CLAIMS, {**claim, "status": status}, "status")
        self.claims.sync()

    def end(self, name: str, phase: str = "Succeeded") -> None:
        pod = self.server.get("pods", name)
        self.server.update("pods", {**pod, "status": {**pod["status"], "phase": phase}}, "status")
        self.claims.sync()

    def names(self) -> list[str]:
        return [claim["metadata"]["name"] for claim in self.server.list(CLAIMS)]


@pytest.fixture
def world() -> Iterator[World]:
    world = World()
    yield world
    world.claims.stop()


def test_a_pod_gets_a_claim_of_its_own(world: World) -> None:
    world.template()
    pod = world.pod("p", {"name": "gpu", "resourceClaimTemplateName": "one"})
    (name,) = world.names()
    assert name.startswith("p-gpu-")
    assert pod["status"]["resourceClaimStatuses"] == [{"name": "gpu", "resourceClaimName": name}]
    claim = world.claim(name)
    assert claim["spec"]["devices"]["requests"][0]["exactly"]["deviceClassName"] == "gpu"
    metadata = claim["metadata"]
    assert metadata["labels"] == {"team": "a"}
    assert metadata["annotations"] == {"note": "b", "resource.kubernetes.io/pod-claim-name": "gpu"}
    (owner,) = metadata["ownerReferences"]
    assert (owner["kind"], owner["name"], owner["uid"], owner["controller"]) == ("Pod", "p", pod["uid"], True)


@pytest.mark.parametrize("phase", ["Succeeded", "Failed"])
def test_it_goes_with_the_end_of_the_pod(world: World, phase: str) -> None:
    world.template()
    pod = world.pod("p", {"name": "gpu", "resourceClaimTemplateName": "one"})
    (name,) = world.names()
    world.allocate(name, pod)
    assert world.claim(name)["status"]["reservedFor"]
    world.end("p", phase)
    assert world.names() == []


@pytest.mark.parametrize("allocated", [False, True])
def test_it_goes_with_a_pod_that_is_deleted(world: World, allocated: bool) -> None:
    world.template()
    pod = world.pod("p", {"name": "gpu", "resourceClaimTemplateName": "one"})
    if allocated:
        world.allocate(world.names()[0], pod)
    world.server.delete("pods", "p", grace_seconds=0)
    world.claims.sync()
    assert world.names() == []


def test_one_that_is_shared_is_free_when_the_last_has_ended(world: World) -> None:
    world.server.create(CLAIMS, {"metadata": {"name": "shared"}, "spec": SPEC})
    pods = [world.pod(name, {"name": "gpu", "resourceClaimName": "shared"}) for name in ("a", "b")]
    world.allocate("shared", *pods)
    world.end("a")
    status = world.claim("shared")["status"]
    assert [one["name"] for one in status["reservedFor"]] == ["b"]
    assert status["allocation"]
    world.end("b")
    claim = world.claim("shared")
    assert not claim.get("status")
    assert not claim["metadata"].get("finalizers")


def test_a_reservation_for_a_pod_that_has_gone_meanwhile_is_taken_back(world: World) -> None:
    world.server.create(CLAIMS, {"metadata": {"name": "shared"}, "spec": SPEC})
    pod = world.pod("p", {"name": "gpu", "resourceClaimName": "shared"})
    world.server.delete("pods", "p", grace_seconds=0)
    world.claims.sync()
    world.allocate("shared", pod)
    assert not world.claim("shared").get("status")


def test_a_claim_that_is_deleted_goes_when_it_is_not_in_use_any_more(world: World) -> None:
    world.server.create(CLAIMS, {"metadata": {"name": "shared"}, "spec": SPEC})
    pod = world.pod("p", {"name": "gpu", "resourceClaimName": "shared"})
    world.allocate("shared", pod)
    world.server.delete(CLAIMS, "shared")
    world.claims.sync()
    assert world.claim("shared")["metadata"]["deletionTimestamp"]
    world.end("p")
    with pytest.raises(ApiError, match="not found"):
        world.claim("shared")


def test_a_template_may_come_after_the_pod(world: World) -> None:
    world.pod("p", {"name": "gpu", "resourceClaimTemplateName": "one"})
    assert world.names() == []
    assert world.warnings == ['pod p, claim gpu: resourceclaimtemplates.resource.k8s.io "one" not found']
    world.template()
    assert len(world.names()) == 1


def test_long_names_are_cut_in_proportion(world: World) -> None:
    world.template()
    world.pod("p" * 60, {"name": "g" * 30, "resourceClaimTemplateName": "one"})
    (name,) = world.names()
    assert name.startswith("p" * 37 + "-" + "g" * 18)
    assert len(name) <= 63
