"""Regular expressions of schemas and rules. They are Go's (`regexp/syntax` with Perl's syntax), which are those of RE2.

The authors of RE2 maintain it as a library for Python, too. The time of a match is linear in the length of the text,
whatever the expression. RE2 accepts some expressions that Go refuses; for these Go's answer is given here. Go's names
of categories with more than two letters (`\\p{Letter}`, since Go 1.25) are not known.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import re2

_MAX_MEMORY = 32 << 20
"""The greatest size, in bytes, of an expression and of the cache of its states."""
_ESCAPED = re.compile(r"\\Q.*?(?:\\E|$)|\\(.)", re.DOTALL)
_NAME = re.compile(r"\w+", re.ASCII)
_WORDS = {
    "missing )": "missing closing )",
    "missing ]": "missing closing ]",
    "trailing \\": "trailing backslash at end of expression",
    "no argument for repetition operator": "missing argument to repetition operator",
    "invalid repetition size": "invalid repeat count",
    "bad repetition operator": "invalid nested repetition operator",
    "invalid perl operator": "invalid or unsupported Perl syntax",
    "invalid named capture group": "invalid named capture",
    "pattern too large - compile failed": "expression too large",
}
"""RE2's errors in Go's words, where they differ."""


class ExpressionError(ValueError):
    """A text that is not a regular expression for Go. The message is Go's."""

    def __init__(self, why: str, where: str) -> None:
        super().__init__(f"error parsing regexp: {why}: `{where}`")


class Expression:
    """A regular expression, to look for in texts."""

    __slots__ = ("_compiled",)

    def __init__(self, compiled: re2._Regexp) -> None:
        self._compiled = compiled

    def search(self, text: str) -> bool:
        """Return True if the expression matches anywhere in the text."""
        return self._compiled.search(_encoded(text)) is not None

    def matches(self, text: str, most: int = -1) -> list[str]:
        """Return the matches from left to right: at most `most`, or all if `most` is negative."""
        found: list[str] = []
        for match in self._compiled.finditer(_encoded(text).decode()):
            if len(found) == most:
                break
            found.append(match.group())
        return found


@lru_cache(maxsize=256)
def expression(text: str) -> Expression:
    """Return the expression. Raise ExpressionError if Go does not accept it."""
    import re2  # takes 20 ms, and most servers need none

    encoded = _encoded(text)
    try:
        names = re2.compile(encoded, _options()).groupindex
        compiled = re2.compile(encoded, _options(never_capture=True))  # tells less of names, and matches faster
    except re2.error as error:
        why, _, where = _plain(error.args[0]).partition(": ")
        raise ExpressionError(_WORDS.get(why, why), where) from None
    if any(found[1] == "C" for found in _ESCAPED.finditer(text)):  # a byte of a character
        raise ExpressionError("invalid escape sequence", "\\C")
    for name in map(_plain, names):
        if not _NAME.fullmatch(name):
            raise ExpressionError("invalid named capture", f"(?{'P' if f'(?P<{name}>' in text else ''}<{name}>")
    return Expression(compiled)


def _options(never_capture: bool = False) -> re2.Options:
    import re2

    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MAX_MEMORY
    options.never_capture = never_capture
    return options


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _plain(said: Any) -> str:
    return said.decode("utf-8", "replace") if isinstance(said, bytes) else str(said)
