"""The functions of texts: CEL's own, those of `ext.Strings` (version 2, as in Kubernetes), and those of patterns."""

from __future__ import annotations

import math
import re
from typing import Any

from ..apimachinery.expressions import Expression, ExpressionError, expression
from .conversions import shown_double
from .declarations import Overload, by_size, methods, overloads
from .times import shown_duration, shown_timestamp
from .values import CelError, Duration, Object, Timestamp, TypeValue, Uint, size

_SPACE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_LOWER = {upper: upper + 32 for upper in range(ord("A"), ord("Z") + 1)}
_UPPER = {lower: lower - 32 for lower in range(ord("a"), ord("z") + 1)}
_QUOTED = {char: f"\\{name}" for char, name in zip('\a\b\f\n\r\t\v\\"', 'abfnrtv\\"', strict=True)}
_DIRECTIVE = re.compile(r"%(?:\.(\d*))?(.?)", re.DOTALL)
_NO_STRING = (
    "error during formatting: string clause can only be used on strings, bools, bytes, ints, doubles, maps, lists, "
    "types, durations, and timestamps"
)
_MAX_DIGITS = 1_000  # of a number in a text
_AT_ONCE = 50  # characters that are one step of work
_COMPILING = 1_000  # work that it is to read a pattern


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise CelError(f"index out of range: {index}")
    return text[index : index + 1]


def _index_of(text: str, part: str, start: int = 0) -> int:
    if not part:
        return start
    if start < 0:
        raise CelError(f"index out of range: {start}")
    return text.find(part, start)


def _last_index_of(text: str, part: str, *start: int) -> int:
    if not part:
        return start[0] if start else len(text)
    if not start:
        return text.rfind(part)
    if start[0] < 0:
        raise CelError(f"index out of range: {start[0]}")
    return -1 if start[0] >= len(text) else text.rfind(part, 0, start[0] + len(part))


def _substring(text: str, start: int, *end: int) -> str:
    last = end[0] if end else len(text)
    if end and start > last:
        raise CelError(f"invalid substring range. start: {start}, end: {last}")
    for index in (start, last):
        if not 0 <= index <= len(text):
            raise CelError(f"index out of range: {index}")
    return text[start:last]


def _replace(evaluation: Any, text: str, old: str, new: str, most: int = -1) -> str:
    count = text.count(old)
    evaluation.work((count if most < 0 else min(count, most)) * len(new) // _AT_ONCE)
    return text.replace(old, new, most)


def _split(text: str, by: str, most: int = -1) -> list[str]:
    if most == 0:
        return []
    if by:
        return text.split(by, most - 1 if most > 0 else -1)
    if most < 0 or most >= len(text):
        return list(text)
    return [*text[: most - 1], text[most - 1 :]]


def _join(evaluation: Any, values: list[Any], by: str = "") -> str:
    for value in values:
        if not isinstance(value, str):
            raise CelError(f"join: invalid input: {value}")
    evaluation.work((len(values) * len(by) + sum(map(len, values))) // _AT_ONCE)
    return by.join(values)


def _matches(evaluation: Any, text: str, pattern: str) -> bool:
    return _compiled(evaluation, pattern).search(text)


def _find(evaluation: Any, text: str, pattern: str) -> str:
    found = _compiled(evaluation, pattern).matches(text, 1)
    return found[0] if found else ""


def _find_all(evaluation: Any, text: str, pattern: str, most: int = -1) -> list[str]:
    return _compiled(evaluation, pattern).matches(text, most)


def _compiled(evaluation: Any, pattern: str) -> Expression:
    misses = expression.cache_info().misses
    try:
        return expression(pattern)
    except ExpressionError as error:
        raise CelError(str(error)) from None
    finally:
        if expression.cache_info().misses > misses:
            evaluation.work(_COMPILING)


def _pattern_cost(text: str, pattern: str, *result: Any) -> int:
    return math.ceil((1 + len(text)) * 0.1) * math.ceil(len(pattern) * 0.25)


def _part_cost(text: str, part: str, *result: Any) -> int:
    return math.ceil(len(text) * 0.1) * math.ceil(len(part) * 0.1)


def _result_cost(*values: Any) -> int:
    return math.ceil(size(values[-1]) * 2 * 0.1)


def traversal_cost(value: Any, *rest: Any) -> int:
    """Return the cost of going through a value once."""
    if isinstance(value, str | bytes):
        return int(len(value) * 0.1)
    if isinstance(value, list):
        return sum(map(traversal_cost, value))
    if isinstance(value, dict):
        return sum(traversal_cost(key) + traversal_cost(item) for key, item in value.items())
    return 1


def formatted(evaluation: Any, template: str, values: list[Any]) -> str:
    """Return a text with values put in: `'%s-%d'.format(['a', 1])`."""
    waiting = iter(enumerate(values))

    def directive(found: re.Match[str]) -> str:
        digits, kind = found.groups()
        if kind == "%" and digits is None:
            return "%"
        if not kind:
            raise CelError("unexpected end of format string")
        if digits and (len(digits) > 4 or int(digits) > _MAX_DIGITS):
            raise CelError(f"precision {digits} is too large")
        place, value = next(waiting, (len(values), None))
        if place == len(values):
            raise CelError(f"index {place} out of range")
        made = _put(kind, int(digits) if digits else 6, value)
        evaluation.work(len(made) // _AT_ONCE)
        return made

    return _DIRECTIVE.sub(directive, template)


def _put(kind: str, digits: int, value: Any) -> str:
    whole = isinstance(value, int) and not isinstance(value, bool)
    if kind == "s":
        return shown(value)
    if kind == "d" and whole:
        return str(int(value))
    if kind in "fe" and isinstance(value, float):
        return format(value, f",.{digits}f" if kind == "f" else f".{digits}e")
    if kind == "b" and (whole or isinstance(value, bool)):
        return format(int(value), "b")
    if kind == "o" and whole:
        return format(int(value), "o")
    if kind in "xX" and (whole or isinstance(value, str | bytes)):
        if whole:
            return format(int(value), kind)
        raw = value.encode("utf-8", "replace") if isinstance(value, str) else value
        return raw.hex().upper() if kind == "X" else str(raw.hex())
    if kind in "dfebxXo":
        raise CelError(f"error during formatting: no formatting function for %{kind}")
    raise CelError(f'could not parse formatting clause: unrecognized formatting clause "{kind}"')


def shown(value: Any, *, inner: bool = False) -> str:
    """Return a value as `%s` writes it; texts in quotes where it is a part of another."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _quote(value) if inner else value
    if isinstance(value, bytes):
        text = value.decode("utf-8", "replace")
        return f"b{_quote(text)}" if inner else text
    if isinstance(value, list):
        return f"[{', '.join(shown(item, inner=True) for item in value)}]"
    if isinstance(value, dict | Object):
        value = value.entries() if isinstance(value, Object) else value
        entries = sorted((shown(key, inner=True), shown(item, inner=True)) for key, item in value.items())
        return f"{{{', '.join(f'{key}:{item}' for key, item in entries)}}}"
    if isinstance(value, float):
        return f"{value:f}" if inner else shown_double(value)
    if isinstance(value, Duration):
        return f'duration("{shown_duration(value)}")' if inner else shown_duration(value)
    if isinstance(value, Timestamp):
        return f'timestamp("{shown_timestamp(value)}")' if inner else shown_timestamp(value)
    if isinstance(value, TypeValue):
        return value.name
    if value is None or isinstance(value, int | Uint):
        return "null" if value is None else str(int(value))
    raise CelError(_NO_STRING)


def _quote(text: str) -> str:
    return f'"{"".join(_QUOTED.get(char, char) for char in text)}"'


_TWO, _CHANGED = ["string, string: bool"], ["string: string"]

OVERLOADS: list[Overload] = [
    *methods("contains", _TWO, lambda text, part: part in text, _part_cost),
    *methods("startsWith", _TWO, lambda text, part: text.startswith(part), by_size(0.1)),
    *methods("endsWith", _TWO, lambda text, part: text.endswith(part), by_size(0.1)),
    *methods("matches", _TWO, _matches, _pattern_cost, watched=True),
    *overloads("matches", _TWO, _matches, watched=True),
    *methods("find", ["string, string: string"], _find, _pattern_cost, watched=True),
    *methods(
        "findAll",
        ["string, string: list(string)", "string, string, int: list(string)"],
        _find_all,
        lambda text, pattern, *rest: _pattern_cost(text, pattern),
        watched=True,
    ),
    *methods("charAt", ["string, int: string"], _char_at),
    *methods("indexOf", ["string, string: int", "string, string, int: int"], _index_of, traversal_cost),
    *methods("lastIndexOf", ["string, string: int", "string, string, int: int"], _last_index_of, traversal_cost),
    *methods("lowerAscii", _CHANGED, lambda text: text.translate(_LOWER), by_size(0.1)),
    *methods("upperAscii", _CHANGED, lambda text: text.translate(_UPPER), by_size(0.1)),
    *methods("trim", _CHANGED, lambda text: text.strip(_SPACE), by_size(0.1)),
    *methods(
        "replace",
        ["string, string, string: string", "string, string, string, int: string"],
        _replace,
        by_size(0.2),
        watched=True,
    ),
    *methods("split", ["string, string: list(string)", "string, string, int: list(string)"], _split, by_size(0.2)),
    *methods("substring", ["string, int: string", "string, int, int: string"], _substring, by_size(0.1)),
    *methods("format", ["string, list(dyn): string"], formatted, by_size(0.1), watched=True),
    *methods("join", ["list(string): string", "list(string), string: string"], _join, _result_cost, watched=True),
    *overloads("strings.quote", _CHANGED, _quote, by_size(0.1)),
]
