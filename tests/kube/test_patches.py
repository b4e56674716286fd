"""The three kinds of patches, as functions: what comes out, and that what goes in stays as it was."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.patch import json_patch, merge_patch, strategic_merge
from batkube.kube.schema.resources import default_registry

JSON = dict[str, Any]
REGISTRY = default_registry("v1.36.3")
POD: JSON = {
    "metadata": {"name": "p", "labels": {"a": "1", "b": "2"}, "finalizers": ["x/1", "x/2"]},
    "spec": {
        "containers": [
            {"name": "one", "image": "i:1", "ports": [{"containerPort": 80}]},
            {"name": "two", "image": "i:2"},
        ],
        "tolerations": [{"key": "k", "operator": "Exists"}],
    },
}


def strategic(patch: JSON, obj: JSON = POD, kind: str = "pods") -> JSON:
    before, sent = copy.deepcopy(obj), copy.deepcopy(patch)
    result = strategic_merge.apply(obj, patch, REGISTRY.named(kind))
    assert (obj, patch) == (before, sent)
    return result


def test_lists_with_a_merge_key_merge() -> None:
    result = strategic({"spec": {"containers": [{"name": "two", "image": "new"}, {"name": "three", "image": "i:3"}]}})
    images = {container["name"]: container["image"] for container in result["spec"]["containers"]}
    assert images == {"one": "i:1", "two": "new", "three": "i:3"}


def test_lists_without_one_are_replaced() -> None:
    result = strategic({"spec": {"tolerations": [{"key": "other", "operator": "Exists"}]}})
    assert result["spec"]["tolerations"] == [{"key": "other", "operator": "Exists"}]


def test_lists_of_plain_values_grow_and_shrink() -> None:
    more = strategic({"metadata": {"finalizers": ["x/3"]}})
    assert sorted(more["metadata"]["finalizers"]) == ["x/1", "x/2", "x/3"]
    less = strategic({"metadata": {"$deleteFromPrimitiveList/finalizers": ["x/1"]}})
    assert less["metadata"]["finalizers"] == ["x/2"]


def test_directives() -> None:
    gone = strategic({"spec": {"containers": [{"$patch": "delete", "name": "one"}]}})
    assert [container["name"] for container in gone["spec"]["containers"]] == ["two"]
    replaced = strategic({"metadata": {"labels": {"$patch": "replace", "c": "3"}}})
    assert replaced["metadata"]["labels"] == {"c": "3"}
    ordered = strategic({"spec": {"$setElementOrder/containers": [{"name": "two"}, {"name": "one"}]}})
    assert [container["name"] for container in ordered["spec"]["containers"]] == ["two", "one"]


def test_an_item_without_its_merge_key() -> None:
    with pytest.raises(ApiError, match="does not contain declared merge key: name") as refused:
        strategic({"spec": {"containers": [{"image": "x"}]}})
    assert refused.value.code == 500


def test_merge_patch() -> None:
    obj: JSON = {"a": {"b": 1, "c": [1, 2]}, "d": 4}
    patch: JSON = {"a": {"b": None, "c": [3]}, "e": {"f": None, "g": 1}}
    before = copy.deepcopy((obj, patch))
    assert merge_patch.apply(obj, patch) == {"a": {"c": [3]}, "d": 4, "e": {"g": 1}}
    assert (obj, patch) == before


def test_json_patch() -> None:
    obj: JSON = {"list": [1, 2, 3], "map": {"a/b": "x"}}
    before = copy.deepcopy(obj)
    patch = [
        {"op": "test", "path": "/map/a~1b", "value": "x"},
        {"op": "add", "path": "/list/-", "value": 4},
        {"op": "remove", "path": "/list/0"},
        {"op": "move", "from": "/map/a~1b", "path": "/moved"},
        {"op": "copy", "from": "/list", "path": "/map/copied"},
        {"op": "replace", "path": "/list/-1", "value": 9},
    ]
    assert json_patch.apply(obj, patch) == {"list": [2, 3, 9], "map": {"copied": [2, 3, 4]}, "moved": "x"}
    assert obj == before


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/list/0", "value": 5},
        {"op": "remove", "path": "/nowhere"},
        {"op": "add", "path": "/list/9", "value": 1},
        {"op": "nonsense", "path": "/list"},
    ],
)
def test_a_json_patch_that_cannot_be_applied(operation: JSON) -> None:
    with pytest.raises(ApiError) as refused:
        json_patch.apply({"list": [1]}, [operation])
    assert (refused.value.code, refused.value.reason) == (422, "Invalid")


def test_a_new_element_takes_the_room_of_a_deleted_one() -> None:
    """As kubectl apply sends it; found by comparing with the real server's library."""
    pod = {"spec": {"containers": [{"name": name} for name in ("c1", "c2", "c4")]}}
    patch = {
        "spec": {
            "containers": [{"name": "c3"}, {"name": "c4", "$patch": "delete"}],
            "$setElementOrder/containers": [{"name": "c3"}, {"name": "c2"}, {"name": "c4"}],
        }
    }
    result = strategic(patch, pod)
    assert [container["name"] for container in result["spec"]["containers"]] == ["c1", "c3", "c2"]


def test_what_a_merge_patch_adds_has_no_nulls() -> None:
    patch = {"new": [{"a": None, "b": [None]}], "map": {"list": [{"a": None}]}}
    assert merge_patch.apply({"map": {}}, patch) == {"new": [{"b": [None]}], "map": {"list": [{}]}}


def test_a_json_patch_does_not_add_at_the_root() -> None:
    with pytest.raises(ApiError) as refused:
        json_patch.apply({"a": 1}, [{"op": "add", "path": "", "value": {"b": 2}}])
    assert refused.value.code == 422
