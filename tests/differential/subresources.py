"""Writes to subresources, and of what belongs to one (a status) to the object itself: one after the other, each also
varied in dry runs before it is made and after.
"""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from .asking import PRESENT, Request
from .mutations import Schemas
from .objects import Base
from .patches import patches
from .questions import DRY

JSON = dict[str, Any]

FILE = Path(__file__).with_name("subresources.yaml")
_METHODS = ("GET", "PUT", "PATCH")
_ALL_METHODS = ("GET", "PUT", "PATCH", "POST", "DELETE")
_SHARE = 4  # one in so many mutations is of what does not belong to the subresource


class Write(NamedTuple):
    """A write to a subresource of an object."""

    subresource: str
    method: str
    methods: tuple[str, ...]  # that the subresource has
    merge: JSON | None  # laid over the object as it is
    body: JSON | None  # sent as it is
    only_dry: bool

    def on(self, current: JSON) -> JSON:
        """The body, where the object is that."""
        if self.body is not None:
            return copy.deepcopy(self.body)
        body: JSON = _merged(_merged(current, {"metadata": {"resourceVersion": PRESENT}}), self.merge or {})
        return body


def read_writes(base: Base) -> list[Write]:
    """Those to subresources of an object."""
    return [
        Write(
            written["subresource"],
            written.get("method", "PUT"),
            tuple(written.get("methods", _METHODS if "method" not in written else [written["method"]])),
            written.get("merge"),
            written.get("body"),
            written.get("dry", False),
        )
        for written in copy.deepcopy([one for one in _written_down() if one["of"] == base.name])
    ]


@cache
def _written_down() -> list[JSON]:
    return list(yaml.load_all(FILE.read_text(), yaml.CSafeLoader))


def variations(
    base: Base, write: Write, current: JSON, schemas: Schemas, count: int, seed: str
) -> Iterator[tuple[str, Request]]:
    """The write itself and others like it, as dry runs."""
    path, body = f"{base.path}/{write.subresource}", write.on(current)
    chance = random.Random(f"{seed} {base.name} {write.subresource}")
    for method in _ALL_METHODS:
        sent = None if method == "GET" else body
        yield f"{write.subresource} by {method}", Request(method, path, sent, _type(method), DRY)
    for what, changed in _changed(body, current, schemas, count, chance):
        yield f"{write.subresource}: {what}", Request(write.method, path, changed, query=DRY)
    for what, changed in _doubtful(body):
        yield f"{write.subresource}: {what}", Request(write.method, path, changed, query=DRY)
        other = f"{base.collection}/other/{write.subresource}"
        yield f"{write.subresource} of another: {what}", Request(write.method, other, changed, query=DRY)
    if "PATCH" in write.methods:
        for patch in patches(_about(body, current), f"{seed} {base.name} {write.subresource}", count):
            what = f"{write.subresource}: {patch.media_type.split('-')[0]} {patch.body}"
            yield what, Request("PATCH", path, patch.body, patch.media_type, DRY | patch.query)
    if write.merge is not None:  # the main resource does not take it, or all of it
        for what, changed in _changed(body, current, schemas, count // _SHARE, chance):
            yield f"object with {what}", Request("PUT", base.path, changed, query=DRY)
            new = {**changed, "metadata": {**(changed.get("metadata") or {}), "name": "new"}}
            new["metadata"].pop("resourceVersion", None)
            yield f"new object with {what}", Request("POST", base.collection, new, query=DRY)
        for patch in patches(_about(body, current), f"{seed} {base.name} main", count // _SHARE):
            what = f"object: {patch.media_type.split('-')[0]} {patch.body}"
            yield what, Request("PATCH", base.path, patch.body, patch.media_type, DRY | patch.query)


def itself(base: Base, write: Write, current: JSON) -> tuple[str, Request]:
    """The write, for good."""
    path = f"{base.path}/{write.subresource}"
    return f"{write.subresource} is written", Request(write.method, path, write.on(current))


def _type(method: str) -> str:
    return "application/merge-patch+json" if method == "PATCH" else "application/json"


def _about(body: JSON, current: JSON) -> JSON:
    """Return what patches are made from: what changes, and of the rest the metadata."""
    body = _merged(body, {"metadata": {"resourceVersion": None}})
    return {
        key: value
        for key, value in body.items()
        if key in ("apiVersion", "kind", "metadata") or value != current.get(key)
    }


def _changed(
    body: JSON, current: JSON, schemas: Schemas, count: int, chance: random.Random
) -> Iterator[tuple[str, JSON]]:
    """The body with one value another: most of them of what the write is about."""
    new = {key for key in body if key != "metadata" and body[key] != current.get(key)}
    mutations = list(schemas.mutations(body))
    chance.shuffle(mutations)
    about = [each for each in mutations if each.path[0] in new]
    others = [each for each in mutations if each.path[0] not in new]
    for mutation in [*about[: count - count // _SHARE], *others[: count // _SHARE]]:
        yield f"{'.'.join(map(str, mutation.path))} = {mutation.value!r}"[:200], mutation.object


def _doubtful(body: JSON) -> Iterator[tuple[str, JSON]]:
    """The body as that of another object, of another version of it, or of another kind."""
    metadata = body.get("metadata") or {}
    for key, value in (
        ("uid", "00000000-0000-0000-0000-000000000000"),
        ("resourceVersion", "1"),
        ("resourceVersion", "x"),
        ("resourceVersion", "0"),
        ("resourceVersion", ""),
        ("name", "other"),
        ("name", ""),
        ("namespace", "other"),
        ("namespace", ""),
        ("generation", 7),
        ("creationTimestamp", "2020-01-01T00:00:00Z"),
        ("deletionTimestamp", "2020-01-01T00:00:00Z"),
        ("finalizers", ["example.com/g"]),
        ("labels", {"new": "x"}),
        ("annotations", {"new": "x"}),
        ("ownerReferences", [{"apiVersion": "v1", "kind": "Node", "name": "x", "uid": "y"}]),
    ):
        yield f"{key} {value!r}", {**body, "metadata": {**metadata, key: value}}
    yield "another kind", {**body, "kind": "ConfigMap", "apiVersion": "v1"}
    yield "no such kind", {**body, "kind": "Nope"}
    yield "another version", {**body, "apiVersion": "nope/v1"}
    yield "no kind", {key: value for key, value in body.items() if key not in ("kind", "apiVersion")}
    yield "nothing", {}
    yield "only metadata", {"apiVersion": body["apiVersion"], "kind": body["kind"], "metadata": metadata}


def _merged(value: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = dict(value) if isinstance(value, dict) else {}
    for key, item in patch.items():
        if item is None:
            result.pop(key, None)
        else:
            result[key] = _merged(result.get(key), item)
    return result
