"""YAML as Go programs of Kubernetes read it: sigs.k8s.io/yaml 1.6, on go-yaml 2.4 (go.yaml.in/yaml/v2).

PyYAML only finds tokens and structure. The rules of go-yaml are followed for the types of scalars (`yaml_scalars.py`),
for merged maps, and for the growth of a document by aliases (`decode.go`). Keys become texts, and numbers those of
JSON, as in `convertToJSONableObject`.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from math import isfinite
from typing import Any

import yaml

from ..apimachinery.status import quote
from .yaml_scalars import BINARY, MERGE, STR, TIMESTAMP, YamlError, number_as_key, resolve

SCALAR, SEQUENCE, MAPPING, ALIAS = "scalar", "sequence", "mapping", "alias"

_UNSAYABLE = "unsayable"  # in place of the tag of a key

# Of what is decoded, so much may come from aliases: nearly all of a small document, a tenth of a very large one.
_ALIASES_FROM, _DECODED_FROM = 100, 1_000
_SMALL, _LARGE = 400_000, 4_000_000

_QUOTES = ("'", '"')

_Parser: Any = getattr(yaml, "CBaseLoader", yaml.BaseLoader)


class Node:
    """A part of a document. `children` of a mapping are keys and values in turn; of an alias, the node that it refers
    to.
    """

    __slots__ = ("children", "kind", "line", "plain", "tag", "text")

    def __init__(self, kind: str, line: int, tag: str = "", text: str = "", plain: bool = False) -> None:
        self.kind = kind
        self.line = line  # from 1
        self.tag = tag
        self.text = text  # of a scalar; the name of an alias
        self.plain = plain
        self.children: list[Node] = []

    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """Return the keys and values of a mapping."""
        children = iter(self.children)
        return zip(children, children, strict=True)


def nodes(data: bytes | str) -> Iterator[Node]:
    """Yield the documents of a text. Raise YamlError if the text is malformed."""
    try:
        parser = _Parser(data)
        while not parser.check_event(yaml.StreamEndEvent):
            if parser.check_event(yaml.DocumentStartEvent):
                yield _document(parser)
            else:
                parser.get_event()
    except yaml.YAMLError as error:
        raise _error_of(error) from None
    except ValueError as error:  # the reader met what is no text in any encoding
        raise error if isinstance(error, YamlError) else YamlError(f"yaml: {error}") from None


def _document(parser: Any) -> Node:
    """Return the next document. Its beginning is the next event."""
    root = Node(SEQUENCE, 0)
    parser.get_event()
    anchors: dict[str, Node] = {}
    open_nodes = [root]
    while True:
        event = parser.get_event()
        kind = type(event)
        line = event.start_mark.line + 1
        if kind is yaml.ScalarEvent:
            plain = event.implicit[0] and event.style not in _QUOTES
            node = Node(SCALAR, line, event.tag if event.tag not in (None, "!") else "", event.value, plain)
        elif kind is yaml.AliasEvent:
            node = Node(ALIAS, line, text=event.anchor)
            if event.anchor not in anchors:
                raise YamlError(f"yaml: unknown anchor '{event.anchor}' referenced", line)
            node.children = [anchors[event.anchor]]
        elif kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            node = Node(MAPPING if kind is yaml.MappingStartEvent else SEQUENCE, line, event.tag or "")
        elif kind is yaml.DocumentEndEvent:
            return root.children[0]
        else:  # the end of a map or list
            open_nodes.pop()
            continue
        if kind is not yaml.AliasEvent and event.anchor is not None:
            anchors[event.anchor] = node
        open_nodes[-1].children.append(node)
        if kind is yaml.MappingStartEvent or kind is yaml.SequenceStartEvent:
            open_nodes.append(node)


def decoded(document: Node, twice: list[str] | None = None) -> Any:
    """Return the content of a document in the types of JSON. Raise YamlError if that is not possible.

    `twice` gets the repeated keys of maps; the last one of each counts.
    """
    decoder = _Decoder(twice)
    try:
        value = decoder.value(document)
    except RecursionError:
        raise YamlError("yaml: exceeded max depth", document.line) from None
    if decoder.unsayable and (first := _unsayable_in(value)) is not None:
        raise first
    return value


def _unsayable_in(value: Any) -> YamlError | None:
    if isinstance(value, YamlError):
        return value
    children = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return next((found for child in children if (found := _unsayable_in(child)) is not None), None)


class _Decoder:
    """The decoder of one document, which works as `decoder` of decode.go into an interface."""

    def __init__(self, twice: list[str] | None) -> None:
        self.unsayable = False  # JSON cannot say a value, in whose place the error stands: told when all of it is YAML
        self._twice = twice
        self._decoded = 1  # the document
        self._from_aliases = 0
        self._open_aliases: set[int] = set()

    def value(self, node: Node) -> Any:
        self._count(node)
        if node.kind == SCALAR:
            return self._jsonable(node, self._scalar(node)[1])
        if node.kind == SEQUENCE:
            return [self.value(child) for child in node.children]
        if node.kind == MAPPING:
            found: dict[str, Any] = {}
            self._fill(node, found, set())
            return found
        self._open(node)
        value = self.value(node.children[0])
        self._open_aliases.discard(id(node))
        return value

    def _open(self, alias: Node) -> None:
        if id(alias) in self._open_aliases:
            raise YamlError(f"yaml: anchor '{alias.text}' value contains itself", alias.line)
        self._open_aliases.add(id(alias))

    def _count(self, node: Node) -> None:
        self._decoded += 1
        if self._open_aliases:
            self._from_aliases += 1
            if (
                self._from_aliases > _ALIASES_FROM
                and self._decoded > _DECODED_FROM
                and self._from_aliases / self._decoded > _allowed_ratio(self._decoded)
            ):
                raise YamlError("yaml: document contains excessive aliasing", node.line)

    def _fill(self, node: Node, into: dict[str, Any], seen: set[Any]) -> None:
        """Put the map's keys into `into`. Merged keys replace those before them, and keys that follow replace merged
        ones.
        """
        for key_node, value_node in node.pairs():
            if key_node.kind == SCALAR and key_node.text == "<<" and (key_node.plain or key_node.tag == MERGE):
                self._merge(value_node, into, seen)
                continue
            key, told = self._key(key_node)
            value = self.value(value_node)
            if told[0] != _UNSAYABLE:
                into[key] = value
            else:
                self.unsayable = True
                why = f"unsupported map key of type: {told[1][0]}, key: {told[1][1]}, value: {_go_value(value)}"
                into[key] = YamlError(why, key_node.line)
            if self._twice is not None:
                if told in seen:
                    self._twice.append(f"line {value_node.line}: key {_go_value(told[1])} already set in map")
                seen.add(told)

    def _merge(self, node: Node, into: dict[str, Any], seen: set[Any]) -> None:
        if node.kind == SEQUENCE:
            for child in reversed(node.children):  # the earlier ones count for more
                if child.kind == SEQUENCE:
                    raise _no_merge(child)
                self._merge(child, into, seen)
        elif node.kind == MAPPING:
            self._count(node)
            self._fill(node, into, seen)
        elif node.kind == ALIAS and node.children[0].kind == MAPPING:
            self._count(node)
            self._open(node)
            self._merge(node.children[0], into, seen)
            self._open_aliases.discard(id(node))
        else:
            raise _no_merge(node)

    def _key(self, node: Node) -> tuple[str, tuple[str, Any]]:
        """Return the key in JSON, and the value that distinguishes it from other keys in YAML."""
        self._count(node)
        if node.kind == ALIAS:
            self._open(node)
            found = self._key(node.children[0])
            self._open_aliases.discard(id(node))
            return found
        if node.kind != SCALAR:
            raise YamlError(f"yaml: invalid map key: {_go_value(self.value(node))}", node.line)
        tag, value = self._scalar(node)
        if isinstance(value, str):
            return value, (STR, value)
        told = (tag, value)
        if isinstance(value, bool):
            return ("true" if value else "false"), told
        if value is None or (isinstance(value, int) and value >= 1 << 63):
            return "", (_UNSAYABLE, ("%!s(<nil>)", "<nil>") if value is None else ("uint64", hex(value)))
        return (str(value) if isinstance(value, int) else number_as_key(value)), told

    def _scalar(self, node: Node) -> tuple[str, Any]:
        """Return the scalar's tag and value."""
        if not node.tag and not node.plain:
            return STR, node.text
        tag, value = resolve(node.tag, node.text, node.line)
        if tag == BINARY:
            try:
                content = base64.b64decode(re.sub(r"[\r\n]", "", value), validate=True)
            except (binascii.Error, ValueError):
                raise YamlError("yaml: !!binary value contains invalid base64 data", node.line) from None
            halves = content.decode("utf-8", "surrogateescape")
            return STR, re.sub("[\udc80-\udcff]", "\ufffd", halves)
        return (STR, node.text) if tag == TIMESTAMP else (tag, value)

    def _jsonable(self, node: Node, value: Any) -> Any:
        if isinstance(value, float):
            if not isfinite(value):
                name = "NaN" if value != value else "+Inf" if value > 0 else "-Inf"
                self.unsayable = True
                return YamlError(f"json: unsupported value: {name}", node.line)
            if value.is_integer() and abs(value) < 1 << 63:
                return int(value)
        elif isinstance(value, int) and value >= 1 << 63:
            return float(value)
        return value


def _allowed_ratio(count: int) -> float:
    if count <= _SMALL:
        return 0.99
    return 0.10 if count >= _LARGE else 0.99 - 0.89 * ((count - _SMALL) / (_LARGE - _SMALL))


def _go_value(value: Any) -> str:
    """Return a value as Go's %#v prints it."""
    if isinstance(value, dict):
        pairs = ", ".join(f"{quote(key)}:{_go_value(item)}" for key, item in sorted(value.items()))
        return f"map[interface {{}}]interface {{}}{{{pairs}}}"
    if isinstance(value, list):
        return f"[]interface {{}}{{{', '.join(map(_go_value, value))}}}"
    if isinstance(value, str):
        return quote(value)
    if isinstance(value, bool):
        return "true" if value else "false"
    return "interface {}(nil)" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _no_merge(node: Node) -> YamlError:
    return YamlError("yaml: map merge requires map or sequence of maps as the value", node.line)


def _error_of(error: yaml.YAMLError) -> YamlError:
    """Return the error in the structure of a text, in go-yaml's words as far as they are known (`parser.fail`)."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return YamlError(f"yaml: {' '.join(str(error).split())}")
    text = re.sub(r"^expected (.*), but (got|found) .*", r"did not find expected \1", error.problem or "")
    text = _GO_YAML.get(text, text)
    scanning = isinstance(error, yaml.scanner.ScannerError)
    problem, context = (mark.line if mark else 0 for mark in (error.problem_mark, error.context_mark))
    line = problem + scanning if problem else context
    return YamlError(f"yaml: line {line}: {text}" if line else f"yaml: {text}", problem + 1)


_GO_YAML = {
    "mapping values are not allowed here": "mapping values are not allowed in this context",
    "did not find expected <block end>": "did not find expected key",
    "sequence entries are not allowed here": "block sequence entries are not allowed in this context",
    "mapping keys are not allowed here": "mapping keys are not allowed in this context",
}
