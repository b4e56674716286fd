"""`A=true,B=false`: how kube-apiserver's flags say what is on and what is off."""

from __future__ import annotations

from collections.abc import Iterable

# What Go's strconv.ParseBool takes.
_WORDS = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)


def read_booleans(texts: Iterable[str], default: bool | None = None) -> dict[str, bool]:
    """The names and their values, the last word for each. `default` is meant by a name alone. ValueError names the word
    that is wrong.
    """
    values: dict[str, bool] = {}
    for text in texts:
        for word in filter(None, (word.strip() for word in text.split(","))):
            name, equals, value = (part.strip() for part in word.partition("="))
            on = _WORDS.get(value) if equals else default
            if not name or on is None:
                raise ValueError(f"expected NAME=true or NAME=false, not {word!r}")
            values[name] = on
    return values
