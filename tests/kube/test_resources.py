"""The table of resources: what is served, under which names, in which version it is stored."""

from __future__ import annotations

import pytest

from batkube.kube.codec.empty_objects import empty_fields
from batkube.kube.schema.resources import Registry, ResourceType, UnknownResource, default_registry, version_order


@pytest.fixture
def registry() -> Registry:
    return default_registry()


def found(registry: Registry, group: str, version: str, plural: str) -> ResourceType:
    resource = registry.lookup(group, version, plural)
    assert resource is not None
    return resource


def custom(group: str, plural: str, version: str = "v1") -> ResourceType:
    return ResourceType(
        group=group,
        version=version,
        plural=plural,
        singular=plural[:-1],
        kind=plural[:-1].title(),
        namespaced=True,
        verbs=("get", "list", "watch", "create"),
        storage=f"{plural}.{group}",
        custom=True,
    )


@pytest.mark.parametrize(
    ("name", "qualified"),
    [
        ("pods", "pods"),
        ("po", "pods"),
        ("Pod", "pods"),
        ("leases.coordination.k8s.io", "leases.coordination.k8s.io"),
        ("pdb", "poddisruptionbudgets.policy"),
        ("events", "events"),
        ("events.events.k8s.io", "events.events.k8s.io"),
        ("podgroups.v1alpha2.scheduling.k8s.io", "podgroups.scheduling.k8s.io"),
    ],
)
def test_a_resource_goes_by_many_names(registry: Registry, name: str, qualified: str) -> None:
    assert registry.named(name).qualified == qualified


def test_an_unknown_name_is_said(registry: Registry) -> None:
    with pytest.raises(UnknownResource, match="'widgets'"):
        registry.named("widgets")
    assert registry.by_name("widgets") is None


# The informers that kube-scheduler 1.34 to 1.37 start, and what older schedulers ask for.
@pytest.mark.parametrize(
    ("group", "version", "plural"),
    [
        ("resource.k8s.io", "v1", "devicetaintrules"),
        ("resource.k8s.io", "v1beta2", "devicetaintrules"),
        ("resource.k8s.io", "v1alpha3", "devicetaintrules"),
        ("resource.k8s.io", "v1beta1", "resourceclaims"),
        ("scheduling.k8s.io", "v1alpha1", "workloads"),
        ("scheduling.k8s.io", "v1alpha2", "podgroups"),
        ("scheduling.k8s.io", "v1beta1", "podgroups"),
        ("scheduling.k8s.io", "v1alpha3", "compositepodgroups"),
        ("coordination.k8s.io", "v1beta1", "leasecandidates"),
        ("policy", "v1beta1", "poddisruptionbudgets"),
        ("scheduling.k8s.io", "v1beta1", "priorityclasses"),
        ("extensions", "v1beta1", "replicasets"),
        ("apps", "v1beta1", "statefulsets"),
    ],
)
def test_versions_of_other_releases_are_served_and_hidden(
    registry: Registry, group: str, version: str, plural: str
) -> None:
    resource = found(registry, group, version, plural)
    assert resource.hidden
    assert resource not in registry.resources(group, version)


def test_removed_versions_can_be_left_out() -> None:
    registry = default_registry(removed_versions=False)
    assert not registry.has_group("extensions")
    assert registry.lookup("policy", "v1beta1", "poddisruptionbudgets") is None
    assert registry.lookup("policy", "v1", "poddisruptionbudgets") is not None


def test_discovery_shows_what_the_release_serves() -> None:
    assert default_registry("v1.36.3").versions("resource.k8s.io") == ["v1"]
    shown = [resource.plural for resource in default_registry("v1.36.3").resources("resource.k8s.io", "v1")]
    assert "devicetaintrules" not in shown
    shown = [resource.plural for resource in default_registry("v1.37.2").resources("resource.k8s.io", "v1")]
    assert "devicetaintrules" in shown
    assert default_registry("v1.99.0").groups() == default_registry("v1.37.2").groups()
    with pytest.raises(ValueError, match="'latest' is no Kubernetes version"):
        default_registry("latest")


def test_versions_of_one_kind_are_one_store(registry: Registry) -> None:
    for group, version, plural, stored_in in (
        ("events.k8s.io", "v1", "events", "v1"),
        ("extensions", "v1beta1", "replicasets", "apps/v1"),
        ("policy", "v1beta1", "poddisruptionbudgets", "policy/v1"),
        ("autoscaling", "v1", "horizontalpodautoscalers", "autoscaling/v2"),
        ("scheduling.k8s.io", "v1alpha2", "podgroups", "scheduling.k8s.io/v1beta1"),
    ):
        stored = registry.stored_as(found(registry, group, version, plural))
        assert stored.api_version == stored_in
        assert stored.storage == found(registry, group, version, plural).storage


def test_every_storable_resource_has_a_stored_version(registry: Registry) -> None:
    for resource in registry:
        assert registry.stored_as(resource).storage == resource.storage


def test_the_order_of_groups_and_versions(registry: Registry) -> None:
    groups = registry.groups()
    assert groups[:3] == ["", "apiregistration.k8s.io", "apps"]
    assert registry.versions("autoscaling") == ["v2", "v1"]
    versions = ["foo1", "v1alpha1", "v2beta1", "v10", "v1", "v2beta2"]
    assert sorted(versions, key=version_order) == ["v10", "v1", "v2beta2", "v2beta1", "v1alpha1", "foo1"]


def test_subresources_know_their_kinds(registry: Registry) -> None:
    pods = registry.named("pods")
    assert (pods.kind_of("binding"), pods.api_version_of("binding")) == ("Binding", "v1")
    assert (pods.kind_of("eviction"), pods.api_version_of("eviction")) == ("Eviction", "policy/v1")
    assert (pods.kind_of(""), pods.api_version_of("status")) == ("Pod", "v1")


def test_what_an_empty_object_shows(registry: Registry) -> None:
    assert empty_fields(registry.named("pods")) == {"spec": {"containers": None}, "status": {}}
    assert empty_fields(registry.named("configmaps")) == {}


def test_custom_resources_come_and_go(registry: Registry) -> None:
    before = registry.groups()
    last, first = custom("z.example.com", "widgets"), custom("a.example.com", "widgets")
    registry.add(last)
    registry.add(first)
    assert registry.groups() == [*before, "a.example.com", "z.example.com"]
    assert registry.by_kind("a.example.com/v1", "Widget") is first
    assert registry.named("widgets.z.example.com") is last
    assert registry.custom_group("a.example.com")
    registry.remove(first)
    registry.remove(last)
    assert registry.groups() == before
    assert registry.by_name("widgets") is None
    assert not registry.has_group("a.example.com")
