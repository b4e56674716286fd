"""Discovery and OpenAPI: what clients learn of the server before they ask for anything."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from batkube.kube.codec.protobuf import wire
from batkube.kube.discovery import openapi, openapi_v2
from batkube.kube.schema.resources import default_registry

AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json"

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "description": "A widget.",
                        "properties": {"spec": {"type": "object", "properties": {"size": {"type": "integer"}}}},
                    }
                },
            }
        ],
    },
}


async def read(client: httpx.AsyncClient, path: str, accept: str = "application/json") -> Any:
    answer = await client.get(path, headers={"Accept": accept})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_scheduler_finds_the_events_group(client: httpx.AsyncClient) -> None:
    document = await read(client, "/apis/events.k8s.io/v1")
    assert document["groupVersion"] == "events.k8s.io/v1"
    assert [resource["name"] for resource in document["resources"]] == ["events"]


async def test_groups_show_the_versions_of_the_release(client: httpx.AsyncClient) -> None:
    groups = {group["name"]: group for group in (await read(client, "/apis"))["groups"]}
    assert groups["autoscaling"]["preferredVersion"] == {"groupVersion": "autoscaling/v2", "version": "v2"}
    assert [each["version"] for each in groups["resource.k8s.io"]["versions"]] == ["v1"]
    assert "extensions" not in groups
    assert (await read(client, "/apis/batch"))["name"] == "batch"


async def test_an_unknown_group_is_text_an_unknown_version_a_status(client: httpx.AsyncClient) -> None:
    answer = await client.get("/apis/example.com/v1")
    assert (answer.status_code, answer.text) == (404, "404 page not found\n")
    answer = await client.get("/apis/apps/v9")
    assert (answer.status_code, answer.json()["reason"]) == (404, "NotFound")


async def test_aggregated_discovery_has_everything_in_two_documents(client: httpx.AsyncClient) -> None:
    answer = await client.get("/api", headers={"Accept": AGGREGATED})
    assert answer.headers["content-type"] == "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
    pods = next(each for each in answer.json()["items"][0]["versions"][0]["resources"] if each["resource"] == "pods")
    assert pods["scope"] == "Namespaced"
    eviction = next(each for each in pods["subresources"] if each["subresource"] == "eviction")
    assert eviction["responseKind"] == {"group": "policy", "version": "v1", "kind": "Eviction"}
    groups = await read(client, "/apis", AGGREGATED)
    assert "apps" in [item["metadata"]["name"] for item in groups["items"]]


async def test_what_cannot_be_aggregated_is_not_acceptable(client: httpx.AsyncClient) -> None:
    only = "application/json;g=apidiscovery.k8s.io;v=v9;as=APIGroupDiscoveryList"
    assert (await client.get("/apis", headers={"Accept": only})).status_code == 406
    assert (await read(client, "/apis", f"{only},application/json"))["kind"] == "APIGroupList"


async def test_custom_resources_join_discovery_and_openapi(client: httpx.AsyncClient) -> None:
    before = (await read(client, "/openapi/v3"))["paths"]
    answer = await client.post("/apis/apiextensions.k8s.io/v1/customresourcedefinitions", json=DEFINITION)
    assert answer.status_code == 201, answer.text
    assert (await read(client, "/apis/example.com/v1"))["resources"][0]["name"] == "widgets"
    after = (await read(client, "/openapi/v3"))["paths"]
    assert set(after) - set(before) == {"apis/example.com", "apis/example.com/v1"}
    assert after["api/v1"] == before["api/v1"]
    document = await read(client, after["apis/example.com/v1"]["serverRelativeURL"])
    schema = document["components"]["schemas"]["com.example.v1.Widget"]
    assert schema["description"] == "A widget."
    assert schema["properties"]["spec"]["properties"]["size"] == {"type": "integer"}
    patch = document["paths"]["/apis/example.com/v1/namespaces/{namespace}/widgets/{name}"]["patch"]
    assert patch["x-kubernetes-group-version-kind"] == {"group": "example.com", "version": "v1", "kind": "Widget"}
    assert "application/strategic-merge-patch+json" not in patch["requestBody"]["content"]


async def test_kubectl_learns_that_the_server_checks_fields(client: httpx.AsyncClient) -> None:
    document = await read(client, "/openapi/v3/api/v1")
    patch = document["paths"]["/api/v1/namespaces/{namespace}/pods/{name}"]["patch"]
    assert "fieldValidation" in [parameter["name"] for parameter in patch["parameters"]]


async def test_openapi_v2_has_the_same_definitions(client: httpx.AsyncClient) -> None:
    document = await read(client, "/openapi/v2")
    spec = document["definitions"]["io.k8s.api.core.v1.Pod"]["properties"]["spec"]
    assert spec["$ref"] == "#/definitions/io.k8s.api.core.v1.PodSpec"


def fields(message: bytes) -> dict[int, list[Any]]:
    """The fields of a protobuf message by their numbers; those of fixed size do not occur."""
    found: dict[int, list[Any]] = {}
    position = 0
    while position < len(message):
        tag, position = wire.read_varint(message, position, len(message))
        if tag & 7 == wire.BYTES:
            begin, position = wire.read_length(message, position, len(message))
            found.setdefault(tag >> 3, []).append(message[begin:position])
        else:
            value, position = wire.read_varint(message, position, len(message))
            found.setdefault(tag >> 3, []).append(value)
    return found


async def test_enumerations_say_their_values(client: httpx.AsyncClient) -> None:
    schemas = (await read(client, "/openapi/v3/api/v1"))["components"]["schemas"]
    effect = schemas["io.k8s.api.core.v1.Toleration"]["properties"]["effect"]
    assert effect["enum"] == ["NoExecute", "NoSchedule", "PreferNoSchedule"]
    assert 'Possible enum values:\n - `"NoExecute"` Evict any already-running pods' in effect["description"]
    modes = schemas["io.k8s.api.core.v1.PersistentVolumeClaimSpec"]["properties"]["accessModes"]
    assert modes["items"]["enum"] == ["ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce", "ReadWriteOncePod"]


@pytest.mark.parametrize("separator", ["@", "."])
async def test_openapi_v2_in_the_encoding_that_kubectl_wants(client: httpx.AsyncClient, separator: str) -> None:
    asked = f"application/com.github.proto-openapi.spec.v2{separator}v1.0+protobuf"
    answer = await client.get("/openapi/v2", headers={"Accept": asked})
    assert answer.headers["content-type"] == "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
    document = fields(answer.content)
    assert document[1] == [b"2.0"]
    definitions = {fields(named)[1][0].decode(): fields(named)[2][0] for named in fields(document[9][0])[1]}
    assert sorted(definitions) == sorted((await read(client, "/openapi/v2"))["definitions"])
    taint = fields(definitions["io.k8s.api.core.v1.Taint"])
    assert taint[19] == [b"key", b"effect"]
    assert fields(taint[22][0])[1] == [b"object"]
    properties = {fields(named)[1][0]: fields(fields(named)[2][0]) for named in fields(taint[25][0])[1]}
    assert sorted(properties) == [b"effect", b"key", b"timeAdded", b"value"]
    assert [fields(value)[2] for value in properties[b"effect"][20]] == [
        [b'"NoExecute"\n'],
        [b'"NoSchedule"\n'],
        [b'"PreferNoSchedule"\n'],
    ]
    pod = fields(definitions["io.k8s.api.core.v1.Pod"])
    assert [fields(extension)[1] for extension in pod[31]] == [[b"x-kubernetes-group-version-kind"]]
    assert fields(fields(pod[31][0])[2][0])[2] == [b'[{"group":"","kind":"Pod","version":"v1"}]\n']
    assert (await client.get("/openapi/v2", headers={"Accept": "text/html"})).status_code == 406


def test_a_property_may_be_named_as_a_keyword_is() -> None:
    definitions = openapi_v2.swagger(default_registry())["definitions"]
    assert "default" in definitions["io.k8s.api.core.v1.LimitRangeItem"]["properties"]


@pytest.mark.parametrize("path", ["/openapi/v3/apis/example.com/v1", "/openapi/v4", "/openapi"])
async def test_there_are_no_other_documents(client: httpx.AsyncClient, path: str) -> None:
    assert (await client.get(path)).status_code == 404


@pytest.mark.parametrize("version", ["v1.34.3", "v1.35.4", "v1.36.3", "v1.37.2"])
def test_every_kind_that_is_shown_has_a_schema_whose_references_lead_somewhere(version: str) -> None:
    registry = default_registry(version)
    for group in registry.groups():
        for its_version in registry.versions(group):
            document = openapi.document(registry, group, its_version)
            schemas = document["components"]["schemas"]
            kinds = {
                kind["kind"]
                for schema in schemas.values()
                for kind in schema.get("x-kubernetes-group-version-kind", ())
                if (kind["group"], kind["version"]) == (group, its_version)
            }
            assert {resource.kind for resource in registry.resources(group, its_version)} <= kinds
            for schema in schemas.values():
                assert all(name in schemas for name in openapi.references(schema))


async def test_the_version_says_what_it_emulates(client: httpx.AsyncClient) -> None:
    answer = await client.get("/version")
    assert answer.text.startswith('{\n  "major": "1",\n  "minor": "36",\n')  # clients cut lines out of it
    version = answer.json()
    assert (version["emulationMinor"], version["minCompatibilityMinor"]) == ("36", "35")
