"""Refusals by the real server of kinds beside pods and workloads: one change of a right object, the fields it names.

Every line was compared with kube-apiserver 1.36.3.
"""

from __future__ import annotations

import copy
from typing import Any

import httpx
import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer

JSON = dict[str, Any]

STORAGE = "/apis/storage.k8s.io/v1"
RULE: JSON = {"apiGroups": ["x.y"], "apiVersions": ["v1"], "operations": ["CREATE"]}
BASES: dict[str, tuple[str, JSON]] = {
    "class": (
        f"{STORAGE}/storageclasses",
        {"provisioner": "x.y/z", "allowedTopologies": [{"matchLabelExpressions": [{"key": "k", "values": ["v"]}]}]},
    ),
    "driver": (f"{STORAGE}/csidrivers", {"spec": {"tokenRequests": [{"audience": "a", "expirationSeconds": 3600}]}}),
    "capacity": (
        f"{STORAGE}/namespaces/default/csistoragecapacities",
        {"storageClassName": "s", "capacity": "1Gi", "nodeTopology": {"matchLabels": {"a": "b"}}},
    ),
    "volume": (
        "/api/v1/persistentvolumes",
        {"spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/x"}}},
    ),
    "volume claim": (
        "/api/v1/namespaces/default/persistentvolumeclaims",
        {"spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}},
    ),
    "attachment": (
        f"{STORAGE}/volumeattachments",
        {"spec": {"attacher": "d.x", "nodeName": "n", "source": {"persistentVolumeName": "v"}}},
    ),
    "runtime": (
        "/apis/node.k8s.io/v1/runtimeclasses",
        {"handler": "h", "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "k"}]}},
    ),
    "priority": ("/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 10}),
    "webhooks": (
        "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
        {
            "webhooks": [
                {
                    "name": "a.b.c",
                    "admissionReviewVersions": ["v1"],
                    "sideEffects": "None",
                    "clientConfig": {"service": {"name": "s", "namespace": "n"}},
                    "rules": [{**RULE, "resources": ["nopes"]}],
                }
            ]
        },
    ),
    "policy": (
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies",
        {
            "spec": {
                "matchConstraints": {"resourceRules": [{**RULE, "resources": ["nopes"]}]},
                "variables": [{"name": "size", "expression": "object.spec.size"}],
                "validations": [{"expression": "variables.size < 3"}],
            }
        },
    ),
    "binding": (
        "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicybindings",
        {"spec": {"policyName": "p", "validationActions": ["Deny"]}},
    ),
    "claim": (
        "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims",
        {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}},
    ),
    "template": (
        "/apis/resource.k8s.io/v1/namespaces/default/resourceclaimtemplates",
        {"spec": {"spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "c"}}]}}}},
    ),
    "device class": (
        "/apis/resource.k8s.io/v1/deviceclasses",
        {"spec": {"selectors": [{"cel": {"expression": "device.driver == 'x'"}}]}},
    ),
    "slice": (
        "/apis/resource.k8s.io/v1/resourceslices",
        {
            "spec": {
                "driver": "d.x",
                "allNodes": True,
                "pool": {"name": "p", "resourceSliceCount": 1},
                "devices": [{"name": "d", "allowMultipleAllocations": True, "capacity": {"m": {"value": "10"}}}],
            }
        },
    ),
    "ranges": ("/apis/networking.k8s.io/v1/servicecidrs", {"spec": {"cidrs": ["10.9.0.0/24"]}}),
}
INLINE = "spec.source.inlineVolumeSpec"
SIZED: JSON = {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]}
HOOK, ASKED, DEVICE = "webhooks.0", "spec.devices.requests.0.exactly", "spec.devices.0"
TOPOLOGY = "allowedTopologies.0.matchLabelExpressions"


def changed(obj: JSON, path: str, value: Any) -> JSON:
    """The object with one field set, or away where the value is None."""
    result = copy.deepcopy(obj)
    *way, last = path.split(".")
    at: Any = result
    for step in way:
        at = at[int(step)] if isinstance(at, list) else at.setdefault(step, {})
    if isinstance(at, list):
        at[int(last)] = value
    elif value is None:
        at.pop(last, None)
    else:
        at[last] = value
    return result


async def causes(answer: httpx.Response) -> list[str]:
    assert answer.status_code == 422, answer.text
    return [cause["field"] for cause in answer.json()["details"]["causes"]]


@pytest.mark.parametrize(
    ("kind", "path", "value", "fields"),
    [
        ("class", TOPOLOGY, [], ["allowedTopologies[0].matchLabelExpressions"]),
        ("class", f"{TOPOLOGY}.0.values", ["v", "v"], ["allowedTopologies[0].matchLabelExpressions[0].values[1]"]),
        ("class", f"{TOPOLOGY}.0.key", "Bad!", ["allowedTopologies[0].matchLabelExpressions[0].key"]),
        ("class", "parameters", {str(n): "" for n in range(513)}, ["parameters"]),
        ("driver", "spec.tokenRequests.0.expirationSeconds", 1, ["spec.tokenRequests[0].expirationSeconds"]),
        ("driver", "spec.tokenRequests", [{"audience": "a"}] * 2, ["spec.tokenRequests[1].audience"]),
        ("driver", "spec", {"serviceAccountTokenInSecrets": True}, ["spec.serviceAccountTokenInSecrets"]),
        ("capacity", "capacity", "-1", ["capacity"]),
        ("volume", "spec.hostPath.type", "x", ["spec.hostPath.type"]),
        ("volume", "spec.nfs", {}, ["spec.nfs"]),
        ("volume", "spec", {**SIZED, "nfs": {"server": "s", "path": "x"}}, ["spec.nfs.path"]),
        ("volume", "spec", {**SIZED, "quobyte": {"registry": "x", "volume": "v"}}, ["spec.quobyte.registry"]),
        ("volume", "spec", {**SIZED, "local": {"path": "/x"}}, ["spec.nodeAffinity"]),
        ("volume", "spec", {**SIZED, "fc": {"targetWWNs": ["a"]}}, ["spec.fc.lun"]),
        ("volume", "spec.volumeAttributesClassName", "x", ["spec.csi"]),
        (
            "volume claim",
            "spec.dataSourceRef",
            {"kind": "Other", "name": "x"},
            ["spec.dataSource", "spec.dataSourceRef"],
        ),
        ("volume claim", "spec.volumeAttributesClassName", "Bad!", ["spec.volumeAttributesClassName"]),
        ("attachment", "spec.source", {"inlineVolumeSpec": SIZED}, [f"{INLINE}.capacity", f"{INLINE}.csi", INLINE]),
        ("runtime", "scheduling.tolerations", [{"key": "k"}] * 2, ["scheduling.tolerations[1]"]),
        ("priority", "preemptionPolicy", "", ["preemptionPolicy"]),
        ("webhooks", f"{HOOK}.name", "short.name", ["webhooks[0].name"]),
        ("webhooks", f"{HOOK}.sideEffects", None, ["webhooks[0].sideEffects"]),
        ("webhooks", f"{HOOK}.timeoutSeconds", 31, ["webhooks[0].timeoutSeconds"]),
        ("webhooks", f"{HOOK}.clientConfig", {"url": "http://x.y"}, ["webhooks[0].clientConfig.url"]),
        ("webhooks", f"{HOOK}.rules.0.resources", ["*", "pods"], ["webhooks[0].rules[0].resources"]),
        ("policy", "spec.validations.0.expression", "nobody == 1", ["spec.validations[0].expression"]),
        ("policy", "spec.validations.0.expression", "variables.other", ["spec.validations[0].expression"]),
        ("policy", "spec.validations.0.expression", "'text'", ["spec.validations[0].expression"]),
        ("policy", "spec.paramKind", {"apiVersion": "v1"}, ["spec.paramKind.kind"]),
        ("binding", "spec.validationActions", ["Deny", "Warn"], ["spec.validationActions"]),
        ("binding", "spec.paramRef", {"name": "x"}, ["spec.paramRef.parameterNotFoundAction"]),
        ("claim", f"{ASKED}.adminAccess", True, ["spec.devices.requests[0].adminAccess"]),
        (
            "claim",
            f"{ASKED}.tolerations",
            [{"effect": "x"}],
            ["spec.devices.requests[0].exactly.tolerations[0].effect"],
        ),
        ("claim", "spec.devices.constraints", [{}], ["spec.devices.constraints[0]"]),
        ("template", "spec.metadata", {"name": "x"}, ["spec.metadata.name"]),
        ("device class", "spec.selectors.0.cel.expression", "gpu", ["spec.selectors[0].cel.expression"]),
        ("device class", "spec.selectors.0.cel.expression", "", ["spec.selectors[0].cel.expression"]),
        ("slice", f"{DEVICE}.bindingConditions", ["x"], ["spec.devices[0].bindingFailureConditions"]),
        (
            "slice",
            f"{DEVICE}.consumesCounters",
            [{"counterSet": "x"}],
            ["spec.devices[0].consumesCounters[0].counters"],
        ),
        (
            "slice",
            f"{DEVICE}.capacity.m.requestPolicy",
            {"default": "2", "validRange": {"min": "1", "max": "11", "step": "2"}},
            [f"spec.devices[0].capacity[m].requestPolicy.validRange.{field}" for field in ("max", "step")],
        ),
        ("ranges", "spec", None, ["spec.cidrs"]),
        ("ranges", "spec.cidrs", ["10.9.0.0/24", "10.8.0.0/24"], ["spec.cidrs"]),
        ("ranges", "spec.cidrs", ["x"], ["spec.cidrs[0]"]),
    ],
)
async def test_what_a_new_object_may_not_be(
    client: httpx.AsyncClient, kind: str, path: str, value: Any, fields: list[str]
) -> None:
    url, base = BASES[kind]
    metadata = {"metadata": {"name": "it"}}
    refused = await client.post(url, json=changed({**base, **metadata}, path, value))
    assert sorted(await causes(refused)) == sorted(fields)
    assert (await client.post(url, json={**base, **metadata})).status_code == 201


@pytest.mark.parametrize(
    ("kind", "path", "value", "fields"),
    [
        ("class", "reclaimPolicy", "x", ["reclaimPolicy", "reclaimPolicy"]),
        ("class", f"{TOPOLOGY}.0.values", [], ["allowedTopologies[0].matchLabelExpressions[0].values"]),
        ("class", "allowVolumeExpansion", True, []),
        ("capacity", "storageClassName", "", ["storageClassName", "storageClassName"]),
        ("capacity", "capacity", "2Gi", []),
        ("runtime", "handler", "Bad!", ["handler", "handler"]),
        ("webhooks", f"{HOOK}.failurePolicy", "x", ["webhooks[0].failurePolicy"]),
        ("template", "spec.spec.devices.requests.0.name", "Bad!", ["spec", "spec.spec.devices.requests[0].name"]),
        ("ranges", "spec.cidrs", ["10.8.0.0/24"], ["spec.cidrs[0]"]),
        ("ranges", "spec.cidrs", [], ["spec.cidrs"]),
        ("ranges", "spec.cidrs", ["10.9.0.0/24", "fd00::/64"], []),
    ],
)
async def test_what_may_not_become_of_an_object(
    client: httpx.AsyncClient, kind: str, path: str, value: Any, fields: list[str]
) -> None:
    url, base = BASES[kind]
    stored = (await client.post(url, json={**base, "metadata": {"name": "it"}})).json()
    answer = await client.put(f"{url}/it", json=changed(stored, path, value))
    if fields:
        assert sorted(await causes(answer)) == sorted(fields)
    else:
        assert answer.status_code == 200, answer.text


@pytest.mark.parametrize(
    ("kind", "path", "value", "warned"),
    [
        ("class", f"{TOPOLOGY}.0.key", "beta.kubernetes.io/arch", True),
        ("volume", "spec.persistentVolumeReclaimPolicy", "Recycle", True),
        ("volume claim", "spec.resources.requests.storage", "1500m", True),
        ("volume claim", "spec.dataSource", {"kind": "Other", "name": "dropped"}, False),
        ("capacity", "nodeTopology", {"matchLabels": {"node-role.kubernetes.io/master": ""}}, True),
        ("runtime", "scheduling.nodeSelector", {"beta.kubernetes.io/os": "linux"}, True),
        ("driver", "spec.serviceAccountTokenInSecrets", None, True),
        ("driver", "spec.serviceAccountTokenInSecrets", False, False),
    ],
)
async def test_what_a_client_is_warned_of(
    client: httpx.AsyncClient, kind: str, path: str, value: Any, warned: bool
) -> None:
    url, base = BASES[kind]
    created = await client.post(url, json=changed({**base, "metadata": {"name": "it"}}, path, value))
    assert created.status_code == 201, created.text
    assert ("Warning" in created.headers) == warned


async def test_generations_of_webhooks_and_what_is_said_where_nothing_is(client: httpx.AsyncClient) -> None:
    url, base = BASES["webhooks"]
    created = (await client.post(url, json={**base, "metadata": {"name": "it"}})).json()
    webhook = created["webhooks"][0]
    assert (webhook["failurePolicy"], webhook["matchPolicy"], webhook["timeoutSeconds"]) == ("Fail", "Equivalent", 10)
    assert webhook["clientConfig"]["service"]["port"] == 443
    assert created["metadata"]["generation"] == 1
    labelled = (await client.put(f"{url}/it", json=changed(created, "metadata.labels", {"a": "b"}))).json()
    assert labelled["metadata"]["generation"] == 1
    slow = (await client.put(f"{url}/it", json=changed(labelled, f"{HOOK}.timeoutSeconds", 20))).json()
    assert slow["metadata"]["generation"] == 2


@pytest.mark.parametrize("on", [False, True])
async def test_alpha_fields_of_devices_are_for_those_who_ask_for_them(on: bool) -> None:
    server = ApiServer(now=lambda: 0.0, feature_gates={"DRAListTypeAttributes": on})
    base = BASES["slice"][1]
    lists = changed(base, f"{DEVICE}.attributes", {"a": {"strings": ["x", "y"]}})
    storage = "resourceslices.resource.k8s.io"
    if on:
        created = server.create(storage, {**lists, "metadata": {"name": "it"}})
        assert created["spec"]["devices"][0]["attributes"] == {"a": {"strings": ["x", "y"]}}
    else:
        with pytest.raises(ApiError):  # an attribute without a value
            server.create(storage, {**lists, "metadata": {"name": "it"}})
