"""Regular expressions of schemas and rules. They are Go's (`regexp/syntax`, Perl's way), and Python's are others: here
they are put in Python's words. Without regard to case only ASCII's letters are the same.
"""

from __future__ import annotations

import re
from functools import lru_cache

_MAX_REPEAT = 1000
_FLAGS = "ims"
_REPEAT = re.compile(r"\{(\d+)(,(\d*))?\}")
_GROUP = re.compile(r"\(\?([imsU]*)(?:-([imsU]+))?([:)])")
_NAMED = re.compile(r"\(\?P?<(\w+)>")
_CLASS = re.compile(r"\[:(\^?)(\w+):\]")
_HEX = re.compile(r"\\x(?:\{([0-9a-fA-F]+)\}|([0-9a-fA-F]{2}))")
_OCTAL = re.compile(r"\\(0[0-7]{0,2}|[1-7][0-7]{1,2})")
_CONTROLS = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_PLACES = {"^": "(?:^)", "$": r"(?:\Z)", "A": r"(?:\A)", "z": r"(?:\Z)", "b": r"(?:\b)", "B": r"(?:\B|\A\Z)"}
"""In groups: in Go even these may be repeated."""
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": r"\x00-\x7f",
    "blank": r"\t ",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r"\t-\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_NOT_IN = {"d": "0-9", "s": r"\t\n\f\r ", "w": "0-9A-Za-z_"}
"""What `\\d`, `\\s` and `\\w` stand for."""


class ExpressionError(ValueError):
    """A text that Go takes for no regular expression."""


class _Unknown(Exception):
    """What Python has no words for: classes of Unicode, swapped greed, negated classes among others."""


@lru_cache(maxsize=1024)
def expression(text: str) -> re.Pattern[str] | None:
    """The expression, for `search`; None where Python cannot say it. Raises ExpressionError."""
    try:
        return re.compile(_Translation(text).whole(), re.ASCII)
    except _Unknown:
        return None
    except (re.error, OverflowError, RecursionError) as error:
        raise ExpressionError(str(error)) from None


class _Translation:
    """Goes through a text from left to right.

    Flags in the middle of a group, `(?i)`, hold to its end in Go; Python knows them as a group of their own only. So
    one is opened there, and closed and opened anew at each `|`.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._made: list[str] = []
        self._groups: list[tuple[str, bool]] = []
        """Of the groups around: their flags, and whether one is open for flags in the middle."""
        self._flags, self._in_middle = "", False
        self._repeated = False

    def whole(self) -> str:
        while self._at < len(self._text):
            self._step(self._text[self._at])
        self._end_middle()
        return "".join(self._made)

    def _step(self, char: str) -> None:
        repeated, self._repeated = self._repeated, False
        if char in "*+?" or (char == "{" and _REPEAT.match(self._text, self._at)):
            self._repeat(repeated)
        elif char == "(":
            self._open()
        elif char == ")":
            self._end_middle()
            if self._groups:
                self._flags, self._in_middle = self._groups.pop()
            self._add(")", 1)
        elif char == "|":
            again = self._in_middle
            self._end_middle()
            self._add("|", 1)
            if again:
                self._begin_middle()
        elif char == "[":
            self._set()
        elif char == "\\":
            self._escape()
        elif char in "^$":
            self._add("(?:$)" if char == "$" and "m" in self._flags else _PLACES[char], 1)
        else:
            self._add(char if char == "." else re.escape(char), 1)

    def _add(self, made: str, length: int) -> None:
        self._made.append(made)
        self._at += length

    def _repeat(self, repeated: bool) -> None:
        found = _REPEAT.match(self._text, self._at)
        if repeated:
            raise ExpressionError("invalid nested repetition operator")
        if found and max(int(found[1]), int(found[3] or 0)) > _MAX_REPEAT:
            raise ExpressionError("invalid repeat count")
        said = found[0] if found else self._text[self._at]
        if self._text[self._at + len(said) : self._at + len(said) + 1] == "?":
            said += "?"
        self._add(said, len(said))
        self._repeated = True

    def _open(self) -> None:
        text, at = self._text, self._at
        if not text.startswith("(?", at):
            self._groups.append((self._flags, self._in_middle))
            self._in_middle = False
            self._add("(", 1)
        elif found := _GROUP.match(text, at):
            on, off = found[1], found[2] or ""
            if "U" in on + off:
                raise _Unknown
            flags = "".join(flag for flag in _FLAGS if flag not in off and (flag in on or flag in self._flags))
            self._at = found.end()
            if found[3] == ")":
                self._end_middle()
                self._flags = flags
                self._begin_middle()
            else:
                self._groups.append((self._flags, self._in_middle))
                self._flags, self._in_middle = flags, False
                self._made.append(self._flagged())
        elif found := _NAMED.match(text, at):
            self._groups.append((self._flags, self._in_middle))
            self._in_middle = False
            self._add(f"(?P<{found[1]}>", len(found[0]))
        else:
            raise ExpressionError("invalid or unsupported Perl syntax")

    def _flagged(self) -> str:
        off = "".join(flag for flag in _FLAGS if flag not in self._flags)
        return f"(?{self._flags}{'-' if off else ''}{off}:"

    def _begin_middle(self) -> None:
        self._made.append(self._flagged())
        self._in_middle = True

    def _end_middle(self) -> None:
        if self._in_middle:
            self._made.append(")")
        self._in_middle = False

    def _escape(self) -> None:
        char = self._text[self._at + 1 : self._at + 2]
        if char == "Q":
            quoted, _, _ = self._text[self._at + 2 :].partition("\\E")
            self._add(re.escape(quoted), 4 + len(quoted))
        elif char.isalpha() and char in _PLACES:
            self._add(_PLACES[char], 2)
        elif char in ("d", "D", "s", "S", "w", "W"):
            self._add(f"[{'^' if char.isupper() else ''}{_NOT_IN[char.lower()]}]", 2)
        elif char in ("p", "P"):
            raise _Unknown
        else:
            self._made.append(re.escape(self._character()))

    def _character(self) -> str:
        """The one that stands here, escaped or not."""
        text, at = self._text, self._at
        char = text[at : at + 1]
        if char != "\\":
            self._at += 1
            return char
        char = text[at + 1 : at + 2]
        if found := _HEX.match(text, at) or _OCTAL.match(text, at):
            self._at = found.end()
            code = int(found[1] or found[2], 16) if found.re is _HEX else int(found[1], 8)
            if code > 0x10FFFF:
                raise ExpressionError("invalid escape sequence")
            return chr(code)
        if char in _CONTROLS or (char.isascii() and not char.isalnum() and char):
            self._at += 2
            return _CONTROLS.get(char, char)
        raise ExpressionError("invalid escape sequence")

    def _set(self) -> None:
        text = self._text
        negated = text.startswith("[^", self._at)
        self._at += 1 + negated
        made, first = "", True
        while first or not text.startswith("]", self._at):
            first = False
            if self._at >= len(text):
                raise ExpressionError("missing closing ]")
            if found := _CLASS.match(text, self._at):
                if found[2] not in _CLASSES:
                    raise ExpressionError("invalid character class range")
                if found[1]:
                    raise _Unknown
                made += _CLASSES[found[2]]
                self._at = found.end()
            elif text.startswith("\\", self._at) and text[self._at + 1 : self._at + 2] in tuple("dDsSwWpP"):
                char = text[self._at + 1]
                if char in "pP":
                    raise _Unknown
                made += _NOT_IN.get(char, f"\\{char}")
                self._at += 2
            else:
                made += self._range()
        self._at += 1
        self._made.append(f"[{'^' if negated else ''}{made}]")

    def _range(self) -> str:
        first = self._character()
        if not self._text.startswith("-", self._at) or self._text.startswith("-]", self._at):
            return re.escape(first)
        self._at += 1
        last = self._character()
        if last < first:
            raise ExpressionError("invalid character class range")
        return f"{re.escape(first)}-{re.escape(last)}"
