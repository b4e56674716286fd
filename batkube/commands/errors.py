"""Errors of the commands: a line on standard error, which shows all characters of a name, whatever they are."""

import sys

LONGEST = 700
"""The characters of an error that are shown: the rest is cut out of its middle, since both ends say something."""


def tell(what: str | Exception, *, whole: bool = False) -> None:
    """Say it. ``whole``: however long it is."""
    text = shown(told(what))
    if not whole and len(text) > LONGEST:
        text = f"{text[: LONGEST * 2 // 3]} ... {text[-LONGEST // 3 :]}"
    print(f"batkube: {text}", file=sys.stderr, flush=True)


def told(what: str | Exception) -> str:
    """Return the words of an error; of one of the system's file and reason, as far as it has them."""
    if not isinstance(what, OSError) or not what.strerror:
        return str(what)
    return what.strerror if what.filename is None else f"{what.filename or repr('')}: {what.strerror}"


def shown(text: str) -> str:
    """Return a text on one line, with escapes in the place of what cannot be seen or would move the cursor."""
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)
