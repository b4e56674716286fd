"""Refusals of a CustomResourceDefinition by the real server: one change of a right one, the fields it names.

Every line was compared with kube-apiserver 1.36.3.
"""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from .test_kind_rules import causes, changed

JSON = dict[str, Any]

URL = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
PROPERTIES: JSON = {
    "size": {"type": "integer", "default": 1, "maximum": 9},
    "name": {"type": "string", "pattern": "^a"},
    "tags": {"type": "array", "items": {"type": "string"}},
}
RULE: JSON = {"rule": "self.size < 10"}
SPEC: JSON = {"type": "object", "properties": PROPERTIES, "x-kubernetes-validations": [RULE]}
DEFINITION: JSON = {
    "metadata": {"name": "foos.ex.com"},
    "spec": {
        "group": "ex.com",
        "names": {"plural": "foos", "kind": "Foo"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "additionalPrinterColumns": [{"name": "Size", "type": "integer", "jsonPath": ".spec.size"}],
                "schema": {"openAPIV3Schema": {"type": "object", "properties": {"spec": SPEC}}},
            }
        ],
    },
}
VERSION = "spec.versions.0"
ROOT = f"{VERSION}.schema.openAPIV3Schema"
AT = f"{ROOT}.properties.spec"
# What a single version says the real server has for all versions.
SCHEMA = "spec.validation.openAPIV3Schema.properties[spec]"


@pytest.mark.parametrize(
    ("path", "value", "fields"),
    [
        ("spec.names.singular", "Bad!", ["spec.names.singular"]),
        ("spec.names.categories", ["Bad!"], ["spec.names.categories[0]"]),
        ("spec.scope", None, ["spec.scope"]),
        ("metadata.labels", {"Bad Key!": "x"}, ["metadata.labels"]),
        (f"{VERSION}.deprecationWarning", "not deprecated", ["spec.versions[0].deprecationWarning"]),
        (f"{VERSION}.additionalPrinterColumns.0.type", "float", ["spec.additionalPrinterColumns[0].type"]),
        (f"{VERSION}.additionalPrinterColumns.0.jsonPath", "x", ["spec.additionalPrinterColumns[0].JSONPath"]),
        (f"{VERSION}.selectableFields", [{"jsonPath": ".spec.tags"}], ["spec.selectableFields[0].jsonPath"]),
        (f"{VERSION}.subresources", {"scale": {"specReplicasPath": ".spec.size", "statusReplicasPath": "x"}},
         ["spec.subresources.scale.statusReplicasPath"]),
        ("spec.conversion", {"strategy": "Webhook"},
         ["spec.conversion.conversionReviewVersions", "spec.conversion.webhookClientConfig"]),
        (f"{AT}.properties.size.default", 10, [f"{SCHEMA}.properties[size].default"]),
        (f"{AT}.properties.name.default", "b", [f"{SCHEMA}.properties[name].default"]),
        (f"{AT}.properties.name.type", "text", [f"{SCHEMA}.properties[name].type"]),
        (f"{AT}.properties.name.$ref", "#/x", [f"{SCHEMA}.properties[name].$ref"]),
        (f"{AT}.properties.name.pattern", "(", [f"{SCHEMA}.properties[name].pattern"]),
        (f"{AT}.properties.tags.items", None, [f"{SCHEMA}.properties[tags].items"]),
        (f"{AT}.properties.tags.uniqueItems", True, [f"{SCHEMA}.properties[tags].uniqueItems"]),
        (f"{AT}.properties.name.x-kubernetes-map-type", "atomic", [f"{SCHEMA}.properties[name].type"]),
        (f"{AT}.properties.name.x-kubernetes-list-type", "set", [f"{SCHEMA}.properties[name].type"]),
        (f"{ROOT}.anyOf", [{"properties": {"other": {"minLength": 1}}}],
         ["spec.validation.openAPIV3Schema.properties[other]"]),
        (f"{AT}.not", {"type": "object"}, [f"{SCHEMA}.not.type"]),
        (f"{AT}.x-kubernetes-validations.0.rule", "self.other < 10", [f"{SCHEMA}.x-kubernetes-validations[0].rule"]),
        (f"{AT}.x-kubernetes-validations.0.rule", "size < 10", [f"{SCHEMA}.x-kubernetes-validations[0].rule"]),
        (f"{AT}.x-kubernetes-validations.0.messageExpression", "1 + 1",
         [f"{SCHEMA}.x-kubernetes-validations[0].messageExpression"]),
        (f"{AT}.x-kubernetes-validations.0.fieldPath", ".other", [f"{SCHEMA}.x-kubernetes-validations[0].fieldPath"]),
    ],
)  # fmt: skip
async def test_what_a_definition_may_not_be(
    client: httpx.AsyncClient, path: str, value: Any, fields: list[str]
) -> None:
    refused = await client.post(URL, json=changed(DEFINITION, path, value))
    assert sorted(await causes(refused)) == fields


async def test_what_is_not_known_of_a_definition_is_warned_of(client: httpx.AsyncClient) -> None:
    created = await client.post(URL, json=changed(DEFINITION, f"{AT}.properties.name.format", "colour"))
    assert created.status_code == 201, created.text
    assert created.headers["Warning"] == '299 - "unrecognized format \\"colour\\""'
    same = await client.put(f"{URL}/foos.ex.com", json=(await client.get(f"{URL}/foos.ex.com")).json())
    assert "Warning" not in same.headers


@pytest.mark.parametrize(
    ("path", "value", "fields"),
    [
        ("spec.scope", "Cluster", ["spec.scope"]),
        ("spec.names.kind", "Other", ["spec.names.kind"]),
        ("spec.names.shortNames", ["f"], []),
        (f"{VERSION}.name", "v2", ["status.storedVersions[0]"]),
    ],
)
async def test_what_may_not_become_of_a_definition(
    client: httpx.AsyncClient, path: str, value: Any, fields: list[str]
) -> None:
    assert (await client.post(URL, json=DEFINITION)).status_code == 201
    stored = (await client.get(f"{URL}/foos.ex.com")).json()
    answer = await client.put(f"{URL}/foos.ex.com", json=changed(stored, path, value))
    if fields:
        assert await causes(answer) == fields
    else:
        assert answer.status_code == 200, answer.text
