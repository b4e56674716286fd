"""Patches change objects as the real server does, and never what they are given."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from batkube.kube.patch import json_patch, merge_patch, strategic_merge
from batkube.kube.resources import default_registry
from batkube.kube.status import ApiError

JSON = dict[str, Any]
PODS = default_registry().named("pods")
BUDGETS = default_registry().named("poddisruptionbudgets")


def strategic(obj: JSON, patch: Any) -> JSON:
    """Merge; fail if either argument was changed by it."""
    kept = copy.deepcopy((obj, patch))
    result = strategic_merge.apply(obj, patch, PODS)
    assert (obj, patch) == kept
    return result


def operations(obj: JSON, *patch: JSON) -> JSON:
    kept = copy.deepcopy((obj, patch))
    result = json_patch.apply(obj, list(patch))
    assert (obj, patch) == kept
    return result


def conditions(*names: str) -> JSON:
    return {"status": {"conditions": [{"type": name, "status": "True"} for name in names]}}


def types(obj: JSON) -> list[str]:
    return [condition["type"] for condition in obj["status"]["conditions"]]


# -- JSON patch


def test_operations_apply_one_after_the_other() -> None:
    result = operations(
        {"data": {"a": "1"}, "list": [1, 2]},
        {"op": "add", "path": "/data/b", "value": "2"},
        {"op": "replace", "path": "/data/a", "value": "3"},
        {"op": "add", "path": "/list/1", "value": 9},
        {"op": "add", "path": "/list/-", "value": 7},
        {"op": "move", "from": "/data/b", "path": "/data/c"},
        {"op": "copy", "from": "/data/c", "path": "/data/d~1e"},
        {"op": "remove", "path": "/list/0"},
        {"op": "test", "path": "/list", "value": [9, 2, 7]},
    )
    assert result == {"data": {"a": "3", "c": "2", "d/e": "2"}, "list": [9, 2, 7]}


def test_json_patch_is_as_lax_as_the_real_servers_library() -> None:
    assert operations({"a": {}}, {"op": "replace", "path": "/a/b", "value": 1}) == {"a": {"b": 1}}
    assert operations({"a": {"b": 1}}, {"op": "add", "path": "/a/b"}) == {"a": {"b": None}}
    assert operations({"a": [1, 2]}, {"op": "remove", "path": "/a/-1"}) == {"a": [1]}
    assert operations({"a": {}}, {"op": "add", "path": "lost/a/b", "value": 1}) == {"a": {"b": 1}}


@pytest.mark.parametrize(
    "operation",
    [
        {"op": "test", "path": "/a", "value": True},  # 1 is not true
        {"op": "remove", "path": "/zz"},
        {"op": "remove", "path": "/list/7"},
        {"op": "append", "path": "/a", "value": 1},
        {"op": "add", "path": "/a/b", "value": 1},
        {"op": "add"},
    ],
)
def test_a_failing_operation_refuses_the_whole_patch(operation: JSON) -> None:
    with pytest.raises(ApiError) as refused:
        operations({"a": 1, "list": []}, {"op": "add", "path": "/ok", "value": 1}, operation)
    assert (refused.value.code, refused.value.reason) == (422, "Invalid")


def test_a_json_patch_is_a_list_of_bounded_length() -> None:
    with pytest.raises(ApiError) as refused:
        json_patch.apply({}, {"op": "add"})
    assert refused.value.code == 400
    with pytest.raises(ApiError) as refused:
        json_patch.apply({}, [{"op": "test", "path": "/a"}] * 10_001)
    assert refused.value.code == 413


# -- merge patch


def test_merge_patch_merges_maps_and_replaces_the_rest() -> None:
    before = {"a": {"b": 1, "c": 2}, "list": [1, 2]}
    assert merge_patch.apply(before, {"a": {"b": None, "d": {"e": None}}, "list": [3]}) == {
        "a": {"c": 2, "d": {}},
        "list": [3],
    }
    assert before == {"a": {"b": 1, "c": 2}, "list": [1, 2]}


# -- strategic merge


def test_lists_merge_by_their_key_and_keep_their_order() -> None:
    result = strategic(conditions("A", "B"), {"status": {"conditions": [{"type": "C"}, {"type": "A", "reason": "R"}]}})
    assert types(result) == ["C", "A", "B"]
    assert result["status"]["conditions"][1] == {"type": "A", "status": "True", "reason": "R"}


def test_a_scheduler_clears_a_nomination_with_null() -> None:
    patched = strategic({"status": {"nominatedNodeName": "n1"}}, {"status": {"nominatedNodeName": None}})
    assert patched == {"status": {}}


def test_directives() -> None:
    ordered = {"$setElementOrder/conditions": [{"type": "B"}, {"type": "A"}]}
    assert types(strategic(conditions("A", "B"), {"status": ordered})) == ["B", "A"]
    deleted = {"status": {"conditions": [{"type": "A", "$patch": "delete"}]}}
    assert types(strategic(conditions("A", "B"), deleted)) == ["B"]
    replaced = {"status": {"conditions": [{"$patch": "replace"}, {"type": "C"}]}}
    assert types(strategic(conditions("A", "B"), replaced)) == ["C"]
    labels = {"metadata": {"labels": {"a": "1"}, "finalizers": ["x/a", "x/b"]}}
    patch: JSON = {
        "metadata": {"labels": {"$patch": "replace", "b": "2"}, "$deleteFromPrimitiveList/finalizers": ["x/a"]}
    }
    assert strategic(labels, patch) == {"metadata": {"labels": {"b": "2"}, "finalizers": ["x/b"]}}
    volumes: JSON = {"spec": {"volumes": [{"name": "v", "hostPath": {"path": "/"}}]}}
    patch = {"spec": {"volumes": [{"name": "v", "$retainKeys": ["name", "emptyDir"], "emptyDir": {}}]}}
    assert strategic(volumes, patch) == {"spec": {"volumes": [{"name": "v", "emptyDir": {}}]}}


def test_atomic_fields_are_replaced_as_a_whole() -> None:
    tolerations = {"spec": {"tolerations": [{"key": "a"}]}}
    assert strategic(tolerations, {"spec": {"tolerations": [{"key": "b"}]}}) == {
        "spec": {"tolerations": [{"key": "b"}]}
    }
    budget = {"spec": {"selector": {"matchLabels": {"a": "1"}}}}
    patch = {"spec": {"selector": {"matchLabels": {"b": "2"}}}}
    assert strategic_merge.apply(budget, patch, BUDGETS) == patch


def test_nulls_of_what_is_new_are_dropped() -> None:
    patch = {"spec": {"containers": [{"name": "c", "image": None, "command": ["x"]}]}}
    assert strategic({"spec": {}}, patch) == {"spec": {"containers": [{"name": "c", "command": ["x"]}]}}


@pytest.mark.parametrize(
    ("patch", "code", "message"),
    [
        ({"status": {"conditions": [{"status": "True"}]}}, 500, "does not contain declared merge key: type"),
        ({"metadata": {"labels": {"$patch": "explode"}}}, 500, "unknown patch type: explode in map: map["),
        ({"spec": {"$retainKeys": "x"}}, 400, "invalid patch format of retainKeys"),
        ({"spec": {"$retainKeys": ["a"], "nodeName": "n"}}, 400, "invalid patch format of retainKeys"),
        (
            {"status": {"$setElementOrder/conditions": [{"type": "B"}], "conditions": [{"type": "A"}]}},
            500,
            "doesn't match $setElementOrder list",
        ),
        ([], 400, "cannot unmarshal array"),
    ],
)
def test_patches_that_cannot_be_meant(patch: Any, code: int, message: str) -> None:
    before = {"metadata": {"labels": {"a": "1"}}, "spec": {}, **conditions("A")}
    with pytest.raises(ApiError) as refused:
        strategic(before, patch)
    assert refused.value.code == code
    assert message in refused.value.message
