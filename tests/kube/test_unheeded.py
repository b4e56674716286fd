"""Objects that are kept and never acted upon say so by a Warning header when they are made."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from .conftest import CONFIGMAPS, config_map
from .test_custom import definition

JSON = dict[str, Any]

ADMISSION = "/apis/admissionregistration.k8s.io/v1"
HOOK = {
    "name": "a.example.com",
    "clientConfig": {"url": "https://example.com"},
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "rules": [{"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}],
}
MATCH = {"resourceRules": HOOK["rules"]}
WEBHOOK_CONVERSION = {
    "strategy": "Webhook",
    "webhook": {"conversionReviewVersions": ["v1"], "clientConfig": {"url": "https://example.com"}},
}


def named(name: str, **rest: Any) -> JSON:
    return {"metadata": {"name": name}, **rest}


KEPT = [
    (f"{ADMISSION}/validatingwebhookconfigurations", named("a", webhooks=[HOOK]), "calls no webhook"),
    (f"{ADMISSION}/mutatingwebhookconfigurations", named("a", webhooks=[HOOK]), "calls no webhook"),
    (
        f"{ADMISSION}/validatingadmissionpolicies",
        named("a", spec={"matchConstraints": MATCH, "validations": [{"expression": "true"}]}),
        "does not apply it",
    ),
    (
        f"{ADMISSION}/validatingadmissionpolicybindings",
        named("a", spec={"policyName": "a", "validationActions": ["Deny"]}),
        "does not apply its policy",
    ),
    (
        "/apis/apiregistration.k8s.io/v1/apiservices",
        named(
            "v1.example.com",
            spec={
                "group": "example.com",
                "version": "v1",
                "groupPriorityMinimum": 1,
                "versionPriority": 1,
                "insecureSkipTLSVerify": True,
                "service": {"name": "a", "namespace": "default"},
            },
        ),
        "passes no request on",
    ),
    ("/api/v1/namespaces/default/serviceaccounts", named("a"), "admission plugin ServiceAccount"),
    (
        "/api/v1/namespaces",
        {"metadata": {"name": "a", "labels": {"pod-security.kubernetes.io/enforce": "restricted"}}},
        "admission plugin PodSecurity",
    ),
    (
        "/apis/flowcontrol.apiserver.k8s.io/v1/flowschemas",
        named("a", spec={"priorityLevelConfiguration": {"name": "global-default"}}),
        "does not queue or limit",
    ),
]


@pytest.mark.parametrize(("path", "obj", "warning"), KEPT)
async def test_a_warning_says_what_is_only_kept(client: httpx.AsyncClient, path: str, obj: JSON, warning: str) -> None:
    made = await client.post(path, json=obj)
    assert made.status_code == 201, made.text
    assert warning in made.headers["warning"]
    again = await client.get(f"{path}/{obj['metadata']['name']}")
    assert "warning" not in again.headers
    labelled = {"metadata": {"labels": {"x": "y"}}}
    headers = {"Content-Type": "application/merge-patch+json"}
    assert "warning" not in (await client.patch(str(again.url), json=labelled, headers=headers)).headers


async def test_a_conversion_webhook_is_not_called(client: httpx.AsyncClient) -> None:
    path = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
    plain = definition()
    converted = {**plain, "spec": {**plain["spec"], "conversion": WEBHOOK_CONVERSION}}
    made = await client.post(path, json=converted)
    assert made.status_code == 201, made.text
    assert "calls no conversion webhook" in made.headers["warning"]


async def test_what_is_acted_upon_says_nothing(client: httpx.AsyncClient) -> None:
    assert "warning" not in (await client.post(CONFIGMAPS, json=config_map("a"))).headers
    assert "warning" not in (await client.post("/api/v1/namespaces", json=named("plain"))).headers
    assert "warning" not in (await client.post(f"{ADMISSION}/validatingwebhookconfigurations", json=named("a"))).headers
