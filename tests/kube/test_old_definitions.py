"""Definitions of apiextensions.k8s.io/v1beta1 do in v1 what they did."""

from __future__ import annotations

from typing import Any

import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.custom.old_definitions import modernized
from batkube.kube.server import ApiServer

JSON = dict[str, Any]


def old(**spec: Any) -> JSON:
    names = {"plural": "podgroups", "kind": "PodGroup"}
    return {
        "apiVersion": "apiextensions.k8s.io/v1beta1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "podgroups.scheduling.incubator.k8s.io"},
        "spec": {"group": "scheduling.incubator.k8s.io", "scope": "Namespaced", "names": names, **spec},
    }


VALIDATION = {
    "openAPIV3Schema": {
        "properties": {
            "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
            "spec": {"properties": {"minMember": {"type": "integer"}, "free": {}, "names": {"items": {}}}},
        }
    }
}


def created(definition: JSON, spec: JSON) -> JSON:
    """Return what becomes of the spec of an object."""
    server = ApiServer(now=lambda: 0.0)
    server.define(modernized(definition))
    made = server.create("podgroups.scheduling.incubator.k8s.io", {"metadata": {"name": "g"}, "spec": spec})
    found: JSON = made["spec"]
    return found


SPEC = {"minMember": 3, "free": [{"a": 1}], "names": ["x", 1], "unknown": {"b": 2}}


def test_objects_keep_what_no_schema_knows() -> None:
    assert created(old(version="v1alpha1", validation=VALIDATION), SPEC) == SPEC
    assert created(old(version="v1alpha1"), SPEC) == SPEC


def test_unless_they_are_not_to() -> None:
    kept = created(old(version="v1alpha1", validation=VALIDATION, preserveUnknownFields=False), SPEC)
    assert kept == {name: value for name, value in SPEC.items() if name != "unknown"}


def test_what_the_schema_says_is_checked() -> None:
    with pytest.raises(ApiError, match=r"spec\.minMember in body must be of type integer"):
        created(old(version="v1alpha1", validation=VALIDATION), {"minMember": "3"})


def test_what_is_alike_stands_in_each_version_that_says_nothing_else() -> None:
    columns = [{"name": "Members", "type": "integer", "JSONPath": ".spec.minMember"}]
    first = {"name": "v1", "served": True, "storage": True}
    second = {"name": "v1alpha1", "served": True, "storage": False, "additionalPrinterColumns": []}
    subresources: JSON = {"status": {}}
    alike: JSON = {"subresources": subresources, "additionalPrinterColumns": columns}
    one, other = modernized(old(versions=[first, second], **alike))["spec"]["versions"]
    assert one["additionalPrinterColumns"] == [{"name": "Members", "type": "integer", "jsonPath": ".spec.minMember"}]
    assert other["additionalPrinterColumns"] == []
    assert one["subresources"] == other["subresources"] == subresources


def test_a_webhook_that_converts_stands_where_v1_has_it() -> None:
    conversion = {"strategy": "Webhook", "webhookClientConfig": {"url": "u"}, "conversionReviewVersions": ["v1beta1"]}
    webhook = {"clientConfig": {"url": "u"}, "conversionReviewVersions": ["v1beta1"]}
    new = modernized(old(version="v1", conversion=conversion))["spec"]
    assert new["conversion"] == {"strategy": "Webhook", "webhook": webhook}
