"""The form in which kube-apiserver's flags turn things on and off: `A=true,B=false`."""

from __future__ import annotations

from collections.abc import Iterable

# What Go's strconv.ParseBool takes.
_WORDS = dict.fromkeys(("1", "t", "T", "TRUE", "true", "True"), True) | dict.fromkeys(
    ("0", "f", "F", "FALSE", "false", "False"), False
)


def read_booleans(texts: Iterable[str], default: bool | None = None) -> dict[str, bool]:
    """Return the names and their values; the last value of a name counts. A name alone has the value `default`.

    Raise ValueError, which names the wrong word.
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
