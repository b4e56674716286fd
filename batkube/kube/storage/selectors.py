"""Label and field selectors: from the text of a query to a test of an object.

The grammar is that of `k8s.io/apimachinery/pkg/labels` and `pkg/fields`. A text that the real server refuses is refused
here with 400 Bad Request.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from ..apimachinery.names import label_value, qualified_name
from ..apimachinery.status import ApiError, quote

_TOKEN = re.compile(r"\s*(==|!=|=|!|,|\(|\)|<|>|[^\s=!,()<>]+)")


@dataclass(frozen=True, slots=True)
class Requirement:
    """One term of a label selector."""

    key: str
    operator: str  # in, notin, exists, !, gt, lt
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        value = labels.get(self.key)
        match self.operator:
            case "in":
                return value is not None and value in self.values
            case "notin":
                return value is None or value not in self.values
            case "exists":
                return value is not None
            case "!":
                return value is None
            case _:
                if value is None or not re.fullmatch(r"[+-]?\d+", value):
                    return False
                bound = int(self.values[0])
                return int(value) > bound if self.operator == "gt" else int(value) < bound


@dataclass(frozen=True, slots=True)
class LabelSelector:
    """A label selector. All requirements must hold; a selector without requirements matches everything."""

    requirements: tuple[Requirement, ...] = ()

    def matches(self, labels: Mapping[str, str] | None) -> bool:
        found = labels or {}
        return all(requirement.matches(found) for requirement in self.requirements)


@dataclass(frozen=True, slots=True)
class FieldTerm:
    field: str
    value: str
    equal: bool


@dataclass(frozen=True, slots=True)
class FieldSelector:
    """A field selector. All terms must hold. A field that an object does not have counts as empty."""

    terms: tuple[FieldTerm, ...] = ()

    def matches(self, fields: Mapping[str, str]) -> bool:
        return all((fields.get(term.field, "") == term.value) is term.equal for term in self.terms)

    def exact(self, field: str) -> str | None:
        """Return the value that the field must have, if the selector demands one."""
        return next((term.value for term in self.terms if term.field == field and term.equal), None)


EVERYTHING = LabelSelector()
ANY_FIELDS = FieldSelector()


@lru_cache(maxsize=1024)
def parse_label_selector(text: str) -> LabelSelector:
    """Return the selector. Raise 400 if the text is malformed."""
    if not text.strip():
        return EVERYTHING
    tokens = _tokens(text)
    requirements = []
    position = 0
    while True:
        requirement, position = _requirement(tokens, position)
        requirements.append(requirement)
        if position == len(tokens):
            return LabelSelector(tuple(requirements))
        if tokens[position] != ",":
            raise ApiError.bad_request(f"found '{tokens[position]}', expected: ',' or 'end of string'")
        position += 1
        found = tokens[position] if position < len(tokens) else ""
        if found in ("", ",", ")", "("):
            raise ApiError.bad_request(f"found '{found}', expected: identifier after ','")


def _tokens(text: str) -> list[str]:
    tokens = []
    position = 0
    stripped = text.rstrip()
    while position < len(stripped):
        match = _TOKEN.match(stripped, position)
        if match is None:
            raise _refused(f"found {stripped[position:]!r}")
        tokens.append(match[1])
        position = match.end()
    return tokens


def _requirement(tokens: list[str], position: int) -> tuple[Requirement, int]:
    absent = tokens[position] == "!"
    if absent:
        position += 1
    key = tokens[position] if position < len(tokens) else ""
    if key and not absent and (key in "=(),<>" or key in ("==", "!=")):
        raise ApiError.bad_request(f"found '{key}', expected: !, identifier, or 'end of string'")
    if not key or key in "=!,()<>" or key in ("==", "!="):
        raise _refused(f"found '{key}', expected: identifier")
    _check_key(key)
    position += 1
    if absent:
        return Requirement(key, "!"), position
    if position == len(tokens) or tokens[position] == ",":
        return Requirement(key, "exists"), position
    operator = tokens[position]
    position += 1
    if operator in ("in", "notin"):
        values, position = _values(tokens, position)
        for value in values:
            _check_value(key, value)
        return Requirement(key, operator, values), position
    if operator not in ("=", "==", "!=", "<", ">"):
        expected = "in, notin, =, ==, !=, gt, lt"
        raise _refused(f"found '{operator}', expected: {expected}")
    value = ""
    if position < len(tokens) and tokens[position] != ",":
        value = tokens[position]
        if value in ("=", "==", "!=", "!", "(", ")", "<", ">"):
            raise _refused(f"found '{value}', expected: identifier")
        position += 1
    _check_value(key, value)
    if operator in "<>":
        if not re.fullmatch(r"[+-]?\d+", value):
            why = f"{quote(value)}: for 'Gt', 'Lt' operators, the value must be an integer"
            raise _refused(f"values[0]: Invalid value: {why}")
        return Requirement(key, "lt" if operator == "<" else "gt", (value,)), position
    return Requirement(key, "notin" if operator == "!=" else "in", (value,)), position


def _values(tokens: list[str], position: int) -> tuple[tuple[str, ...], int]:
    if position == len(tokens) or tokens[position] != "(":
        found = tokens[position] if position < len(tokens) else ""
        raise _refused(f"found '{found}' expected: '('")
    position += 1
    values: list[str] = []
    value: str | None = None
    while position < len(tokens):
        token = tokens[position]
        position += 1
        if token == ")":
            values.append(value or "")
            return tuple(sorted(dict.fromkeys(values))), position
        if token == ",":
            values.append(value or "")
            value = None
        elif value is None and token not in ("=", "==", "!=", "!", "(", "<", ">"):
            value = token
        else:
            raise _refused(f"found '{token}', expected: ',' or ')'")
    raise _refused("found '', expected: " + ("',' or ')'" if value is not None else "',', or identifier"))


def _refused(why: str) -> ApiError:
    return ApiError.bad_request(f"unable to parse requirement: {why}")


def _check_key(key: str) -> None:
    if wrong := "; ".join(qualified_name(key)):
        raise ApiError.bad_request(f"unable to parse requirement: <nil>: Invalid value: {quote(key)}: {wrong}")


def _check_value(key: str, value: str) -> None:
    if found := label_value(value):
        where = f"values[0][{key}]: Invalid value: {quote(value)}"
        raise ApiError.bad_request(f"unable to parse requirement: {where}: {'; '.join(found)}")


@lru_cache(maxsize=1024)
def parse_field_selector(text: str) -> FieldSelector:
    """Return the selector. Raise 400 if the text is malformed.

    The caller checks that the kind has the fields. The terms are sorted, so that an error names the first of them.
    """
    terms = []
    for part in sorted(_split_terms(text)):
        if not part:
            continue
        found = re.match(r"((?:[^=!\\]|\\.|!(?!=))*)(!=|==|=)(.*)", part, re.DOTALL)
        if found is None:
            raise ApiError.bad_request(f"invalid selector: '{text}'; can't understand '{part}'")
        term = FieldTerm(found[1], _unescape(found[3]), found[2] != "!=")
        if term.field or term.value:  # nothing of nothing is no condition
            terms.append(term)
    return FieldSelector(tuple(terms))


def _split_terms(text: str) -> Iterator[str]:
    start = position = 0
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] == ",":
            yield text[start:position]
            start = position + 1
        position += 1
    yield text[start:]


def _unescape(value: str) -> str:
    if not re.search(r"[\\,=]", value):
        return value
    plain = []
    position = 0
    while position < len(value):
        char = value[position]
        if char == "\\":
            position += 1
            if position == len(value) or value[position] not in "\\,=":
                after = value[position : position + 1]
                raise ApiError.bad_request(f"invalid field selector: invalid escape sequence: \\{after}")
            char = value[position]
        elif char in ",=":
            raise ApiError.bad_request(f"invalid field selector: unescaped character in value: {ord(char)}")
        plain.append(char)
        position += 1
    return "".join(plain)
