"""The older OpenAPI document, `/openapi/v2`: all definitions in one, as JSON or in the protobuf encoding of gnostic.

kubectl asks for it, only as protobuf, if the newer documents do not have a kind: a List, or a kind that is not served.
It has only the paths that kubectl looks for: the types of patches that a kind takes and, for kubectl before 1.27, some
of their parameters (dry run, validation of fields).
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import Any

import orjson

from ..codec.answers import HttpAnswer, answer_object
from ..codec.negotiation import parse_accept
from ..codec.protobuf.wire import BYTES, FIXED64, VARINT, varint
from ..schema.resources import Registry
from . import openapi
from .openapi import INFO, REFERENCE

JSON = dict[str, Any]

_PROTOBUF = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf"
_OFFERED = {
    "application/json": False,
    _PROTOBUF: True,
    "application/com.github.proto-openapi.spec.v2@v1.0+protobuf": True,  # as older clients, and kubectl, write it
    "application/*": False,
    "*/*": False,
}
"""The media types that a client may ask for; True if the answer is protobuf (`k8s.io/kube-openapi/pkg/handler`)."""


def answer(registry: Registry, accept: str) -> HttpAnswer:
    """Return the answer to a GET of `/openapi/v2`: 406 if the client accepts neither form."""
    for clause in parse_accept(accept or "*/*"):
        protobuf = _OFFERED.get(clause.media_type)
        if protobuf is None:
            continue
        document = swagger(registry)
        if not protobuf:
            return answer_object(200, document)
        return HttpAnswer(200, encode(document), _PROTOBUF.encode())
    return HttpAnswer(406, b"", b"")


def swagger(registry: Registry) -> JSON:
    """Return the definitions of all that is served."""
    schemas: JSON = {}
    paths: JSON = {}
    for group, version in openapi.versions(registry):
        document = openapi.document(registry, group, version)
        schemas.update(document["components"]["schemas"])
        paths |= {
            path: {"patch": _patch(methods["patch"])}
            for path, methods in document["paths"].items()
            if "patch" in methods
        }
    definitions = {name: _older(schema) for name, schema in sorted(schemas.items())}
    return {"swagger": "2.0", "info": INFO, "paths": dict(sorted(paths.items())), "definitions": definitions}


def _patch(operation: JSON) -> JSON:
    """Return a patch operation with the parameters of its query."""
    parameters = [
        {"uniqueItems": True, "type": parameter["schema"]["type"], "name": parameter["name"], "in": "query"}
        for parameter in operation["parameters"]
        if parameter["in"] == "query"
    ]
    extensions = {key: value for key, value in operation.items() if key.startswith("x-")}
    consumes = list(operation["requestBody"]["content"])
    return {"consumes": consumes, "parameters": parameters, "responses": {"200": {"description": "OK"}}, **extensions}


def _older(schema: JSON) -> JSON:
    """Return a schema in OpenAPI v2: references to definitions, none of them wrapped; one type; no defaults."""
    wrapped = schema.get("allOf")
    if isinstance(wrapped, list) and len(wrapped) == 1 and "$ref" in wrapped[0]:
        schema = {key: item for key, item in schema.items() if key != "allOf"} | wrapped[0]
    if "oneOf" in schema and "type" not in schema:  # quantities, and what is a number or a text
        schema = {**schema, "type": "string"}
    result: JSON = {}
    for key, item in schema.items():
        if key in ("default", "nullable", "oneOf", "anyOf", "not"):
            continue
        if key == "properties":
            result[key] = {name: _older(part) for name, part in item.items()}
        elif key in ("items", "additionalProperties") and isinstance(item, dict):
            result[key] = _older(item)
        elif key == "allOf":
            result[key] = [_older(part) for part in item]
        elif key == "$ref":
            result[key] = item.replace(REFERENCE, "#/definitions/")
        else:
            result[key] = item
    return result


# -- protobuf: `openapiv2/OpenAPIv2.proto` of github.com/google/gnostic-models


def encode(document: JSON) -> bytes:
    """Return the message Document."""
    info = b"".join((_text(1, document["info"]["title"]), _text(2, document["info"]["version"])))
    definitions = _named_schemas(document["definitions"])
    paths = b"".join(
        _bytes(2, _text(1, path) + _bytes(2, _bytes(8, _operation(methods["patch"]))))
        for path, methods in document["paths"].items()
    )
    return b"".join((_text(1, document["swagger"]), _bytes(2, info), _bytes(8, paths), _bytes(9, definitions)))


def _operation(operation: JSON) -> bytes:
    """Return the message Operation, without its responses."""
    parameters = b"".join(
        _bytes(8, _bytes(1, _bytes(2, _bytes(3, _query(parameter))))) for parameter in operation["parameters"]
    )
    extensions = (_extension(13, key, value) for key, value in operation.items() if key.startswith("x-"))
    return b"".join((_texts(7, operation["consumes"]), parameters, *extensions))


def _query(parameter: JSON) -> bytes:
    """Return the message QueryParameterSubSchema."""
    return (
        _text(2, parameter["in"])
        + _text(4, parameter["name"])
        + _text(6, parameter["type"])
        + _int(20, parameter["uniqueItems"])
    )


def _extension(number: int, key: str, value: Any) -> bytes:
    return _bytes(number, _text(1, key) + _bytes(2, _any(value)))


def _named_schemas(schemas: JSON) -> bytes:
    """Return the content of the messages Definitions and Properties."""
    return b"".join(_bytes(1, _text(1, name) + _bytes(2, _schema(schema))) for name, schema in schemas.items())


def _schema(schema: JSON) -> bytes:
    """Return the message Schema."""
    out = []
    extensions = []
    for key, value in schema.items():
        if key in _FIELDS:
            number, write = _FIELDS[key]
            out.append(write(number, value))
        elif key.startswith("x-"):
            extensions.append(_extension(31, key, value))
    return b"".join((*out, *extensions))


def _bytes(number: int, value: bytes) -> bytes:
    return varint(number << 3 | BYTES) + varint(len(value)) + value


def _text(number: int, value: str) -> bytes:
    return _bytes(number, value.encode())


def _int(number: int, value: int) -> bytes:
    return varint(number << 3 | VARINT) + varint(int(value))


def _double(number: int, value: float) -> bytes:
    return varint(number << 3 | FIXED64) + struct.pack("<d", value)


def _any(value: Any) -> bytes:
    """Return the message Any, whose value is YAML: JSON is YAML, too."""
    return _bytes(2, orjson.dumps(value) + b"\n")


def _texts(number: int, values: Iterable[str]) -> bytes:
    return b"".join(_text(number, value) for value in values)


def _enum(number: int, values: Iterable[Any]) -> bytes:
    return b"".join(_bytes(number, _any(value)) for value in values)


def _additional(number: int, value: bool | JSON) -> bytes:
    return _bytes(number, _int(2, value) if isinstance(value, bool) else _bytes(1, _schema(value)))


def _types(number: int, value: str | list[str]) -> bytes:
    return _bytes(number, _texts(1, [value] if isinstance(value, str) else value))


def _items(number: int, value: JSON) -> bytes:
    return _bytes(number, _bytes(1, _schema(value)))


def _schemas(number: int, values: Iterable[JSON]) -> bytes:
    return b"".join(_bytes(number, _schema(value)) for value in values)


def _properties(number: int, value: JSON) -> bytes:
    return _bytes(number, _named_schemas(value))


_FIELDS: dict[str, tuple[int, Callable[[int, Any], bytes]]] = {
    "$ref": (1, _text),
    "format": (2, _text),
    "title": (3, _text),
    "description": (4, _text),
    "multipleOf": (6, _double),
    "maximum": (7, _double),
    "exclusiveMaximum": (8, _int),
    "minimum": (9, _double),
    "exclusiveMinimum": (10, _int),
    "maxLength": (11, _int),
    "minLength": (12, _int),
    "pattern": (13, _text),
    "maxItems": (14, _int),
    "minItems": (15, _int),
    "uniqueItems": (16, _int),
    "maxProperties": (17, _int),
    "minProperties": (18, _int),
    "required": (19, _texts),
    "enum": (20, _enum),
    "additionalProperties": (21, _additional),
    "type": (22, _types),
    "items": (23, _items),
    "allOf": (24, _schemas),
    "properties": (25, _properties),
}
