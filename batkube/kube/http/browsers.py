"""Browsers at a server that lets in nobody unknown: a link with a secret, for which they get a cookie.

The cookie opens the pages and batkube's own paths, and nothing of Kubernetes. Neither it nor the link holds the token
of the administrator.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any

from ..codec.answers import HttpAnswer
from ..verbs.request_options import Query

QUERY = "token"
"""The name of the secret in the link."""
_SAFE = ("GET", "HEAD")
_ONE_DAY = 86_400


class Browsers:
    """The browsers that have come by the link of a server at a port.

    ``origin`` returns the scheme of the server, as `https`, and its port, when it listens.
    """

    def __init__(self, origin: Callable[[], tuple[str, int]]) -> None:
        self._origin = origin
        self._secret = secrets.token_urlsafe(24)
        self._cookie = secrets.token_urlsafe(32)

    @property
    def query(self) -> str:
        """The query of the link."""
        return f"{QUERY}={self._secret}"

    def welcome(self, scope: MutableMapping[str, Any]) -> HttpAnswer | None:
        """Return the answer to somebody who comes by the link: a cookie, and the way to the page; None for others."""
        given = Query(scope["query_string"].decode("latin-1")).get(QUERY)
        if given is None or not hmac.compare_digest(given.encode(), self._secret.encode()):
            return None
        scheme, port = self._origin()
        attributes = f"Path=/; Max-Age={_ONE_DAY}; HttpOnly; SameSite=Strict"
        attributes += "; Secure" if scheme == "https" else ""
        headers = [
            (b"location", b"/"),
            (b"set-cookie", f"{_name(port)}={self._cookie}; {attributes}".encode()),
            (b"cache-control", b"no-store"),
            (b"referrer-policy", b"no-referrer"),
        ]
        return HttpAnswer(303, b"", b"text/plain", headers)

    def knows(self, scope: MutableMapping[str, Any]) -> bool:
        """Tell whether a request has the cookie and, if it changes something, comes from a page of this server."""
        headers = {name: value.decode("latin-1") for name, value in scope["headers"]}
        if b"authorization" in headers:
            return False
        scheme, port = self._origin()
        # A page at another port of the same machine is of the same site.
        if scope["method"] not in _SAFE and headers.get(b"origin") != f"{scheme}://{headers.get(b'host')}":
            return False
        try:
            cookie = SimpleCookie(headers.get(b"cookie", "")).get(_name(port))
        except CookieError:
            return False
        return cookie is not None and hmac.compare_digest(cookie.value.encode(), self._cookie.encode())


def _name(port: int) -> str:
    """Return the name of the cookie: browsers send those of all ports of a machine to each of them."""
    return f"batkube-{port}"
