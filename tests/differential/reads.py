"""Requests at random that change nothing: lists, watches and gets with all their parameters and forms, dry deletes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from typing import Any

from .asking import Request
from .objects import Base

JSON = Any

_FORMS = (
    "application/json",
    "application/yaml",
    "application/json;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=Table;v=v1beta1;g=meta.k8s.io",
    "application/json;as=Table;v=v2;g=meta.k8s.io",
    "application/yaml;as=Table;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io,application/json;q=0.5",
    "application/json;as=Nothing;v=v1;g=meta.k8s.io",
    "application/json;pretty=1",
    "application/json;stream=watch",
    "application/vnd.kubernetes.protobuf",
    "application/vnd.kubernetes.protobuf, application/json",
    "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf;stream=watch",
    "application/cbor",
    "application/cbor,application/json",
    "*/*",
    "application/*",
    "text/html",
    "text/html,*/*;q=0.1",
    "text/plain",
    "application/json;q=0",
    "application/xml",
    "nonsense",
    "application/json;charset=utf-8",
    "",
)
_LABELS = (
    *(
        "a=b",
        "a==b",
        "a!=b",
        "a",
        "!a",
        "a,!x",
        "a in (b)",
        "a in (b,c),x notin (y)",
        "a in ()",
        "a notin (b)",
        "",
        ",",
    ),
    *("=", "a=", "=b", "a>1", "a<x", "a=b c", "a in b", "(a)", "a=b,,c", "!", "!a=b", "A/b=c", "/b=c", "a/b/c=d"),
    *(
        "a=-",
        "a=b,",
        " a = b ",
        "a in (b,",
        "in in (in)",
        "a exists",
        "a=b=c",
        "x" * 64,
        "a=" + "x" * 64,
        "a.b/c=d",
        "é=e",
    ),
)
_FIELDS = (
    *("metadata.name={name}", "metadata.name!={name}", "metadata.namespace=default", "metadata.namespace!=default"),
    *("metadata.name={name},metadata.namespace=default", "metadata.name==nothing", "metadata.name", "=", "a=b", ""),
    *(
        "metadata.uid=x",
        "metadata.labels.a=b",
        "spec.nodeName=",
        "spec.nodeName=n",
        "spec.schedulerName=default-scheduler",
    ),
    *(
        "status.phase=Running",
        "status.phase!=Running",
        "spec.unschedulable=true",
        "spec.unschedulable=false",
        "type=Opaque",
    ),
    *("involvedObject.kind=Pod", "reason=x", "reportingComponent=", "status.successful=0", "status.replicas=0"),
    *("spec.restartPolicy=Always", "status.podIP=", "spec.serviceAccountName=default", "spec.hostNetwork=false"),
    *(
        "metadata.name={name},",
        ",",
        "metadata.name>a",
        "metadata.name in ({name})",
        "metadata.name=a\\,b",
        "metadata.name=a\\",
    ),
    *(
        "status.nominatedNodeName=",
        "spec.clusterIP=None",
        "spec.type=ClusterIP",
        "metadata.name={name},metadata.name=x",
    ),
)
_VERSIONS = ("", "0", "${now}", "${now}", "1", "-1", "x", "999999999", "01", "1.5", "99999999999999999999")
_FLAGS = ("true", "false", "1", "0", "", "t", "True", "x", "yes")
_PARAMETERS: dict[str, Sequence[str]] = {
    "labelSelector": _LABELS,
    "fieldSelector": _FIELDS,
    "limit": ("1", "2", "3", "0", "-1", "x", "", "1.5", "500", "9223372036854775808"),
    "continue": ("", "x", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0", "e30", "e30="),
    "resourceVersion": _VERSIONS,
    "resourceVersionMatch": ("Exact", "NotOlderThan", "", "x"),
    "watch": _FLAGS,
    "timeoutSeconds": ("1", "0", "-1", "x", "", "1.5"),
    "allowWatchBookmarks": _FLAGS,
    "sendInitialEvents": _FLAGS,
    "pretty": _FLAGS,
    "includeObject": ("None", "Metadata", "Object", "", "x"),
    "export": _FLAGS,
    "exact": _FLAGS,
    "timeout": ("1s", "1", "x", "0s", "100ms"),
    "dryRun": ("All", "all", "", "x"),
    "unknown": ("x",),
}
_DELETE_PARAMETERS: dict[str, Sequence[str]] = {
    "uid": ("x", ""),
    "gracePeriodSeconds": ("0", "1", "-1", "x", "", "30"),
    "propagationPolicy": ("Orphan", "Background", "Foreground", "x", "", "foreground"),
    "orphanDependents": _FLAGS,
    "ignoreStoreReadErrorWithClusterBreakingPotential": _FLAGS,
    "labelSelector": _LABELS,
    "fieldSelector": _FIELDS,
    "limit": ("1", "x", "-1"),
    "continue": ("x",),
    "resourceVersion": _VERSIONS,
    "resourceVersionMatch": ("Exact", "NotOlderThan", "x"),
    "pretty": ("true",),
    "fieldManager": ("a", "x" * 129),
    "timeoutSeconds": ("1", "x"),
}
_OPTIONS: tuple[JSON, ...] = (
    {},
    {"gracePeriodSeconds": 0},
    {"gracePeriodSeconds": -1},
    {"gracePeriodSeconds": "0"},
    {"propagationPolicy": "Foreground"},
    {"propagationPolicy": "x"},
    {"propagationPolicy": "Orphan", "orphanDependents": True},
    {"orphanDependents": True},
    {"orphanDependents": "x"},
    {"preconditions": {"uid": "x"}},
    {"preconditions": {"resourceVersion": "1"}},
    {"preconditions": {"resourceVersion": ""}},
    {"preconditions": {}},
    {"preconditions": []},
    {"dryRun": ["All"]},
    {"dryRun": ["x"]},
    {"dryRun": ["All", "All"]},
    {"dryRun": "All"},
    {"unknown": 1},
    {"kind": "DeleteOptions", "apiVersion": "v1"},
    {"kind": "DeleteOptions", "apiVersion": "meta.k8s.io/v1", "gracePeriodSeconds": 5},
    {"kind": "DeleteOptions", "apiVersion": "apps/v1"},
    {"kind": "DeleteOptions", "apiVersion": "nope/v1"},
    {"kind": "Pod", "apiVersion": "v1"},
    {"kind": "DeleteOptions"},
    {"apiVersion": "v1"},
    {"ignoreStoreReadErrorWithClusterBreakingPotential": True},
    [],
    "x",
    1,
    True,
)


def reads(base: Base, seed: str, count: int) -> Iterator[tuple[str, Request]]:
    """Requests about an object that is there, and its neighbours; the same for the same seed."""
    chance = random.Random(seed)
    for _ in range(count):
        request = _deletion(chance, base) if chance.random() < 0.2 else _read(chance, base)
        said = "&".join(f"{name}={value}" for name, value in request.query.items())
        yield f"{request.path}?{said} {dict(request.headers)} {request.body or ''}", request


def _read(chance: random.Random, base: Base) -> Request:
    path = _path(chance, base)
    names = chance.sample(sorted(_PARAMETERS), chance.choice((0, 1, 1, 2, 2, 3, 4)))
    query = {name: _value(chance, _PARAMETERS[name], base) for name in names}
    if "/watch/" in path or query.get("watch", "false") not in ("false", "0", "False"):
        query["timeoutSeconds"] = "1"
    headers = {}
    if chance.random() < 0.5:
        headers["Accept"] = chance.choice(_FORMS)
    method = chance.choices(("GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH"), (40, 1, 1, 1, 1, 1))[0]
    return Request(method, path, None, query=query, headers=headers)


def _deletion(chance: random.Random, base: Base) -> Request:
    """Never one that takes effect."""
    names = chance.sample(sorted(_DELETE_PARAMETERS), chance.choice((0, 0, 1, 2)))
    query = {name: _value(chance, _DELETE_PARAMETERS[name], base) for name in names}
    path = chance.choice((base.path, base.path, base.collection, base.path + "x", base.path + "/status"))
    body = chance.choice((None, None, *_OPTIONS))
    if body is None:
        query["dryRun"] = "All"
    elif isinstance(body, dict):  # the query counts for nothing then
        body = {"dryRun": ["All"], **body}
    kind = chance.choices(
        ("application/json", "application/yaml", "text/plain", "", "application/merge-patch+json"), (20, 4, 1, 1, 1)
    )[0]
    return Request("DELETE", path, body, kind, query)


def _value(chance: random.Random, values: Sequence[str], base: Base) -> str:
    return chance.choice(values).replace("{name}", base.object["metadata"]["name"])


def _path(chance: random.Random, base: Base) -> str:
    root, _, plural = base.collection.rpartition("/")
    group = root.removesuffix("/namespaces/default")
    everywhere = f"{group}/{plural}"
    watching = base.path.replace(group, f"{group}/watch", 1)
    paths = {
        base.collection: 20,
        base.path: 12,
        everywhere: 12,
        base.path + "x": 3,
        base.path + "/status": 2,
        base.path + "/scale": 1,
        base.path + "/nothing": 1,
        base.path + "/status/x": 1,
        base.path + "/": 1,
        base.collection + "/": 1,
        f"{group}/watch/{plural}": 1,
        watching: 1,
        watching.rpartition("/")[0]: 1,
        f"{group}/namespaces/nowhere/{plural}": 2,
        f"{group}/namespaces/default/{plural}/{base.object['metadata']['name']}": 1,
        f"{group}x/{plural}": 1,
        f"{group}/{plural}x": 1,
        f"{group}": 1,
        f"{group}/": 1,
    }
    return chance.choices(list(paths), list(paths.values()))[0]
