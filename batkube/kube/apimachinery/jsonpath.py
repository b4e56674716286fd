r"""The JSON paths of CustomResourceDefinitions, in the dialect of kubectl (`k8s.io/client-go/util/jsonpath`):
`.spec.replicas`, `.metadata.labels.a\.b`, `.items[0].name`, `.items[-2:]`, `['a','b']`, `..name`,
`.status.conditions[?(@.type=="Ready")].status`.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

TEXT, WORD, FIELD, SLICE, FILTER, ALL, DESCENT, UNION = (
    *("text", "word", "field", "slice", "filter", "all", "descent", "union"),
)

_QUOTED_KEY = re.compile(r"'([^']*)'")
_SLICE = re.compile(r"(-?\d*)(:-?\d*)?(:-?\d*)?", re.ASCII)
_COMPARISON = re.compile(r"([^!<>=]+)([!<>=]+)(.+)")
_NUMBER = re.compile(r"[+-]?[\d.]*")
_WORD = re.compile(r"[^ \t\r\n.,\[\]$@{}]*")
_NAME = re.compile(r"(?:\\.|[^ \t\r\n.,\[\]$@{}\\])*", re.DOTALL)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class JSONPathError(ValueError):
    """A path that is malformed, or that cannot be followed in an object."""


class _Stopped(JSONPathError):
    """The end of a path that cannot be followed further. `found` is the value at which it ends."""

    def __init__(self, why: str, found: list[Any]) -> None:
        super().__init__(why)
        self.found = found


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a path. `value`: a text (or number), the name of a field, the bounds of a slice, an operator."""

    kind: str
    value: Any = None
    paths: tuple[Path, ...] = ()  # of a union, or both sides of a filter


Path = tuple[Step, ...]


@lru_cache(maxsize=1024)
def parse(path: str) -> Path:
    """Return the steps of a path. Raise JSONPathError if it is malformed."""
    first = _Reader(path)
    steps, following = first.steps(), first.following()
    while following is not None:  # other paths, which are not asked for: but they have to be some
        other = _Reader(following)
        other.steps()
        following = other.following()
    return steps


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._at = text, 0

    def steps(self) -> Path:
        found: list[Step] = []
        while self._at < len(self._text) and self._text[self._at] != "}":
            found += self._step(found)
        return tuple(found)

    def following(self) -> str | None:
        """Return the text after the next opening brace; None if there is none."""
        _, opened, rest = self._text[self._at :].partition("{")
        return rest if opened else None

    def _step(self, before: list[Step]) -> list[Step]:
        if self._text.startswith("[?(", self._at):
            return [self._filter()]
        if self._text.startswith("..", self._at):
            return self._descent(before)
        char = self._text[self._at]
        if char in " @$":  # the object itself
            self._at += 1
            return []
        if char == "[":
            return self._brackets()
        if char in "\"'":
            return [self._quoted(char)]
        if char == ".":
            self._at += 1
            return [self._field()]
        if char in "+-" or char.isdecimal():
            return [self._number()]
        if char == "_" or char.isalnum():
            word = self._taken(_WORD)
            return [Step(TEXT, word == "true") if word in ("true", "false") else Step(WORD, word)]
        raise self._wrong("unrecognized character")

    def _wrong(self, why: str) -> JSONPathError:
        return JSONPathError(f"{self._text!r} is no JSON path: {why} at {self._text[self._at :]!r}")

    def _taken(self, pattern: re.Pattern[str]) -> str:
        found = pattern.match(self._text, self._at)
        assert found is not None  # the empty text fits as well
        self._at = found.end()
        return found[0]

    def _field(self) -> Step:
        name = self._taken(_NAME)
        return Step(ALL) if name == "*" else Step(FIELD, name.replace("\\", ""))

    def _descent(self, before: list[Step]) -> list[Step]:
        if before and before[-1].kind == DESCENT:
            raise self._wrong("invalid multiple recursive descent")
        self._at += 2
        following = self._text[self._at : self._at + 1]
        return [Step(DESCENT), *([self._field()] if following == "_" or following.isalnum() else [])]

    def _number(self) -> Step:
        text = self._taken(_NUMBER)
        for number in (int, float):
            try:
                return Step(TEXT, number(text))
            except ValueError:
                continue
        raise self._wrong(f"cannot parse number {text}")

    def _quoted(self, quote: str) -> Step:
        end = self._at + 1
        while not (self._text[end : end + 1] == quote and self._text[end - 1] != "\\"):
            end += 1
            if end >= len(self._text):
                raise self._wrong("unterminated quoted string")
        text = self._text[self._at + 1 : end]
        self._at = end + 1
        return Step(TEXT, _ESCAPE.sub(lambda escape: _ESCAPED.get(escape[1], escape[1]), text))

    def _brackets(self) -> list[Step]:
        text, closed, _ = self._text[self._at + 1 :].partition("]")
        if not closed:
            raise self._wrong("unterminated array")
        self._at += len(text) + 2
        if "," in text:
            return [Step(UNION, paths=tuple(parse(f"[{part.strip(' ')}]") for part in text.split(",")))]
        if found := _QUOTED_KEY.fullmatch(text):
            return list(parse(f".{found[1]}"))
        bounds = _SLICE.fullmatch(":" if text == "*" else text)
        if bounds is None:
            raise self._wrong(f"invalid array index {text}")
        first, last, step = bounds.groups()
        try:
            start, by = _bound(first), _bound((step or ":")[1:])
            end = (start or 0) + 1 or None if last is None else _bound(last[1:])
            return [Step(SLICE, (start, end, by))]
        except ValueError:
            raise self._wrong(f"array index {text} is not a number") from None

    def _filter(self) -> Step:
        begin, quote = self._at + 3, ""
        end, ended = begin, False
        while self._text[end : end + 1] != ")" or bool(quote) is not ended:
            char = self._text[end : end + 1]
            if char in ("", "\n"):
                raise self._wrong("unterminated filter")
            if char in "\"'" and not quote:
                quote = char
            elif char == quote and self._text[end - 1] != "\\":
                ended = True
            end += 1
        if self._text[end + 1 : end + 2] != "]":
            raise self._wrong("unclosed array expect ]")
        text = self._text[begin:end]
        self._at = end + 2
        if found := _COMPARISON.fullmatch(text):
            return Step(FILTER, found[2], (parse(found[1]), parse(found[3])))
        return Step(FILTER, "exists", (parse(text),))


_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def _bound(text: str) -> int | None:
    return int(text) if text else None


def find(path: str, obj: Any) -> list[Any]:
    """Return all values that the path points at; none if a part of it is missing.

    Raise JSONPathError if the path is malformed, or asks a value for parts it cannot have: an index into a map.
    """
    return _follow(parse(path), [obj])


def _follow(path: Path, values: list[Any]) -> list[Any]:
    for step in path:
        values = _STEPS[step.kind](step, values)
    return values


def _text(step: Step, values: list[Any]) -> list[Any]:
    return [step.value] if isinstance(step.value, str) else [step.value] * len(values)


def _word(step: Step, values: list[Any]) -> list[Any]:
    raise _Stopped(f"unrecognized identifier {step.value}", values)


def _field(step: Step, values: list[Any]) -> list[Any]:
    return [value[step.value] for value in values if isinstance(value, dict) and step.value in value]


def _all(step: Step, values: list[Any]) -> list[Any]:
    return [part for value in values for part in _parts(value)]


def _parts(value: Any) -> list[Any]:
    if isinstance(value, dict):
        return list(value.values())
    if isinstance(value, str):  # its bytes
        return list(value.encode())
    return value if isinstance(value, list) else []


def _descent(step: Step, values: list[Any]) -> list[Any]:
    found = []
    for value in values:
        if parts := _parts(value):
            found += [value, *_descent(step, parts)]
    return found


def _union(step: Step, values: list[Any]) -> list[Any]:
    return [found for path in step.paths for found in _follow(path, values)]


def _slice(step: Step, values: list[Any]) -> list[Any]:
    found: list[Any] = []
    for value in values:
        if value is None:
            continue
        if not isinstance(value, list):
            raise _Stopped("not an array or slice", values)
        first, last, by = step.value
        start = (first or 0) + (len(value) if (first or 0) < 0 else 0)
        end = len(value) if last is None else last
        end += len(value) if end < 0 else 0
        if start == end:
            return found
        if not (0 <= start < len(value) and 0 <= end <= len(value) and start <= end) or (by is not None and by <= 0):
            raise _Stopped(f"array index out of bounds: {start}:{end} of {len(value)}", values)
        found += value[start:end:by]
    return found


def _filter(step: Step, values: list[Any]) -> list[Any]:
    found = []
    for value in values:
        if not isinstance(value, list):
            raise _Stopped("not an array or slice: it cannot be filtered", values)
        found += [item for item in value if _passes(step, item, values)]
    return found


def _passes(step: Step, item: Any, values: list[Any]) -> bool:
    if step.value == "exists":
        try:
            return bool(_follow(step.paths[0], [item]))
        except _Stopped as stopped:
            return bool(stopped.found)
    sides = [_follow(path, [item]) for path in step.paths]
    if not all(sides):
        return False
    if any(len(side) > 1 for side in sides):
        raise _Stopped("can only compare one element at a time", values)
    compare = _OPERATORS.get(step.value)
    (left,), (right,) = sides
    comparable = isinstance(left, str | int | float) and type(left) is type(right)
    if compare is None or not comparable or (isinstance(left, bool) and step.value not in ("==", "!=")):
        raise _Stopped("incompatible types for comparison", values)
    return compare(left, right)


_OPERATORS: dict[str, Callable[[Any, Any], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_STEPS: dict[str, Callable[[Step, list[Any]], list[Any]]] = {
    TEXT: _text,
    WORD: _word,
    FIELD: _field,
    SLICE: _slice,
    FILTER: _filter,
    ALL: _all,
    DESCENT: _descent,
    UNION: _union,
}
