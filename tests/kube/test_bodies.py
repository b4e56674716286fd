"""Bodies that no careful client sends: refused with 400, or read as the real server reads them."""

from __future__ import annotations

from typing import Any

import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.codec import bodies
from batkube.kube.schema.resources import default_registry

CONFIGMAPS = default_registry().named("configmaps")


def read(data: bytes, content_type: str) -> dict[str, Any]:
    return bodies.decode(data, content_type, CONFIGMAPS)


@pytest.mark.parametrize(
    "data",
    [
        b"a: " + b"[" * 3000,
        b"a: .nan",
        b"a: !!int x",
        b"data: {a: !!set {x}}",
        b"a: !!binary eA=",
        b"a: *nowhere",
        b"? [a]\n: b",
        b"- a",
        b"a: 'open",
    ],
)
def test_yaml_that_json_cannot_say_is_refused(data: bytes) -> None:
    with pytest.raises(ApiError) as refused:
        read(data, "application/yaml")
    assert (refused.value.code, refused.value.reason) == (400, "BadRequest")


@pytest.mark.parametrize(
    "data", [b"[" * 5000, b'{"a":' * 5000, b'"text"', b'{"a":' + b"9" * 6000 + b"}", b"nul", b"{}{"]
)
def test_json_that_is_no_object_is_refused(data: bytes) -> None:
    with pytest.raises(ApiError) as refused:
        read(data, "application/json")
    assert (refused.value.code, refused.value.reason) == (400, "BadRequest")


def test_keys_of_yaml_become_texts() -> None:
    assert read(b"data: {2: a, true: b, x: c}", "application/yaml")["data"] == {"2": "a", "true": "b", "x": "c"}


def test_half_a_character_becomes_the_sign_for_one_that_cannot_be_shown() -> None:
    assert read(b'{"data": {"a": "x\\ud800y"}}', "application/json")["data"] == {"a": "x\ufffdy"}
