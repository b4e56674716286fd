"""Persistent volumes: what may change in one."""

from typing import Any

import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.server import ApiServer

JSON = dict[str, Any]

BETA, STABLE = "failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone"


def in_zone(label: str, *zones: str) -> JSON:
    expression = {"key": label, "operator": "In", "values": list(zones)}
    return {"required": {"nodeSelectorTerms": [{"matchExpressions": [expression]}]}}


def volume(affinity: JSON | None) -> JSON:
    spec: JSON = {"capacity": {"storage": "1Mi"}, "accessModes": ["ReadWriteOnce"], "hostPath": {"path": "/tmp"}}
    if affinity is not None:
        spec["nodeAffinity"] = affinity
    return {"metadata": {"name": "v"}, "spec": spec}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (None, in_zone(STABLE, "a")),
        (in_zone(STABLE, "a"), in_zone(STABLE, "a")),
        (in_zone(BETA, "a"), in_zone(STABLE, "a")),
    ],
)
def test_where_a_volume_is_may_be_said_later_and_in_stable_labels(before: JSON | None, after: JSON) -> None:
    server = ApiServer(now=lambda: 0.0)
    server.create("persistentvolumes", volume(before))
    assert server.update("persistentvolumes", volume(after))["spec"]["nodeAffinity"] == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (in_zone(STABLE, "a"), in_zone(STABLE, "b")),
        (in_zone(STABLE, "a"), in_zone(BETA, "a")),
        (in_zone(BETA, "a"), in_zone(STABLE, "a", "b")),
        (in_zone(BETA, "a"), None),
    ],
)
def test_a_volume_does_not_move(before: JSON, after: JSON | None) -> None:
    server = ApiServer(now=lambda: 0.0)
    server.create("persistentvolumes", volume(before))
    with pytest.raises(ApiError, match="field is immutable, except for updating from beta label to GA"):
        server.update("persistentvolumes", volume(after))
