"""Sets of field paths, and their form in managedFields (FieldsV1).

A path is a tuple of elements as FieldsV1 has them: `f:name` is a field, `k:{"name":"c"}` the item of a list with that
key, `v:"x"` a value of a set.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

JSON = dict[str, Any]
Path = tuple[str, ...]
Fields = frozenset[Path]

# What belongs to nobody.
_NOBODYS = frozenset(
    (
        ("f:apiVersion",),
        ("f:kind",),
        ("f:metadata",),
        *(
            ("f:metadata", f"f:{name}")
            for name in (
                "name",
                "namespace",
                "creationTimestamp",
                "selfLink",
                "uid",
                "generation",
                "managedFields",
                "resourceVersion",
                "deletionTimestamp",
                "deletionGracePeriodSeconds",
            )
        ),
    )
)


def field(name: str) -> str:
    return f"f:{name}"


def key(values: JSON) -> str:
    """Return the path element of a list item with these key values."""
    return "k:" + json.dumps(values, separators=(",", ":"), sort_keys=True, ensure_ascii=False)


def value(item: Any) -> str:
    """Return the path element of an item of a set."""
    return "v:" + json.dumps(item, separators=(",", ":"), ensure_ascii=False)


def owned(paths: Iterable[Path]) -> Fields:
    """Return those of the paths that can have an owner."""
    return frozenset(path for path in paths if path not in _NOBODYS)


def prefixes(paths: Iterable[Path]) -> set[Path]:
    """Return the paths and all paths that lead to them."""
    return {path[:length] for path in paths for length in range(1, len(path) + 1)}


def encode(paths: Iterable[Path]) -> JSON:
    """Return the paths as FieldsV1: nested objects; `.` marks a path that is in the set and has others below it."""
    tree: JSON = {}
    for path in sorted(paths):
        node = tree
        for element in path:
            node = node.setdefault(element, {})
        node["."] = {}
    _tidy(tree)
    return tree


def _tidy(tree: JSON) -> None:
    for node in tree.values():
        if len(node) == 1 and "." in node:
            del node["."]
        else:
            _tidy({element: below for element, below in node.items() if element != "."})


def decode(tree: JSON) -> Fields:
    """Return the set that a FieldsV1 describes."""
    paths: set[Path] = set()

    def walk(node: JSON, path: Path) -> None:
        if not node:
            paths.add(path)
        for element, below in node.items():
            if element == ".":
                paths.add(path)
            elif isinstance(below, dict):
                walk(below, (*path, element))

    for element, below in tree.items():
        if element != "." and isinstance(below, dict):
            walk(below, (element,))
    return frozenset(paths)


def shown(path: Path) -> str:
    """Return a path as error messages show it: `.spec.containers[name="c"].image`."""
    text = ""
    for element in path:
        kind, _, rest = element.partition(":")
        if kind == "f":
            text += f".{rest}"
        elif kind == "k":
            pairs = (f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in json.loads(rest).items())
            text += f"[{','.join(pairs)}]"
        else:
            text += f"[{rest}]" if kind == "i" else f"[={rest}]"
    return text
