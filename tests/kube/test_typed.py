"""The server takes from a body only what its kind knows, in the kind's types."""

from __future__ import annotations

from typing import Any

import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.codec.typed import decode
from batkube.kube.schema.resources import default_registry

REGISTRY = default_registry()
PODS, NODES, CONFIGMAPS = (REGISTRY.named(name) for name in ("pods", "nodes", "configmaps"))


def of_pod(spec: dict[str, Any]) -> dict[str, Any]:
    result: dict[str, Any] = decode(PODS, {"metadata": {"name": "a"}, "spec": spec})["spec"]
    return result


def test_structs_are_always_there_and_empty_options_never() -> None:
    pod = decode(PODS, {"spec": {"containers": [{"name": "c", "command": [], "stdin": False}], "hostNetwork": False}})
    assert pod == {"metadata": {}, "spec": {"containers": [{"name": "c", "resources": {}}]}, "status": {}}


def test_a_pointer_to_nothing_is_something() -> None:
    assert of_pod({"containers": [], "activeDeadlineSeconds": 0})["activeDeadlineSeconds"] == 0
    assert "priority" not in of_pod({"containers": [], "priority": None})


def test_unknown_fields_are_told_by_their_paths() -> None:
    warnings: list[str] = []
    body = {"spec": {"containers": [{"name": "c", "colour": 1}], "size": 2}, "more": 3}
    decode(PODS, body, "Warn", warnings)
    assert warnings == [
        'unknown field "spec.containers[0].colour"',
        'unknown field "spec.size"',
        'unknown field "more"',
    ]
    with pytest.raises(ApiError) as refused:
        decode(PODS, body, "Strict")
    assert refused.value.code == 400
    assert "strict decoding error" in refused.value.message


@pytest.mark.parametrize(
    "spec",
    [
        {"containers": {}},
        {"containers": [{"name": 1}]},
        {"containers": [{"name": "c", "ports": [{"containerPort": "80"}]}]},
        {"containers": [{"name": "c", "ports": [{"containerPort": 80.5}]}]},
        {"containers": [{"name": "c", "ports": [{"containerPort": 1 << 31}]}]},
        {"containers": [{"name": "c", "resources": {"requests": {"cpu": "many"}}}]},
        {"containers": [{"name": "c", "stdin": "yes"}]},
        {"nodeSelector": {"a": 1}},
        {"priority": True},
        [],
    ],
)
def test_what_does_not_fit_is_a_bad_request(spec: Any) -> None:
    with pytest.raises(ApiError) as refused:
        decode(PODS, {"spec": spec})
    assert refused.value.code == 400
    assert "cannot be handled as a Pod" in refused.value.message


@pytest.mark.parametrize(
    ("sent", "stored"),
    [
        ("2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"),
        ("2026-01-01T02:00:00+02:00", "2026-01-01T00:00:00Z"),
        ("2026-01-01T00:00:00.75Z", "2026-01-01T00:00:00Z"),
    ],
)
def test_times_are_in_utc_and_whole_seconds(sent: str, stored: str) -> None:
    pod = decode(PODS, {"spec": {}, "status": {"startTime": sent}})
    assert pod["status"]["startTime"] == stored


@pytest.mark.parametrize("time", ["yesterday", "2026-01-01", "2026-13-01T00:00:00Z", 5])
def test_what_is_no_time(time: Any) -> None:
    with pytest.raises(ApiError):
        decode(PODS, {"status": {"startTime": time}})


@pytest.mark.parametrize(("sent", "stored"), [("0.1", "100m"), (2, "2"), ("1.5Gi", "1536Mi"), ("1e3", "1e3")])
def test_quantities_keep_their_family(sent: Any, stored: str) -> None:
    node = decode(NODES, {"status": {"capacity": {"x": sent}}})
    assert node["status"]["capacity"] == {"x": stored}


@pytest.mark.parametrize(
    ("sent", "stored"), [("aGk=", "aGk="), ("aG\nk=\r\n", "aGk="), ("aGl=", "aGk="), ("aGVs", "aGVs"), ("", "")]
)
def test_bytes_are_base64(sent: str, stored: str) -> None:
    assert decode(CONFIGMAPS, {"binaryData": {"a": sent}})["binaryData"] == {"a": stored}


@pytest.mark.parametrize(
    ("sent", "byte"),
    [
        ("!", 0),
        ("hi", 0),
        ("aGkx=", 4),
        ("aGk==", 4),
        ("a=", 1),
        ("aG=x", 2),
        ("aG=", 3),
        ("aG\nk", 1),
        ("aGk=aGk=", 4),
        ("é", 0),
    ],
)
def test_bytes_that_are_not_base64_are_refused_where_go_says(sent: str, byte: int) -> None:
    with pytest.raises(ApiError, match=f"illegal base64 data at input byte {byte}$"):
        decode(CONFIGMAPS, {"binaryData": {"a": sent}})
