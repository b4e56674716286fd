"""Definitions of custom resources at random, objects for them, right and wrong, and what is asked about both."""

from __future__ import annotations

import copy
import random
from collections.abc import Iterator
from typing import Any

from .asking import Request

JSON = Any

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
_PATCHES = {
    "json": "application/json-patch+json",
    "merge": "application/merge-patch+json",
    "strategic": "application/strategic-merge-patch+json",
    "apply": "application/apply-patch+yaml",
}
_NAMES = ("a", "b", "c", "d")
_FORMATS = ("date-time", "date", "duration", "ipv4", "ipv6", "cidr", "uuid", "byte", "email", "hostname", "uri", "nope")
_WRONG: tuple[JSON, ...] = (None, "", "x", "ZZ", 0, 1, 3, 1.5, -1, 10**10, True, [], {}, ["x", "x"], {"a": 1})
_WRITES = ("create", "create", "put", "json", "merge", "merge", "apply", "apply", "apply", "get")
_TEXTS = ("", "x", "ab", "abc", "A", "1", "2020-01-01T00:00:00Z", "2020-01-01", "5m", "10.0.0.1", "::1", "10.0.0.0/8")


class Kind:
    """A definition made at random, and what can be asked about it. The same for the same seed."""

    def __init__(self, seed: str) -> None:
        self._chance = random.Random(seed)
        self.group = f"g{abs(self._chance.getrandbits(40)):x}.example.com"
        self.status = self._chance.random() < 0.5
        self.scale = self._chance.random() < 0.3
        self.versions = ["v1", "v2"] if self._chance.random() < 0.3 else ["v1"]
        self.schemas = {name: self._root() for name in self.versions}

    # -- schemas

    def _root(self) -> JSON:
        properties = {"spec": self._object(0)}
        if self.scale:
            properties["spec"]["properties"]["n"] = {"type": "integer"}
            properties["spec"].pop("additionalProperties", None)
        if self.status or self._chance.random() < 0.5:
            properties["status"] = self._object(1)
        return {"type": "object", "properties": properties}

    def _object(self, depth: int) -> JSON:
        names = self._chance.sample(_NAMES, self._chance.randint(1, 4))
        made: JSON = {"type": "object", "properties": {name: self._schema(depth + 1) for name in names}}
        if self._chance.random() < 0.2:
            made["required"] = self._chance.sample(names, 1)
        if self._chance.random() < 0.15:
            made["x-kubernetes-preserve-unknown-fields"] = True
        if self._chance.random() < 0.1:
            made["x-kubernetes-map-type"] = self._chance.choice(["atomic", "granular"])
        return made

    def _schema(self, depth: int) -> JSON:
        kinds = ["string", "string", "integer", "number", "boolean", "either", "free"]
        if depth < 4:
            kinds += ["object", "object", "map", "atomic", "set", "keyed", "keyed", "embedded"]
        made = getattr(self, f"_{self._chance.choice(kinds)}")(depth)
        if made.get("properties") and self._chance.random() < 0.15:
            made = self._combined(made)
        if self._chance.random() < 0.1:
            made["nullable"] = True
        if self._chance.random() < 0.15:
            made["default"] = self.value(made)
        return made

    def _string(self, depth: int) -> JSON:
        made: JSON = {"type": "string"}
        rule = self._chance.choice(["", "", "", "format", "enum", "pattern", "length"])
        if rule == "format":
            made["format"] = self._chance.choice(_FORMATS)
        elif rule == "enum":
            made["enum"] = ["x", "ab"]
        elif rule == "pattern":
            made["pattern"] = "^[a-z]*$"
        elif rule == "length":
            made |= {"minLength": 1, "maxLength": 2}
        return made

    def _integer(self, depth: int) -> JSON:
        made: JSON = {"type": "integer"}
        rule = self._chance.choice(["", "", "format", "bounds", "open", "multiple", "enum"])
        if rule == "format":
            made["format"] = self._chance.choice(["int32", "int64"])
        elif rule == "bounds":
            made |= {"minimum": 1, "maximum": 5}
        elif rule == "open":
            made |= {"minimum": 1, "exclusiveMinimum": True, "maximum": 5, "exclusiveMaximum": True}
        elif rule == "multiple":
            made["multipleOf"] = 2
        elif rule == "enum":
            made["enum"] = [1, 2]
        return made

    def _number(self, depth: int) -> JSON:
        return {"type": "number"} | self._chance.choice(
            [{}, {"minimum": 0.5}, {"format": "double"}, {"multipleOf": 0.5}]
        )

    def _boolean(self, depth: int) -> JSON:
        return {"type": "boolean"}

    def _either(self, depth: int) -> JSON:
        made: JSON = {"x-kubernetes-int-or-string": True}
        if self._chance.random() < 0.5:
            made["anyOf"] = [{"type": "integer"}, {"type": "string"}]
        return made

    def _free(self, depth: int) -> JSON:
        return {"x-kubernetes-preserve-unknown-fields": True} | self._chance.choice([{}, {"type": "object"}])

    def _combined(self, schema: JSON) -> JSON:
        names = list(schema["properties"])
        key = self._chance.choice(["oneOf", "anyOf", "allOf", "not"])
        parts = [{"required": [name]} for name in names[:2]]
        schema[key] = parts[0] if key == "not" else parts
        return schema

    def _map(self, depth: int) -> JSON:
        made = {"type": "object", "additionalProperties": self._schema(depth + 1)}
        if self._chance.random() < 0.2:
            made |= {"minProperties": 1, "maxProperties": 2}
        return made

    def _atomic(self, depth: int) -> JSON:
        made: JSON = {"type": "array", "items": self._schema(depth + 1)}
        if self._chance.random() < 0.3:
            made["x-kubernetes-list-type"] = "atomic"
        if self._chance.random() < 0.2:
            made |= {"minItems": 1, "maxItems": 2}
        return made

    def _set(self, depth: int) -> JSON:
        items = self._chance.choice([self._string, self._integer])(depth)
        return {"type": "array", "x-kubernetes-list-type": "set", "items": items}

    def _keyed(self, depth: int) -> JSON:
        items = self._object(depth)
        items.pop("x-kubernetes-map-type", None)
        keys = ["k", "p"] if self._chance.random() < 0.4 else ["k"]
        items["properties"]["k"] = {"type": "string"}
        items["required"] = ["k"]
        if len(keys) == 2:
            items["properties"]["p"] = {"type": "string", "default": "TCP"}
        return {
            "type": "array",
            "x-kubernetes-list-type": "map",
            "x-kubernetes-list-map-keys": keys,
            "items": items,
        }

    def _embedded(self, depth: int) -> JSON:
        made = self._object(depth)
        made.pop("x-kubernetes-map-type", None)
        return made | {"x-kubernetes-embedded-resource": True, "x-kubernetes-preserve-unknown-fields": True}

    # -- values

    def value(self, schema: JSON, depth: int = 0) -> JSON:
        """A value that fits the schema, mostly."""
        chance, json_type = self._chance, schema.get("type")
        if "enum" in schema:
            return chance.choice(schema["enum"])
        if json_type == "string":
            return chance.choice(_TEXTS) if "format" in schema else chance.choice(["x", "ab", "abc"])
        if json_type == "integer" or schema.get("x-kubernetes-int-or-string"):
            return chance.choice([1, 2, 2, 4, 7])
        if json_type == "number":
            return chance.choice([1, 1.5, 2])
        if json_type == "boolean":
            return chance.random() < 0.5
        if json_type == "array":
            count = chance.choice([0, 1, 2, 2, 3])
            return [self.value(schema["items"], depth + 1) for _ in range(count)]
        if "additionalProperties" in schema:
            names = chance.sample(_NAMES, chance.randint(0, 2))
            return {name: self.value(schema["additionalProperties"], depth + 1) for name in names}
        properties = schema.get("properties") or {}
        needed = schema.get("required") or ()
        made = {
            name: self.value(inner, depth + 1)
            for name, inner in properties.items()
            if name in needed or chance.random() < 0.7
        }
        if "k" in properties:
            made["k"] = chance.choice(["x", "y", "z"])
        if schema.get("x-kubernetes-embedded-resource"):
            made |= {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "in", "labels": {"a": "b"}}}
        if not properties and not made:
            made = {"free": chance.choice([1, "x", None, {"y": [1]}])}
        return made

    def _mutated(self, value: JSON) -> JSON:
        """The value with one part of it wrong, or left out."""
        changed = copy.deepcopy(value)
        places = list(_places(changed))
        if not places:
            return changed
        holder, key = self._chance.choice(places)
        how = self._chance.random()
        if how < 0.15:
            del holder[key]
        elif how < 0.25 and isinstance(holder, dict):
            holder["zz"] = self._chance.choice([1, None, {"y": 1}])
        elif how < 0.35 and isinstance(holder, list):
            holder.append(copy.deepcopy(holder[key]))
        else:
            holder[key] = copy.deepcopy(self._chance.choice(_WRONG))
        return changed

    # -- requests

    def definition(self) -> JSON:
        """The definition itself."""
        subresources: JSON = {"status": {}} if self.status else {}
        if self.scale:
            subresources["scale"] = {"specReplicasPath": ".spec.n", "statusReplicasPath": ".status.n"}
        versions = [
            {
                "name": name,
                "served": True,
                "storage": name == "v1",
                "schema": {"openAPIV3Schema": self.schemas[name]},
                "subresources": subresources,
            }
            for name in self.versions
        ]
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": f"widgets.{self.group}"},
            "spec": {
                "group": self.group,
                "scope": "Namespaced",
                "names": {"plural": "widgets", "kind": "Widget"},
                "versions": versions,
            },
        }

    def collection(self, version: str = "v1") -> str:
        return f"/apis/{self.group}/{version}/namespaces/default/widgets"

    def _object_of(self, version: str, name: str, wrong: float) -> JSON:
        made: JSON = {"spec": self.value(self.schemas[version]["properties"]["spec"])}
        if "status" in self.schemas[version]["properties"] and self._chance.random() < 0.4:
            made["status"] = self.value(self.schemas[version]["properties"]["status"])
        while self._chance.random() < wrong:
            made = self._mutated(made)
        return {"apiVersion": f"{self.group}/{version}", "kind": "Widget", "metadata": {"name": name}, **made}

    def requests(self, count: int) -> Iterator[Request]:
        """Writes and reads of a few objects, each of which both servers get after the one before it."""
        chance = self._chance
        for _ in range(count):
            version, name = chance.choice(self.versions), chance.choice(["one", "two", "three"])
            path = f"{self.collection(version)}/{name}"
            manager = chance.choice(["", "m1", "m2"])
            query: dict[str, str] = {"fieldManager": manager} if manager else {}
            if chance.random() < 0.3:
                query["fieldValidation"] = chance.choice(["Strict", "Ignore", "Warn"])
            what = chance.choice(_WRITES)
            part = "/status" if self.status and chance.random() < 0.2 else ""
            if what == "create":
                yield Request("POST", self.collection(version), self._object_of(version, name, 0.4), query=query)
            elif what == "put":
                yield Request("PUT", path + part, self._object_of(version, name, 0.4), query=query)
            elif what == "get":
                yield Request("GET", path, None)
            elif what == "json":
                yield Request("PATCH", path + part, self._operations(version), _PATCHES["json"], query)
            elif what == "merge":
                body = self._object_of(version, name, 0.5)
                del body["metadata"], body["apiVersion"], body["kind"]
                yield Request("PATCH", path + part, body, _PATCHES["merge"], query)
            else:
                query["fieldManager"] = chance.choice(["a1", "a2"])
                if chance.random() < 0.4:
                    query["force"] = "true"
                body = self._object_of(version, name, 0.25)
                yield Request("PATCH", path + part, body, _PATCHES["apply"], query)
            if chance.random() < 0.3:
                yield Request("GET", f"{self.collection(chance.choice(self.versions))}/{name}", None)
            if chance.random() < 0.08:
                yield Request("DELETE", path, None)

    def _operations(self, version: str) -> JSON:
        value = self.value(self.schemas[version])
        places = [(path, item) for path, item in _pointers(value) if path]
        operations = []
        for _ in range(self._chance.choice([1, 1, 2])):
            if not places:
                break
            path, item = self._chance.choice(places)
            given = self._chance.choice([item, item, None, "x", 1, [], {}])
            what = self._chance.choice(["add", "add", "replace", "remove", "test"])
            operations.append({"op": what, "path": path, "value": given})
        return operations


def _places(value: JSON) -> Iterator[tuple[JSON, Any]]:
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in list(parts):
        yield value, key
        yield from _places(item)


def _pointers(value: JSON, path: str = "") -> Iterator[tuple[str, JSON]]:
    yield path, value
    parts = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in parts:
        yield from _pointers(item, f"{path}/{key}")
