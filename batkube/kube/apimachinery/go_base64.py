"""Base64 as Go's encoding/base64 reads it: the place of the first byte that is wrong."""

from __future__ import annotations

import string

_LETTERS = string.ascii_letters + string.digits
_STANDARD = frozenset((_LETTERS + "+/").encode())
_URL = frozenset((_LETTERS + "-_").encode())
_NEWLINES, _PADDING = b"\r\n", ord("=")


def corrupt_byte(text: str) -> int | None:
    """Return the position in bytes that Go names for a wrong base64 text (StdEncoding); None for a right one."""
    data = text.encode()
    at, found = 0, 0
    while at < len(data):
        byte = data[at]
        at += 1
        if byte in _STANDARD:
            found += 1
        elif byte == _PADDING:
            return _wrong_ending(data, at, found % 4)
        elif byte not in _NEWLINES:
            return at - 1
    return at - found % 4 if found % 4 else None


def corrupt_url_byte(text: str) -> int | None:
    """Return the same for base64 of URLs without padding (RawURLEncoding)."""
    data = text.encode()
    count = 0
    for at, byte in enumerate(data):
        if byte in _URL:
            count += 1
        elif byte not in _NEWLINES:
            return at
    return len(data) - 1 if count % 4 == 1 else None


def _wrong_ending(data: bytes, at: int, found: int) -> int | None:
    """Return the same for what begins with padding, the byte before ``at``, after so many letters of four."""
    if found < 2:
        return at - 1
    at = _after_newlines(data, at)
    if found == 2:
        if at == len(data):
            return at
        if data[at] != _PADDING:
            return at - 1
        at = _after_newlines(data, at + 1)
    return at if at < len(data) else None


def _after_newlines(data: bytes, at: int) -> int:
    while at < len(data) and data[at] in _NEWLINES:
        at += 1
    return at
