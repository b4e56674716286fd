"""The small language of conditions on figures: ``mean_wait <= 1.05 * baseline``, ``mean_wait > +5%``.

::

    condition  = sum ("<" | "<=" | ">" | ">=" | "==" | "!=") (change | sum)
    change     = ("+" | "-") number ["%"]                           of the left side's figure, against the baseline
    sum        = product {("+" | "-") product}
    product    = factor {("*" | "/") factor}
    factor     = number ["%" | "s" | "min" | "h" | "d"] | figure | "baseline" ["." figure] | "(" sum ")"
    figure     = name ["[" group "=" value "]"]                     mean_wait[queue=batch]

It is read and computed here; nothing of Python is evaluated.
"""

import operator
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NoReturn

from batkube.comparison.figure_names import GROUPS, known_name, suggestion


class ExpressionError(ValueError):
    """A condition that cannot be read. The text, one line, names what is wrong and where."""


class NoValue(Exception):
    """A figure that a run does not have; the text names it."""


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of the run, or of its baseline; of all jobs, or of a group of them."""

    name: str
    group: tuple[str, str] | None = None
    baseline: bool = False

    def __str__(self) -> str:
        of = f"[{self.group[0]}={self.group[1]}]" if self.group else ""
        return f"{'baseline.' if self.baseline else ''}{self.name}{of}"


@dataclass(frozen=True, slots=True)
class Number:
    """A number."""

    value: float


@dataclass(frozen=True, slots=True)
class Operation:
    """Two expressions, and what is done with them."""

    sign: str
    left: "Expression"
    right: "Expression"


Expression = Figure | Number | Operation
Lookup = Callable[[Figure], float]
"""Returns the value of a figure, or raises NoValue."""

_ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
}
COMPARISONS: dict[str, Callable[[float, float], bool]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
    "==": operator.eq,
    "!=": operator.ne,
}
_UNITS = {"%": 0.01, "s": 1.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_TOKEN = re.compile(
    r"(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?P<unit>%|(?:s|min|h|d)\b)?"
    r"|(?P<name>[A-Za-z_][\w]*(?:\.[A-Za-z_]\w*)*)"
    r"|(?P<group>\[[^\]]*\])"
    r"|(?P<sign><=|>=|==|!=|[-+*/()<>])"
    r"|(?P<space>\s+)"
)
MOST_NESTED = 50


@dataclass(frozen=True, slots=True)
class Condition:
    """A comparison of two expressions, as it was written and as it is computed."""

    text: str
    left: Expression
    sign: str
    right: Expression

    def figures(self) -> list[Figure]:
        """Return the figures in it, in order."""
        return [*_figures(self.left), *_figures(self.right)]

    @property
    def needs_baseline(self) -> bool:
        """True if it cannot be computed without a baseline."""
        return any(figure.baseline for figure in self.figures())

    def holds(self, left: float, right: float) -> bool:
        """Compare two values of the sides."""
        return COMPARISONS[self.sign](left, right)


def value(expression: Expression, lookup: Lookup) -> float:
    """Compute an expression. Raises NoValue."""
    match expression:
        case Number():
            return expression.value
        case Figure():
            return lookup(expression)
        case Operation():
            left, right = value(expression.left, lookup), value(expression.right, lookup)
            if expression.sign == "/" and right == 0:
                raise NoValue(f"a division by {_text(expression.right)}, which is 0,")
            return _ARITHMETIC[expression.sign](left, right)


def read_condition(text: str) -> Condition:
    """Read a condition. Raises ExpressionError."""
    return _Reader(text).condition()


def _figures(expression: Expression) -> Iterator[Figure]:
    if isinstance(expression, Figure):
        yield expression
    elif isinstance(expression, Operation):
        yield from _figures(expression.left)
        yield from _figures(expression.right)


def _text(expression: Expression) -> str:
    match expression:
        case Number():
            return f"{expression.value:g}"
        case Figure():
            return str(expression)
        case Operation():
            return f"({_text(expression.left)} {expression.sign} {_text(expression.right)})"


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    place: int
    number: float = 0.0
    percent: bool = False


class _Reader:
    """Reads one condition, from left to right."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = list(self._scan())
        self._next = 0
        self._depth = 0

    def condition(self) -> Condition:
        left = self._sum()
        sign = self._take()
        if sign.text not in COMPARISONS:
            self._fail(sign, "expected one of " + " ".join(COMPARISONS))
        right = self._change(left) if self._peek().text in ("+", "-") else self._sum()
        if (rest := self._take()).kind != "end":
            self._fail(rest, "expected the end")
        right = self._with_baseline(right, left)
        if self._has_bare_baseline(left):
            raise ExpressionError(f"{self._text!r}: baseline alone stands at the right; else write baseline.NAME")
        found = Condition(self._text.strip(), left, sign.text, right)
        if not found.figures():
            raise ExpressionError(f"{self._text!r}: there is no figure in it, as in mean_wait < 600")
        return found

    def _sum(self) -> Expression:
        found = self._product()
        while self._peek().text in ("+", "-"):
            found = Operation(self._take().text, found, self._product())
        return found

    def _product(self) -> Expression:
        found = self._factor()
        while self._peek().text in ("*", "/"):
            found = Operation(self._take().text, found, self._factor())
        return found

    def _factor(self) -> Expression:
        token = self._take()
        if token.kind == "number":
            return Number(token.number)
        if token.kind == "name":
            return self._figure(token)
        if token.text == "(":
            self._depth += 1
            if self._depth > MOST_NESTED:
                self._fail(token, f"more than {MOST_NESTED} parentheses in one another")
            found = self._sum()
            if (close := self._take()).text != ")":
                self._fail(close, "expected )")
            self._depth -= 1
            return found
        return self._fail(token, "expected a number, a figure or (")

    def _figure(self, token: _Token) -> Figure:
        baseline, name = False, token.text
        if name == "baseline":
            return Figure("", baseline=True)
        if name.startswith("baseline."):
            baseline, name = True, name.removeprefix("baseline.")
        known = known_name(name)
        if known is None:
            raise ExpressionError(f"{self._text!r}: there is no figure {name}; {suggestion(name)}")
        group = None
        if self._peek().kind == "group":
            of = self._take()
            kind, equals, member = of.text[1:-1].partition("=")
            kind, member = kind.strip(), member.strip().strip("\"'")
            if kind not in GROUPS or not equals or not member:
                self._fail(of, f"expected one of {', '.join(f'[{name}=...]' for name in GROUPS)}")
            group = (kind, member)
        return Figure(known, group, baseline)

    def _change(self, left: Expression) -> Expression:
        """Read the right side of ``mean_wait > +5%``: so much more than the baseline."""
        sign = self._take().text
        token = self._take()
        if token.kind != "number":
            self._fail(token, "expected a number after the sign, as in +5%")
        before = self._baseline_of(left)
        amount = Operation("*", before, Number(token.number)) if token.percent else Number(token.number)
        return Operation(sign, before, amount)

    def _with_baseline(self, expression: Expression, left: Expression) -> Expression:
        """Put the figure of the left side where the right one says ``baseline`` and nothing more."""
        match expression:
            case Figure(name=""):
                return self._baseline_of(left)
            case Operation():
                sides = (self._with_baseline(side, left) for side in (expression.left, expression.right))
                return Operation(expression.sign, *sides)
        return expression

    def _baseline_of(self, left: Expression) -> Figure:
        if not isinstance(left, Figure) or left.baseline:
            raise ExpressionError(
                f"{self._text!r}: of which figure? Write baseline.NAME where the left side is not just one"
            )
        return Figure(left.name, left.group, baseline=True)

    def _has_bare_baseline(self, expression: Expression) -> bool:
        return any(not figure.name for figure in _figures(expression))

    # Tokens

    def _scan(self) -> Iterator[_Token]:
        place = 0
        while place < len(self._text):
            found = _TOKEN.match(self._text, place)
            if found is None or found.lastgroup is None:
                raise ExpressionError(
                    f"{self._text!r}: {self._text[place]!r} (character {place + 1}) means nothing here"
                )
            if found["number"] is not None:
                number = float(found["number"]) * _UNITS[found["unit"] or "s"]
                yield _Token("number", found[0], place, number, found["unit"] == "%")
            elif found["space"] is None:
                kind = "sign" if found["sign"] else "group" if found["group"] else "name"
                yield _Token(kind, found[0], place)
            place = found.end()

    def _peek(self) -> _Token:
        end = _Token("end", "", len(self._text))
        return self._tokens[self._next] if self._next < len(self._tokens) else end

    def _take(self) -> _Token:
        token = self._peek()
        self._next += 1
        return token

    def _fail(self, token: _Token, what: str) -> NoReturn:
        where = f"at {token.text!r} (character {token.place + 1})" if token.text else "at its end"
        raise ExpressionError(f"{self._text!r}: {what}, {where}")
