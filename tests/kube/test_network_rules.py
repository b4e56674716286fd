"""Ingresses, network policies, endpoint slices and autoscalers: what the real server refuses, warns of or fills in."""

from __future__ import annotations

from typing import Any

import pytest

from batkube.kube.server import ApiServer

from .conftest import refused_fields

JSON = dict[str, Any]

INGRESSES = "ingresses.networking.k8s.io"
CLASSES = "ingressclasses.networking.k8s.io"
POLICIES = "networkpolicies.networking.k8s.io"
SLICES = "endpointslices.discovery.k8s.io"
AUTOSCALERS = "horizontalpodautoscalers.autoscaling"


def ingress(host: str = "a.b", path: str = "/", tls: JSON | None = None, **port: Any) -> JSON:
    service = {"name": "s", "port": port or {"number": 80}}
    http = {"paths": [{"path": path, "pathType": "Prefix", "backend": {"service": service}}]}
    return {"spec": {"rules": [{"host": host, "http": http}], "tls": [tls or {}]}}


def policy(cidr: str, *excepted: str) -> JSON:
    block = {"cidr": cidr, "except": list(excepted)}
    return {"spec": {"podSelector": {}, "ingress": [{"from": [{"ipBlock": block}]}]}}


def endpoint_slice(address: str = "10.0.0.1", kind: str = "IPv4", **endpoint: Any) -> JSON:
    return {"addressType": kind, "endpoints": [{"addresses": [address], **endpoint}]}


def autoscaler(*metrics: JSON, behavior: JSON | None = None, version: str = "apps/v1") -> JSON:
    target = {"apiVersion": version, "kind": "Deployment", "name": "d"}
    return {"spec": {"scaleTargetRef": target, "maxReplicas": 5, "metrics": list(metrics), "behavior": behavior}}


def cpu(**target: Any) -> JSON:
    return {"type": "Resource", "resource": {"name": "cpu", "target": {"type": "Utilization", **target}}}


HTTP = "spec.rules[0].http.paths[0]"
BLOCK = "spec.ingress[0].from[0].ipBlock"


@pytest.mark.parametrize(
    ("storage", "obj", "fields"),
    [
        (INGRESSES, ingress(), []),
        (INGRESSES, ingress(host="*.b.c"), []),
        (INGRESSES, ingress(host="a.*.c"), ["spec.rules[0].host"]),
        (INGRESSES, ingress(host="10.0.0.1"), ["spec.rules[0].host"]),
        (INGRESSES, ingress(path="/a/../b"), [f"{HTTP}.path"]),
        (INGRESSES, ingress(name="http", number=80), [f"{HTTP}.backend"]),
        (INGRESSES, ingress(name="No Name"), [f"{HTTP}.backend.service.port.name"]),
        (
            INGRESSES,
            ingress(tls={"hosts": ["-"], "secretName": "-"}),
            ["spec.tls[0].hosts[0]", "spec.tls[0].secretName"],
        ),
        (CLASSES, {"spec": {"controller": "a.b/c"}}, []),
        (CLASSES, {"spec": {"controller": "a.b"}}, ["spec.controller"]),
        (
            CLASSES,
            {"spec": {"controller": "a.b/c", "parameters": {"kind": "K", "name": "n", "namespace": "x"}}},
            ["spec.parameters.namespace"],
        ),
        (POLICIES, policy("10.0.0.0/8", "10.1.0.0/16"), []),
        (POLICIES, policy("10.0.0.1/8"), [f"{BLOCK}.cidr"]),
        (POLICIES, policy("10.0.0.0/08"), [f"{BLOCK}.cidr"]),
        (POLICIES, policy("10.0.0.0/8", "11.0.0.0/16", "x"), [f"{BLOCK}.except[0]", f"{BLOCK}.except[1]"]),
        (SLICES, endpoint_slice(), []),
        (SLICES, endpoint_slice("010.0.0.1"), ["endpoints[0].addresses[0]"]),
        (SLICES, endpoint_slice("127.0.0.1"), ["endpoints[0].addresses[0]"]),
        (SLICES, endpoint_slice("::ffff:1.2.3.4", "IPv6"), ["endpoints[0].addresses[0]"]),
        (SLICES, endpoint_slice("2001:DB8::1", "IPv6"), ["endpoints[0].addresses[0]"]),
        (SLICES, endpoint_slice("a", "FQDN"), ["endpoints[0].addresses[0]"]),
        (
            SLICES,
            endpoint_slice(hints={"forZones": [{"name": "z"}, {"name": "z"}]}),
            ["endpoints[0].hints.forZones[1].name"],
        ),
        (AUTOSCALERS, autoscaler(cpu(averageUtilization=50)), []),
        (AUTOSCALERS, autoscaler(version="v1"), ["spec.scaleTargetRef.apiVersion"]),
        (AUTOSCALERS, autoscaler(cpu()), ["spec.metrics[0].resource.target.averageUtilization"]),
        (
            AUTOSCALERS,
            autoscaler({**cpu(averageUtilization=50), "type": "Pods"}),
            ["spec.metrics[0].pods"],
        ),
        (
            AUTOSCALERS,
            autoscaler(behavior={"scaleUp": {"policies": [{"type": "Pods", "value": 0, "periodSeconds": 9999}]}}),
            ["spec.behavior.scaleUp.policies[0].value", "spec.behavior.scaleUp.policies[0].periodSeconds"],
        ),
    ],
)
async def test_what_could_not_work_is_refused(server: ApiServer, storage: str, obj: JSON, fields: list[str]) -> None:
    assert refused_fields(server, storage, {"metadata": {"name": "x"}, **obj}) == fields


async def test_the_behavior_of_an_autoscaler_is_filled_in(server: ApiServer) -> None:
    made = server.create(
        AUTOSCALERS, {"metadata": {"name": "x"}, **autoscaler(behavior={"scaleUp": {"selectPolicy": "Min"}})}
    )
    by_percent = {"type": "Percent", "value": 100, "periodSeconds": 15}
    by_pods = {"type": "Pods", "value": 4, "periodSeconds": 15}
    assert made["spec"]["behavior"] == {
        "scaleUp": {"stabilizationWindowSeconds": 0, "selectPolicy": "Min", "policies": [by_pods, by_percent]},
        "scaleDown": {"selectPolicy": "Max", "policies": [by_percent]},
    }
