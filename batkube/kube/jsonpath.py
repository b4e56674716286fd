"""The simple JSON paths of CustomResourceDefinitions: `.spec.replicas`, `.metadata.labels['a\\.b']`, `.items[0].name`,
`.status.conditions[?(@.type=="Ready")].status` (a part of `k8s.io/client-go/util/jsonpath`).
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

_STEP = re.compile(
    r"\.(?P<key>(?:[^.\[\]\\]|\\.)+)"
    r"|\[(?P<index>-?\d+)\]"
    r"|\[(?P<star>\*)\]"
    r"|\['(?P<quoted>(?:[^'\\]|\\.)*)'\]"
    r'|\["(?P<double>(?:[^"\\]|\\.)*)"\]'
    r"|\[\?\(\s*@(?P<filter>[^=!<>]+?)\s*(?P<operator>==|!=)\s*(?P<value>'[^']*'|\"[^\"]*\"|[\w.-]+)\s*\)\]"
)

Step = tuple[str, Any]


class JSONPathError(ValueError):
    """A path that is none."""


@lru_cache(maxsize=1024)
def parse(path: str) -> tuple[Step, ...]:
    """The steps of a path. JSONPathError where it is malformed."""
    position = 0
    text = path.strip().removeprefix("{").removesuffix("}").removeprefix("$")
    if text and text[0] not in ".[":
        text = "." + text
    steps: list[Step] = []
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            raise JSONPathError(f"{path!r} is no JSON path: {text[position:]!r} not understood")
        position = found.end()
        steps.append(_step(found))
    return tuple(steps)


def _step(found: re.Match[str]) -> Step:
    if found["index"] is not None:
        return "index", int(found["index"])
    if found["star"] is not None or found["key"] == "*":
        return "all", None
    if found["filter"] is not None:
        value = found["value"]
        literal: Any = value[1:-1] if value[0] in "'\"" else _number(value)
        return "filter", (parse(found["filter"]), found["operator"] == "==", literal)
    key = next(found[name] for name in ("key", "quoted", "double") if found[name] is not None)
    return "key", re.sub(r"\\(.)", r"\1", key)


def _number(text: str) -> Any:
    if text in ("true", "false"):
        return text == "true"
    try:
        return float(text) if "." in text else int(text)
    except ValueError:
        return text


def find(path: str, obj: Any) -> list[Any]:
    """All values that the path points at; none where a part of it is missing."""
    found = [obj]
    for kind, argument in parse(path):
        found = [value for item in found for value in _follow(kind, argument, item)]
    return found


def _follow(kind: str, argument: Any, item: Any) -> list[Any]:
    if kind == "key":
        return [item[argument]] if isinstance(item, dict) and argument in item else []
    if kind == "all":
        return list(item.values()) if isinstance(item, dict) else list(item) if isinstance(item, list) else []
    if not isinstance(item, list):
        return []
    if kind == "index":
        return [item[argument]] if -len(item) <= argument < len(item) else []
    steps, wanted, literal = argument
    return [element for element in item if (_only(steps, element) == literal) is wanted]


def _only(steps: tuple[Step, ...], element: Any) -> Any:
    found = [element]
    for kind, argument in steps:
        found = [value for item in found for value in _follow(kind, argument, item)]
    return found[0] if found else None
