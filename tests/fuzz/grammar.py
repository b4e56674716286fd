"""The parts of requests: methods, paths, queries, headers and bodies, right ones and wrong ones, for the same seed
the same.
"""

from __future__ import annotations

import copy
import gzip
import json
import random
from collections.abc import Sequence
from typing import Any, NamedTuple

import yaml

from batkube.kube.codec.protobuf.encode import encode
from batkube.kube.codec.protobuf.wire import ProtobufError
from batkube.kube.schema.resources import Registry, ResourceType
from tests.differential.objects import Base
from tests.differential.patches import patches

JSON = Any

NAMESPACES = ("default", "default", "here", "there")
NAMES = ("a", "b", "c")

_METHODS = ("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE", "PROPFIND")
_DOCUMENTS = (
    "/api",
    "/apis",
    "/api/v1",
    "/apis/apps/v1",
    "/apis/nowhere/v1",
    "/openapi/v2",
    "/openapi/v3",
    "/openapi/v3/apis/apps/v1",
    "/version",
    "/readyz?verbose",
    "/livez/ping",
    "/metrics",
    "/",
)
_ODD_PATHS = (
    "/api/v1/namespaces/%ff/pods",
    "/api/v1/namespaces/default/pods/a%2Fb",
    "/api/v1/namespaces/default/pods/%",
    "/api/v1/namespaces//pods",
    "/api/v1/../apis",
    "/api/v1/pods/a",
    "/api/v1/watch/pods",
    "/api/v1/namespaces/default/pods/a/nonsense",
    "/apis/apps/v1/namespaces/default/deployments/a/scale/more",
    "//",
    "/api/v1/namespaces/" + "n" * 5000,
    "/apis/*/v1/*",
    "/api/v1/nodes/a/proxy/metrics",
)
_PARAMETERS = {
    "limit": ("1", "2", "0", "-1", "x", "99999999999999999999"),
    "continue": ("x", "e30", "eyJ2IjoibWV0YS5rOHMuaW8vdjEiLCJydiI6MSwic3RhcnQiOiJhIn0"),
    "resourceVersion": ("0", "1", "5", "99999999", "-1", "x", ""),
    "resourceVersionMatch": ("Exact", "NotOlderThan", "x"),
    "labelSelector": ("a=b", "a", "!a", "a in (b,c)", "a notin (b", "a==b,c!=d", "a>1", "=", "%zz", "b" * 300 + "=c"),
    "fieldSelector": ("metadata.name=a", "spec.nodeName=", "status.phase!=Running", "nope=1", "a", "metadata.name=a,b"),
    "timeoutSeconds": ("1", "-5", "x"),
    "allowWatchBookmarks": ("true", "maybe"),
    "sendInitialEvents": ("true", "false", "x"),
    "dryRun": ("All", "Some", ""),
    "fieldManager": ("me", "you", "x" * 200, "\x01"),
    "fieldValidation": ("Strict", "Warn", "Ignore", "Odd"),
    "force": ("true", "false", "x"),
    "gracePeriodSeconds": ("0", "1", "-1", "x", "30"),
    "propagationPolicy": ("Orphan", "Background", "Foreground", "Sideways"),
    "orphanDependents": ("true", "x"),
    "pretty": ("true", "0"),
    "includeObject": ("None", "Object", "Metadata", "x"),
    "tailLines": ("1", "-1", "x"),
    "container": ("c", "nope"),
    "nonsense": ("1",),
}
_ACCEPTED = (
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/vnd.kubernetes.protobuf,application/json",
    "application/json;as=Table;v=v1;g=meta.k8s.io,application/json",
    "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
    "application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
    "application/json;as=Table;v=v9;g=meta.k8s.io",
    "application/cbor",
    "text/html",
    "*/*",
    "application/json;q=x",
    ";;;",
)
_MEDIA_TYPES = (
    "application/json",
    "application/yaml",
    "application/vnd.kubernetes.protobuf",
    "application/json-patch+json",
    "application/merge-patch+json",
    "application/strategic-merge-patch+json",
    "application/apply-patch+yaml",
    "application/apply-patch+cbor",
    "application/cbor",
    "text/plain",
    "application/json; charset=latin-9",
    "nonsense",
)
_VALUES: Sequence[JSON] = (
    None,
    "",
    "x",
    "Bad_Value!",
    "a" * 300,
    "\u0000",
    "\ud83d\ude00",
    0,
    -1,
    1.5,
    2**31,
    2**63,
    1e300,
    True,
    [],
    {},
    [None],
    [[]],
    [{}],
    {"": {}},
    {"x": {"y": [1, "2", None]}},
    "100m",
    "1Ei1",
    "2026-01-01T00:00:00Z",
    "25:61",
)


_DOINGS = {"create": 6, "update": 3, "patch": 4, "delete": 2, "get": 3, "list": 3, "sweep": 1}
"""The kinds of requests about objects, and how often each is drawn."""


class Request(NamedTuple):
    """One, as it goes over the wire."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes

    @property
    def is_watch(self) -> bool:
        """Its answer may be a stream that does not end."""
        return self.method == "GET" and any(word in self.target for word in ("watch=", "/watch/", "follow="))


class Grammar:
    """Requests about the kinds of a registry; bodies begin with the valid objects given."""

    def __init__(self, seed: int, registry: Registry, bases: Sequence[Base]) -> None:
        self._chance = random.Random(seed)
        self._kinds = [resource for resource in registry if not resource.hidden]
        self._registry = registry
        self._bases = bases

    def request(self) -> Request:
        """The next one."""
        draw = self._chance.random()
        if draw < 0.04:
            return self._plain("GET", self._chance.choice(_DOCUMENTS))
        if draw < 0.08:
            return self._plain(self._chance.choice(_METHODS), self._chance.choice(_ODD_PATHS))
        if draw < 0.25:
            return self._about_any_kind()
        return self._about_an_object()

    def _plain(self, method: str, path: str) -> Request:
        return Request(method, path, self._headers(), b"" if method in ("GET", "HEAD") else self._garbage())

    def _about_any_kind(self) -> Request:
        """A path that is there, with whatever method and body."""
        resource = self._chance.choice(self._kinds)
        path = self._path(resource, named=self._chance.random() < 0.6)
        method = self._chance.choice(_METHODS[:5])
        body = b"" if method == "GET" else self._body(self._changed(self._base().object))
        return Request(method, path + self._query(), self._headers(body), body)

    def _about_an_object(self) -> Request:
        """Draw a request about an object, as clients send it; most have few faults."""
        base = self._base()
        resource = self._registry.by_kind(base.object["apiVersion"], base.object["kind"])
        assert resource is not None
        doing = self._chance.choices(list(_DOINGS), list(_DOINGS.values()))[0]
        few = 0.3 if self._chance.random() < 0.7 else 1.5  # faults and parameters
        if doing in ("get", "list"):
            path = self._path(resource, named=doing == "get")
            method = "GET" if self._chance.random() < 0.95 else "HEAD"
            return Request(method, path + self._query(few), self._headers(), b"")
        if doing in ("delete", "sweep"):
            path = self._path(resource, named=doing == "delete")
            body = b"" if self._chance.random() < 0.5 else self._json(self._delete_options())
            return Request("DELETE", path + self._query(few), self._headers(body), body)
        obj = copy.deepcopy(base.object)
        obj["metadata"]["name"] = self._chance.choice(NAMES)
        obj["metadata"].pop("namespace", None)
        if self._chance.random() < 0.8:  # else what holds up their end: finalizers, owners
            obj["metadata"] = {key: obj["metadata"][key] for key in ("name", "labels") if key in obj["metadata"]}
        if doing == "create" and self._chance.random() < 0.1:
            obj["metadata"]["generateName"] = obj["metadata"].pop("name") + "-"
        path = self._path(resource, named=doing != "create", name=obj["metadata"].get("name", "a"))
        if doing == "patch":
            patch = next(patches(obj, str(self._chance.random()), 1))
            query = self._query(few, **patch.query)
            body = self._json(patch.body)
            media_type = patch.media_type if self._chance.random() < 0.95 else self._chance.choice(_MEDIA_TYPES)
            return Request("PATCH", path + query, self._headers(body, media_type), body)
        body = self._body(self._changed(obj, few))
        return Request("POST" if doing == "create" else "PUT", path + self._query(few), self._headers(body), body)

    def _base(self) -> Base:
        return self._chance.choice(self._bases)

    def _path(self, resource: ResourceType, *, named: bool, name: str = "") -> str:
        root = f"/apis/{resource.api_version}" if resource.group else f"/api/{resource.version}"
        scope = f"/namespaces/{self._chance.choice(NAMESPACES)}" if resource.namespaced else ""
        if resource.namespaced and self._chance.random() < 0.1:
            scope = ""
        path = f"{root}{scope}/{resource.plural}"
        if named:
            right = name and self._chance.random() < 0.95
            path += "/" + (name if right else self._chance.choice((*NAMES, "nope", "A_b")))
            if resource.subresources and self._chance.random() < 0.2:
                path += "/" + self._chance.choice(sorted(resource.subresources))
        return path

    def _query(self, few: float = 0.8, **given: str) -> str:
        chosen = dict(given)
        while self._chance.random() < few / 2 and len(chosen) < 5:
            name = self._chance.choice(sorted(_PARAMETERS))
            chosen[name] = self._chance.choice(_PARAMETERS[name])
        if self._chance.random() < 0.01:
            chosen |= {"watch": "true", "timeoutSeconds": "1"}
        pairs = (f"{name}={_escaped(value)}" for name, value in chosen.items())
        return "?" + "&".join(pairs) if chosen else ""

    def _headers(self, body: bytes = b"", media_type: str = "") -> dict[str, str]:
        accept = _ACCEPTED[0] if self._chance.random() < 0.6 else self._chance.choice(_ACCEPTED)
        headers = {"Accept": accept, "User-Agent": "fuzz/1"}
        if body:
            headers["Content-Type"] = media_type or _type_of(body)
            if self._chance.random() < 0.05:
                headers["Content-Type"] = self._chance.choice(_MEDIA_TYPES)
        if self._chance.random() < 0.1:
            headers["Accept-Encoding"] = "gzip"
        if self._chance.random() < 0.01:
            headers["Content-Encoding"] = "gzip"
        return headers

    def _changed(self, obj: JSON, few: float = 0.8) -> JSON:
        """With some places put out of order."""
        obj = copy.deepcopy(obj)
        while self._chance.random() < few / 2:
            places = list(_places(obj))
            if not places:
                return self._chance.choice(_VALUES)
            holder, step = self._chance.choice(places)
            if self._chance.random() < 0.3:
                del holder[step]
            elif self._chance.random() < 0.2 and isinstance(holder, dict):
                holder["unknown"] = 1
            else:
                holder[step] = copy.deepcopy(self._chance.choice(_VALUES))
        return obj

    def _body(self, obj: JSON) -> bytes:
        draw = self._chance.random()
        if draw < 0.06:
            return self._garbage()
        if draw < 0.16:
            return yaml.safe_dump(obj).encode(errors="surrogatepass")
        if draw < 0.36 and isinstance(obj, dict):
            try:
                body = encode(obj)
            except (ProtobufError, ValueError, TypeError, AttributeError):  # it is too far out of order
                return self._json(obj)
            return self._broken(body) if self._chance.random() < 0.3 else body
        body = self._json(obj)
        return self._broken(body) if self._chance.random() < 0.05 else body

    def _broken(self, body: bytes) -> bytes:
        at = self._chance.randrange(len(body))
        cut, odd = body[:at], bytes([self._chance.randrange(256)])
        return self._chance.choice((cut, cut + odd + body[at + 1 :], cut + odd + body[at:], body + odd))

    def _garbage(self) -> bytes:
        return self._chance.choice(
            (
                b"{",
                b"null",
                b"[]",
                b"7",
                b'"x"',
                b"{}",
                b"k8s\x00",
                b"k8s\x00\xff\xff\xff\xff",
                b"\xff\xfe",
                b"a: [b",
                b"- - -",
                b"&a [*a]",
                b'{"a":' * 200 + b"1" + b"}" * 200,
                b"[" * 20_000,
                b'{"kind":"Pod","kind":"Pod"}',
                b'{"apiVersion":"v1","kind":"Pod","metadata":{"name":7}}',
                gzip.compress(b"{}", mtime=0),
                self._chance.randbytes(40),
            )
        )

    def _delete_options(self) -> JSON:
        options: JSON = {"kind": "DeleteOptions", "apiVersion": "v1"}
        for name, values in (
            ("gracePeriodSeconds", (0, 5, -1, "x")),
            ("propagationPolicy", ("Orphan", "Background", "Foreground", "x")),
            ("preconditions", ({"uid": "x"}, {"resourceVersion": "1"}, {}, 7)),
            ("dryRun", (["All"], ["x"], "All")),
        ):
            if self._chance.random() < 0.3:
                options[name] = self._chance.choice(values)
        return options

    def _json(self, value: JSON) -> bytes:
        return json.dumps(value).encode()


def _places(value: JSON) -> list[tuple[Any, Any]]:
    """All places of an object: what holds them, and the key or index there."""
    found: list[tuple[Any, Any]] = []
    steps = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else ()
    for step in steps:
        found.append((value, step))
        found += _places(value[step])
    return found


def _type_of(body: bytes) -> str:
    if body.startswith(b"k8s\x00"):
        return "application/vnd.kubernetes.protobuf"
    return "application/json" if body[:1] in b'{["7n' else "application/yaml"


def _escaped(value: str) -> str:
    return "".join(c if c.isalnum() or c in "%-_.," else f"%{ord(c):02x}" for c in value)
