"""What the real server refuses of kinds beside pods and workloads: one change of a right object, the fields it names.

Every line was compared with kube-apiserver 1.36.3.
"""

from __future__ import annotations

import copy
from typing import Any

import httpx
import pytest

JSON = dict[str, Any]

STORAGE = "/apis/storage.k8s.io/v1"
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
    "runtime": (
        "/apis/node.k8s.io/v1/runtimeclasses",
        {"handler": "h", "scheduling": {"nodeSelector": {"a": "b"}, "tolerations": [{"key": "k"}]}},
    ),
    "priority": ("/apis/scheduling.k8s.io/v1/priorityclasses", {"value": 10}),
    "ranges": ("/apis/networking.k8s.io/v1/servicecidrs", {"spec": {"cidrs": ["10.9.0.0/24"]}}),
}
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
        ("runtime", "scheduling.tolerations", [{"key": "k"}] * 2, ["scheduling.tolerations[1]"]),
        ("priority", "preemptionPolicy", "", ["preemptionPolicy"]),
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
    assert await causes(refused) == fields
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
