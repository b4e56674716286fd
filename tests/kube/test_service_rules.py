"""Services: what they get, what changes with their type, what is refused and what their authors are warned of."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer

from .conftest import refused_fields

JSON = dict[str, Any]
PATH = "/api/v1/namespaces/default/services"


def service(**spec: Any) -> JSON:
    return {"metadata": {"name": "s"}, "spec": {"ports": [{"name": "http", "port": 80}], **spec}}


@pytest.mark.parametrize(
    ("spec", "fields"),
    [
        ({}, []),
        ({"ports": []}, ["spec.ports"]),
        ({"ports": [{"port": 80, "nodePort": 30080}]}, ["spec.ports[0].nodePort"]),
        ({"clusterIP": "10.96.7.7", "clusterIPs": ["10.96.7.8"]}, ["spec.clusterIPs"]),
        ({"clusterIPs": ["10.96.7.8"]}, ["spec.clusterIPs"]),
        ({"clusterIP": "010.1.1.1"}, ["spec.clusterIPs[0]"]),
        ({"ipFamilyPolicy": "RequireDualStack"}, ["spec.ipFamilyPolicy"]),
        ({"ipFamilies": ["IPv6"]}, ["spec.ipFamilies[0]"]),
        ({"type": "ExternalName"}, ["spec.externalName"]),
        ({"type": "ExternalName", "externalName": "a.b."}, []),
        ({"loadBalancerClass": "a/b"}, ["spec.loadBalancerClass"]),
        ({"type": "LoadBalancer", "loadBalancerSourceRanges": ["10.0.0.1/8"]}, ["spec.LoadBalancerSourceRanges[0]"]),
        ({"healthCheckNodePort": 30000}, ["spec.healthCheckNodePort"]),
        ({"externalIPs": ["127.0.0.1"]}, ["spec.externalIPs[0]"]),
        ({"externalTrafficPolicy": "Local"}, ["spec.externalTrafficPolicy"]),
    ],
)
async def test_what_could_not_work_is_refused(server: ApiServer, spec: JSON, fields: list[str]) -> None:
    assert refused_fields(server, "services", service(**spec)) == fields


async def test_an_address_and_a_node_port_belong_to_one_service(server: ApiServer) -> None:
    server.create("services", service(type="NodePort", clusterIP="10.96.1.1", ports=[{"port": 80, "nodePort": 30100}]))
    for spec in ({"clusterIP": "10.96.1.1"}, {"type": "NodePort", "ports": [{"port": 80, "nodePort": 30100}]}):
        with pytest.raises(ApiError, match="already allocated"):
            server.create("services", {**service(**spec), "metadata": {"name": "other"}})
    with pytest.raises(ApiError, match=r"The range of valid ports is 30000-32767"):
        server.create("services", service(type="NodePort", ports=[{"port": 80, "nodePort": 80}]))


async def test_a_service_keeps_what_it_got_and_loses_what_its_type_has_no_use_for(server: ApiServer) -> None:
    made = server.create("services", service(type="LoadBalancer", externalTrafficPolicy="Local"))["spec"]
    assert {"healthCheckNodePort", "allocateLoadBalancerNodePorts"} <= set(made)
    same = server.update("services", service(type="LoadBalancer", externalTrafficPolicy="Local"))["spec"]
    assert same == made
    inside = server.update("services", {"metadata": {"name": "s"}, "spec": {**made, "type": "ClusterIP"}})["spec"]
    assert inside["clusterIP"] == made["clusterIP"]
    assert not {"healthCheckNodePort", "externalTrafficPolicy", "allocateLoadBalancerNodePorts"} & set(inside)
    assert "nodePort" not in inside["ports"][0]
    named = {**inside, "type": "ExternalName", "externalName": "a.b"}
    outside = server.update("services", {"metadata": {"name": "s"}, "spec": named})["spec"]
    assert not {"clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy"} & set(outside)


async def test_the_address_of_a_service_does_not_change(server: ApiServer) -> None:
    server.create("services", service())
    with pytest.raises(ApiError, match="may not change once set"):
        server.update("services", service(clusterIP="10.96.3.3"))


async def test_a_dry_run_takes_no_node_port(client: httpx.AsyncClient) -> None:
    answers = [
        (await client.post(PATH, json=service(type="NodePort"), params={"dryRun": "All"})).json() for _ in range(2)
    ]
    assert [answer["spec"]["ports"][0]["nodePort"] for answer in answers] == [32769, 32769]


@pytest.mark.parametrize(
    ("spec", "warned"),
    [
        ({}, ""),
        ({"externalName": "a.b"}, "spec.externalName is ignored"),
        ({"externalIPs": ["1.2.3.4"]}, "spec.externalIPs is deprecated"),
        ({"clusterIP": "None", "sessionAffinity": "ClientIP"}, "spec.SessionAffinity is ignored"),
        ({"trafficDistribution": "PreferClose"}, "use "),
    ],
)
async def test_authors_of_services_are_warned(client: httpx.AsyncClient, spec: JSON, warned: str) -> None:
    answer = await client.post(PATH, json=service(**spec))
    assert answer.status_code == 201
    assert warned in answer.headers.get("warning", "")
    assert bool(warned) == ("warning" in answer.headers)
