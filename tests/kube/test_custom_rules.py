"""A definition with rules as those of widely used kinds have them (Gateway API's, Kueue's), through the API."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer

JSON = dict[str, Any]

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
ROUTES = "routes.net.example.com"
NAME: JSON = {"type": "string", "maxLength": 63, "pattern": r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]+)*$"}
LISTENER: JSON = {
    "type": "object",
    "required": ["name", "port", "protocol"],
    "properties": {
        "name": NAME,
        "hostname": {"type": "string", "maxLength": 253, "pattern": r"^(\*\.)?[\pL\pN.-]+$"},
        "port": {"type": "integer", "format": "int32"},
        "protocol": {"type": "string", "maxLength": 255},
        "tls": {
            "type": "object",
            "properties": {
                "mode": {"type": "string", "enum": ["Terminate", "Passthrough"]},
                "certificateRefs": {"type": "array", "maxItems": 64, "items": {"type": "object", "properties": {}}},
                "options": {"type": "object", "additionalProperties": {"type": "string"}},
            },
            "x-kubernetes-validations": [
                {
                    "message": "certificateRefs or options must be specified when mode is Terminate",
                    "rule": "self.mode == 'Terminate' ? size(self.certificateRefs) > 0 || size(self.options) > 0"
                    " : true",
                }
            ],
        },
    },
}
SPEC: JSON = {
    "type": "object",
    "properties": {
        "listeners": {
            "type": "array",
            "maxItems": 64,
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": ["name"],
            "items": LISTENER,
            "x-kubernetes-validations": [
                {
                    "message": "tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']",
                    "rule": "self.all(l, l.protocol in ['HTTP', 'TCP', 'UDP'] ? !has(l.tls) : true)",
                },
                {
                    "message": "Combination of port, protocol and hostname must be unique for each listener",
                    "rule": """self.all(l1, self.exists_one(l2, l1.port == l2.port && l1.protocol == l2.protocol &&
                        (has(l1.hostname) && has(l2.hostname) ? l1.hostname == l2.hostname
                            : !has(l1.hostname) && !has(l2.hostname))))""",
                },
            ],
        },
        "timeouts": {
            "type": "object",
            "properties": {name: {"type": "string", "format": "duration"} for name in ("request", "backendRequest")},
            "x-kubernetes-validations": [
                {
                    "message": "backendRequest timeout cannot be longer than request timeout",
                    "rule": "!(has(self.request) && has(self.backendRequest) && self.request != duration('0s') && "
                    "self.backendRequest > self.request)",
                }
            ],
        },
        "path": {
            "type": "object",
            "properties": {"type": {"type": "string"}, "value": {"type": "string", "maxLength": 1024}},
            "x-kubernetes-validations": [
                {
                    "messageExpression": "'must only contain valid characters, not %s'.format([self.value])",
                    "rule": "(self.type in ['Exact', 'PathPrefix']) ? "
                    r'self.value.matches(r"""^(?:[-A-Za-z0-9/._~!$&()*+,;=:@]|[%][0-9a-fA-F]{2})+$""") : true',
                },
                {
                    "reason": "FieldValueForbidden",
                    "fieldPath": ".value",
                    "message": "must not contain '//' or end with '/..'",
                    "rule": "!self.value.contains('//') // never\n && !self.value.endsWith('/..')",
                },
            ],
        },
        "quota": {"x-kubernetes-int-or-string": True},
        "class": {"type": "string", "maxLength": 253},
    },
    "x-kubernetes-validations": [
        {
            "message": "class is immutable",
            "rule": "has(self.class) == has(oldSelf.class) && (!has(self.class) || self.class == oldSelf.class)",
        },
        {
            "message": "quota too small",
            "rule": "!has(self.quota) || quantity(string(self.quota)).isGreaterThan(quantity('1'))",
        },
    ],
}
GOOD: JSON = {
    "listeners": [
        {"name": "http", "port": 80, "protocol": "HTTP"},
        {"name": "a", "port": 443, "protocol": "HTTPS", "hostname": "*.bücher.example", "tls": {"mode": "Passthrough"}},
        {"name": "b", "port": 443, "protocol": "HTTPS", "hostname": "b.example"},
    ],
    "timeouts": {"request": "10s", "backendRequest": "1500ms"},
    "path": {"type": "Exact", "value": "/a/b%20c"},
    "quota": "2Gi",
    "class": "fast",
}


@pytest.fixture(autouse=True)
def definition(server: ApiServer) -> None:
    schema = {"type": "object", "properties": {"spec": SPEC}}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "routes", "kind": "Route"}
    spec = {"group": "net.example.com", "scope": "Namespaced", "names": names, "versions": [version]}
    server.create(DEFINITIONS, {"metadata": {"name": ROUTES}, "spec": spec})


def route(**changes: Any) -> JSON:
    spec = {**deepcopy(GOOD), **changes}
    return {"apiVersion": "net.example.com/v1", "kind": "Route", "metadata": {"name": "r"}, "spec": spec}


def test_what_keeps_all_rules_is_taken(server: ApiServer) -> None:
    assert server.create(ROUTES, route(), "default")["spec"]["class"] == "fast"


LISTENERS = GOOD["listeners"]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"listeners": [{**LISTENERS[0], "tls": {}}]},
            "spec.listeners: Invalid value: tls must not be specified for protocols ['HTTP', 'TCP', 'UDP']",
        ),
        (
            {"listeners": [*LISTENERS, {**LISTENERS[2], "name": "c"}]},
            "spec.listeners: Invalid value: Combination of port, protocol and hostname must be unique for each "
            "listener",
        ),
        (
            {"listeners": [{**LISTENERS[1], "tls": {"mode": "Terminate", "certificateRefs": []}}]},
            'spec.listeners[0].tls: Invalid value: "object": no such key: options evaluating rule: certificateRefs or '
            "options must be specified when mode is Terminate",
        ),
        (
            {"listeners": [{**LISTENERS[1], "hostname": "a_b"}]},
            'spec.listeners[0].hostname: Invalid value: "a_b": spec.listeners[0].hostname in body should match '
            r"'^(\*\.)?[\pL\pN.-]+$'",
        ),
        (
            {"timeouts": {"request": "1s", "backendRequest": "1001ms"}},
            "spec.timeouts: Invalid value: backendRequest timeout cannot be longer than request timeout",
        ),
        (
            {"path": {"type": "Exact", "value": "/a b"}},
            "spec.path: Invalid value: must only contain valid characters, not /a b",
        ),
        ({"path": {"value": "a//b"}}, "spec.path.value: Forbidden: must not contain '//' or end with '/..'"),
        ({"quota": 1}, "spec: Invalid value: quota too small"),
    ],
)
def test_what_breaks_a_rule_is_refused(server: ApiServer, changes: JSON, told: str) -> None:
    with pytest.raises(ApiError) as refused:
        server.create(ROUTES, route(**changes), "default")
    assert told in str(refused.value)


def test_a_rule_about_change(server: ApiServer) -> None:
    made = deepcopy(server.create(ROUTES, route(), "default"))
    made["spec"]["class"] = "slow"
    with pytest.raises(ApiError, match="class is immutable"):
        server.update(ROUTES, made)
