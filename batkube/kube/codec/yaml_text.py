"""Texts of YAML: files with several documents, and bodies with one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import orjson
import yaml

from .go_yaml import decoded, nodes
from .yaml_scalars import STR, YamlError, is_plain_text


def documents(data: bytes, warnings: list[str] | None = None) -> Iterator[tuple[int, Any]]:
    """Yield all documents of a file of YAML or JSON, each with the line at which it begins.

    Raise YamlError if the text is malformed. `warnings` gets the repeated keys of maps.
    """
    if data.lstrip().startswith(b"{"):
        try:  # JSON is YAML too, but for halves of characters
            yield 1, orjson.loads(data)
        except orjson.JSONDecodeError:
            pass
        else:
            return
    for node in nodes(data):
        yield node.line, decoded(node, warnings)


def first_document(data: bytes, warnings: list[str] | None = None) -> Any:
    """Return the first document of a text; None if it has none.

    Raise YamlError if the text is malformed. `warnings` gets the repeated keys of maps.
    """
    node = next(nodes(data), None)
    return None if node is None else decoded(node, warnings)


class _Dumper(yaml.SafeDumper):
    """The writer of YAML as go-yaml writes it.

    Texts that would be read as other values are in double quotes. Texts of several lines stay as they are.
    """

    def ignore_aliases(self, data: Any) -> bool:
        return True


def _text(dumper: _Dumper, text: str) -> yaml.ScalarNode:
    style = None
    if "\n" in text:
        style = "|"
    elif not is_plain_text(text):
        style = '"'
    return dumper.represent_scalar(STR, text, style=style)


_Dumper.add_representer(str, _text)
# To go-yaml these are texts like others.
_Dumper.yaml_implicit_resolvers = {
    first: resolvers for first, resolvers in yaml.SafeDumper.yaml_implicit_resolvers.items() if first not in ("=", "<")
}


def dumped(document: Any, *, sort_keys: bool = True) -> str:
    """Return the document in YAML, written so that Go programs read the same values."""
    return yaml.dump(document, Dumper=_Dumper, default_flow_style=False, allow_unicode=True, sort_keys=sort_keys)


__all__ = ["YamlError", "documents", "dumped", "first_document"]
