"""The store: versions, history and order, on which lists and watches rest."""

from __future__ import annotations

import random
from collections.abc import Iterable
from typing import Any

import orjson
import pytest

from batkube.kube.schema.resources import default_registry
from batkube.kube.storage.store import ADDED, DELETED, MODIFIED, REMEMBERED, Change, Store, Version, path_of

PODS = default_registry().named("pods")


def pod(name: str, namespace: str = "default", **labels: str) -> dict[str, Any]:
    return {"metadata": {"name": name, "namespace": namespace, "labels": labels}, "spec": {}}


def names(versions: Iterable[Version]) -> list[str]:
    return [version.key[1] for version in versions]


def test_each_write_has_a_revision_of_its_own() -> None:
    store = Store()
    start = store.revision
    first = store.put(PODS, pod("a"))
    second = store.put(PODS, pod("b"))
    gone = store.remove(PODS, ("default", "a"))
    assert [first.revision, second.revision, gone.revision] == [start + 1, start + 2, start + 3]
    assert gone.obj["metadata"]["resourceVersion"] == str(start + 3)


def test_what_was_stored_never_changes() -> None:
    store = Store()
    before = store.put(PODS, pod("a", x="1"))
    text = before.json
    store.put(PODS, pod("a", x="2"))
    store.remove(PODS, ("default", "a"))
    assert before.obj["metadata"]["labels"] == {"x": "1"}
    assert before.json == text


def test_json_says_kind_and_version_first_and_is_made_once() -> None:
    version = Store().put(PODS, pod("a"))
    assert version.json.startswith(b'{"kind":"Pod","apiVersion":"v1",')
    assert version.json is version.json
    assert orjson.loads(version.json) == version.obj


def test_bytes_of_the_past_are_kept_for_a_while_only() -> None:
    store = Store()
    newest, old = store.put(PODS, pod("a")), store.put(PODS, pod("b"))
    of_newest, of_old = newest.json, old.json
    for number in range(REMEMBERED):
        store.put(PODS, pod("b", x=str(number)))
    assert old.json is of_old
    store.put(PODS, pod("b"))
    assert old.json == of_old
    assert old.json is not of_old
    assert newest.json is of_newest


def test_bytes_are_made_of_the_version_that_is_just_forgotten() -> None:
    store = Store()
    past = [store.put(PODS, pod("a", x=str(number))) for number in range(REMEMBERED + 1)]
    assert orjson.loads(past[0].json) == past[0].obj
    assert past[1].remembered("form", lambda: b"bytes") == b"bytes"


def test_objects_come_in_the_order_of_etcd() -> None:
    store = Store()
    for namespace, name in (("b", "a"), ("a", "z"), ("a-b", "m"), ("a", "b"), ("a", "a.b")):
        store.put(PODS, pod(name, namespace))
    everything = [version.key for version in store.collection("pods").select()]
    # etcd compares the bytes of namespace/name, and "-" is less than "/"
    assert everything == [("a-b", "m"), ("a", "a.b"), ("a", "b"), ("a", "z"), ("b", "a")]
    assert names(store.collection("pods").select("a")) == ["a.b", "b", "z"]
    assert names(store.collection("pods").select("a-b")) == ["m"]
    assert names(store.collection("pods").select("nowhere")) == []


def test_listeners_hear_every_change_in_order_before_the_write_returns() -> None:
    store = Store()
    heard: list[tuple[str, str, str | None]] = []

    def listen(change: Change) -> None:
        previous = change.previous["metadata"]["labels"]["x"] if change.previous else None
        heard.append((change.type, change.object["metadata"]["labels"]["x"], previous))

    store.subscribe(listen)
    store.put(PODS, pod("a", x="1"))
    assert heard == [(ADDED, "1", None)]
    store.put(PODS, pod("a", x="2"))
    store.remove(PODS, ("default", "a"))
    assert heard[1:] == [(MODIFIED, "2", "1"), (DELETED, "2", "2")]


def test_a_listener_may_write() -> None:
    store = Store()
    seen: list[int] = []

    def follow(change: Change) -> None:
        seen.append(change.revision)
        if change.type == ADDED and change.object["metadata"]["name"] == "a":
            store.put(PODS, pod("b"))

    store.subscribe(follow)
    store.put(PODS, pod("a"))
    assert seen == sorted(seen)
    assert names(store.collection("pods").select()) == ["a", "b"]


def test_the_past_can_be_listed() -> None:
    store = Store()
    store.put(PODS, pod("a", x="1"))
    store.put(PODS, pod("b", x="1"))
    then = store.revision
    store.put(PODS, pod("a", x="2"))
    store.remove(PODS, ("default", "b"))
    store.put(PODS, pod("c", x="1"))
    past = store.collection("pods").as_of(then)
    assert [(version.key[1], version.obj["metadata"]["labels"]["x"]) for version in past] == [("a", "1"), ("b", "1")]
    assert names(store.collection("pods").as_of(store.revision)) == ["a", "c"]


def test_any_page_of_the_past_is_what_was_there() -> None:
    store, rng = Store(), random.Random(1)
    collection = store.collection("pods")
    seen = {store.revision: collection.select()}
    for _ in range(300):
        namespace, name = rng.choice(("a", "a-b", "b")), rng.choice("mnopq")
        if rng.random() < 0.4 and store.get("pods", namespace, name):
            store.remove(PODS, (namespace, name))
        else:
            store.put(PODS, pod(name, namespace))
        seen[store.revision] = collection.select()
    for revision, versions in seen.items():
        within, after = rng.choice((None, "a", "a-b", "b")), rng.choice(("", "a/n", "a-b/n", "b/zz"))
        page = collection.as_of(revision, within, after)
        expected = [one for one in versions if within in (None, one.key[0]) and path_of(*one.key) > after]
        assert list(page) == expected
        assert len(page) == len(expected)


def test_history_is_bounded_and_says_what_it_forgot() -> None:
    store = Store(history=10)
    for number in range(100):
        store.put(PODS, pod("a", x=str(number)))
    collection = store.collection("pods")
    kept = collection.since(collection.forgotten)
    assert 10 <= len(kept) < 20
    assert kept[0].revision > collection.forgotten
    assert kept[-1].revision == store.revision


def test_writes_of_one_kind_do_not_age_the_history_of_another() -> None:
    registry = default_registry()
    store = Store(history=10)
    store.put(registry.named("nodes"), {"metadata": {"name": "n"}})
    since = store.revision
    for number in range(100):
        store.put(PODS, pod("a", x=str(number)))
    assert store.collection("nodes").forgotten <= since


def test_an_unsubscribed_listener_hears_nothing_more() -> None:
    store = Store()
    heard: list[Change] = []
    store.subscribe(heard.append)
    store.unsubscribe(heard.append)
    store.put(PODS, pod("a"))
    assert heard == []


def test_removing_what_is_not_there_is_an_error() -> None:
    with pytest.raises(KeyError):
        Store().remove(PODS, ("default", "nobody"))
