"""YAML as sigs.k8s.io/yaml reads it, and what is wrong with a text that is none, in the words of go-yaml."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import isfinite
from typing import Any

import yaml

from .status import quote

JSON = dict[str, Any]

_MAX_EXPANDED = 1_000_000  # nodes of a document, aliases written out


class _Loader(getattr(yaml, "CSafeLoader", yaml.SafeLoader)):  # type: ignore[misc]
    """YAML as sigs.k8s.io/yaml reads it: dates stay text."""


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
    for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
}


# Whatever PyYAML thinks of them, in YAML 1.1 these are booleans.
_LETTERS = {"y": True, "Y": True, "n": False, "N": False}


def _bool(loader: Any, node: Any) -> bool:
    value = loader.construct_scalar(node)
    return _LETTERS[value] if value in _LETTERS else bool(loader.bool_values[value.lower()])


for _letter in _LETTERS:
    _Loader.yaml_implicit_resolvers[_letter] = [
        *_Loader.yaml_implicit_resolvers.get(_letter, ()),
        ("tag:yaml.org,2002:bool", re.compile("^[yYnN]$")),
    ]
_Loader.add_constructor("tag:yaml.org,2002:bool", _bool)


class DocumentError(ValueError):
    """A file is no YAML or JSON: what is wrong, at `line`."""

    def __init__(self, what: str, line: int) -> None:
        super().__init__(what)
        self.line = line


def documents(data: bytes) -> Iterator[tuple[int, Any]]:
    """All documents of a file of YAML (or JSON, which is YAML too), each with the line at which it begins. Raises
    DocumentError.
    """
    line = 1
    try:
        loader = _Loader(data)
        while loader.check_node():
            node = loader.get_node()
            assert node is not None
            line = node.start_mark.line + 1
            if _expanded(node, {}) > _MAX_EXPANDED:
                raise ValueError("it grows too large with its aliases written out")
            yield line, sayable(loader.construct_document(node), custom=True)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise DocumentError(f"no YAML: {error.problem}", mark.line + 1 if mark else line) from None
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise DocumentError(f"no YAML: {' '.join(str(error).split())}", line) from None


class YamlError(ValueError):
    """A text is no YAML; why, as go-yaml says it."""


def first_document(data: bytes, warnings: list[str] | None = None) -> Any:
    """The first document of a text, None where it has none; keys that stand twice in a map are warned of. Raises
    YamlError.
    """
    try:
        loader = _Loader(data)
        if not loader.check_node():
            return None
        node = loader.get_node()
        if _expanded(node, {}) > _MAX_EXPANDED:
            raise yaml.YAMLError("document contains excessive aliasing")
        if warnings is not None:
            warnings.extend(_keys_twice(node))
        return sayable(loader.construct_document(node), custom=True)
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        raise YamlError(_yaml_problem(error)) from None


def _keys_twice(node: Any) -> Iterator[str]:
    """Of each key that stands again in a map: where."""
    if isinstance(node, yaml.MappingNode):
        seen: set[str] = set()
        for key, value in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    yield f"line {key.start_mark.line + 1}: key {quote(key.value)} already set in map"
                seen.add(key.value)
            yield from _keys_twice(value)
    elif isinstance(node, yaml.SequenceNode):
        for item in node.value:
            yield from _keys_twice(item)


def _yaml_problem(error: Exception) -> str:
    """What is wrong with a YAML text, in the words of go-yaml as far as they are known (`parser.fail` of decode.go)."""
    if not isinstance(error, yaml.MarkedYAMLError):
        return " ".join(str(error).split())
    text = re.sub(r"^expected (.*), but (got|found) .*", r"did not find expected \1", error.problem or "")
    text = _GO_YAML.get(text, text)
    scanning = isinstance(error, yaml.scanner.ScannerError)
    line = error.context_mark.line if error.context_mark else 0
    if not line and error.problem_mark:
        line = error.problem_mark.line
    return f"line {line + scanning}: {text}" if line else text


_GO_YAML = {
    "mapping values are not allowed here": "mapping values are not allowed in this context",
    "did not find expected <block end>": "did not find expected key",
    "sequence entries are not allowed here": "block sequence entries are not allowed in this context",
    "mapping keys are not allowed here": "mapping keys are not allowed in this context",
}


def _expanded(node: Any, known: dict[int, int]) -> int:
    """How many nodes the document has with all its aliases written out."""
    if isinstance(node, tuple):  # a key and its value
        return _expanded(node[0], known) + _expanded(node[1], known)
    if id(node) not in known:
        known[id(node)] = 1  # also ends a node that contains itself
        children = node.value if isinstance(node, yaml.CollectionNode) else ()
        known[id(node)] = 1 + sum(_expanded(child, known) for child in children)
    return known[id(node)]


def sayable(value: Any, custom: bool) -> Any:
    """What an odd document says, in what JSON can say: keys are texts, texts are Unicode, numbers are finite; those of
    custom resources (`custom`) fit 64 bits or are floats. ValueError where it cannot be said.
    """
    if isinstance(value, dict):
        return {_key(key): sayable(item, custom) for key, item in value.items()}
    if isinstance(value, list):
        return [sayable(item, custom) for item in value]
    if isinstance(value, str):
        return value if value.isascii() else value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, float) and not isfinite(value):
        raise ValueError(f"json: unsupported value: {value}")
    if isinstance(value, int) and custom and not -(1 << 63) <= value < 1 << 63:
        return float(value)
    if value is not None and not isinstance(value, int | float):
        raise ValueError(f"json: unsupported type: {type(value).__name__}")
    return value


def _key(key: Any) -> str:
    """The keys of YAML's maps may be numbers, or true."""
    if isinstance(key, bool):
        return "true" if key else "false"
    return key if isinstance(key, str) else str(key)
