"""Who may come in: bearer tokens and client certificates.

Whoever is known may do everything (authorization mode AlwaysAllow). Who is not known is an administrator too where no
authentication is required; where it is, he gets the few answers that a real cluster gives to strangers, and 401 else.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Callable, Collection, Mapping
from typing import Any

from .kinds.service_accounts import read_token
from .status import ApiError
from .strategy import Reader
from .users import ADMIN, ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User

PUBLIC_PATHS = frozenset((b"/healthz", b"/livez", b"/readyz", b"/version", b"/version/"))
"""What strangers may read: the cluster role `system:public-info-viewer` of every cluster with RBAC."""


class Authentication:
    """Tells users by what they show.

    `token` is the administrator's; tokens that this server gave to service accounts (`store`) are good as well, until
    they expire (`now`: simulated Unix seconds). `required`: strangers are not let in.

    `token_key` signs the tokens of service accounts. It is secret, and so another each time, where they are worth
    something; else the same server gives the same tokens each time.
    """

    def __init__(self, store: Reader, now: Callable[[], float], *, token: str | None, required: bool) -> None:
        self.required = required
        self.token_key = secrets.token_bytes(32) if required else b""
        self._store = store
        self._now = now
        self._token = token.encode() if token else b""

    def user(self, method: str, path: bytes, authorization: bytes, certified: User | None) -> User:
        """Who sends a request with this Authorization header, over a connection whose client certificate says
        `certified`. Raises ApiError 401.

        A certificate goes before a token; a token that nobody has is 401 whatever is asked for.
        """
        if certified is not None:
            return certified
        if authorization:
            token = _bearer(authorization)
            if token:
                user = self.user_of_token(token)
                if user is None:
                    raise ApiError.unauthorized()
                return user
        if not self.required:
            return ADMIN
        if method == "GET" and path in PUBLIC_PATHS:
            return ANONYMOUS
        raise ApiError.unauthorized()

    def user_of_token(self, token: bytes) -> User | None:
        """Whose token that is."""
        if self._token and hmac.compare_digest(token, self._token):
            return ADMIN
        return read_token(token, self._store, self.token_key, self._now())

    def allows(self, user: str, groups: Collection[str], verb: str, path: str | None) -> bool:
        """Whether somebody may do what an access review asks of. `path` is None where that is about a resource."""
        if not self.required or (user != ANONYMOUS.name and UNAUTHENTICATED not in groups):
            return True
        return verb == "get" and path is not None and path.encode() in PUBLIC_PATHS


def certified_user(certificate: Mapping[str, Any]) -> User | None:
    """The user whom a verified client certificate (`ssl.SSLSocket.getpeercert`) names: its common name, with its
    organisations as groups. None where it has no common name.
    """
    names: dict[str, list[str]] = {}
    for attributes in certificate.get("subject", ()):
        for key, value in attributes:
            names.setdefault(key, []).append(value)
    if not names.get("commonName"):
        return None
    return User(names["commonName"][-1], (*names.get("organizationName", ()), AUTHENTICATED))


def _bearer(authorization: bytes) -> bytes:
    """The token in an Authorization header; empty where there is none."""
    words = authorization.strip().split(b" ", 2)
    return words[1] if len(words) > 1 and words[0].lower() == b"bearer" else b""
