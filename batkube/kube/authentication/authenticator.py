"""The authentication of clients: bearer tokens and client certificates.

A known user may do everything (authorization mode AlwaysAllow). If no authentication is required, an unknown user is an
administrator, too. If it is required, an unknown user gets the few answers that a real cluster gives to strangers, and
401 for all other requests.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Collection, Mapping
from typing import Any

from ..apimachinery.status import ApiError
from ..apimachinery.users import ADMIN, ANONYMOUS, AUTHENTICATED, UNAUTHENTICATED, User
from ..kinds.core.service_accounts import read_token
from ..kinds.strategy import Reader
from .token_signer import TokenSigner

PUBLIC_PATHS = frozenset((b"/healthz", b"/livez", b"/readyz", b"/version", b"/version/"))
"""The paths that unknown users may read: the cluster role `system:public-info-viewer` of every cluster with RBAC."""


class Authentication:
    """The authentication of users by tokens and certificates.

    `token` is the administrator's. Tokens that this server gave to service accounts (`store`) are valid as well, until
    they expire (`now`: simulated Unix seconds). `required`: unknown users are not let in.

    `signer` signs the tokens of service accounts. Its key is secret if they protect something, and so it differs each
    time. If not, the same server gives the same tokens each time.
    """

    def __init__(self, store: Reader, now: Callable[[], float], *, token: str | None, required: bool) -> None:
        self.required = required
        self.signer = TokenSigner(secret=required)
        self._store = store
        self._now = now
        self._token = token.encode() if token else b""

    def user(self, method: str, path: bytes, authorization: bytes, certified: User | None) -> User:
        """Return the user of a request with this Authorization header. Raise ApiError 401 if the user may not come in.

        `certified` is the user in the client certificate of the connection. A certificate goes before a token. An
        unknown token is 401 for every path.
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
        """Return the user of a token; None if the token is unknown."""
        if self._token and hmac.compare_digest(token, self._token):
            return ADMIN
        return read_token(token, self._store, self.signer, self._now())

    def allows(self, user: str, groups: Collection[str], verb: str, path: str | None) -> bool:
        """Return True if the user may do what an access review asks about. `path` is None if it is about a resource."""
        if not self.required or (user != ANONYMOUS.name and UNAUTHENTICATED not in groups):
            return True
        return verb == "get" and path is not None and path.encode() in PUBLIC_PATHS


def certified_user(certificate: Mapping[str, Any]) -> User | None:
    """Return the user of a verified client certificate (`ssl.SSLSocket.getpeercert`): its common name.

    The organisations are the groups. Return None if there is no common name.
    """
    names: dict[str, list[str]] = {}
    for attributes in certificate.get("subject", ()):
        for key, value in attributes:
            names.setdefault(key, []).append(value)
    if not names.get("commonName"):
        return None
    return User(names["commonName"][-1], (*names.get("organizationName", ()), AUTHENTICATED))


def _bearer(authorization: bytes) -> bytes:
    """Return the token in an Authorization header; empty if there is none."""
    words = authorization.strip().split(b" ", 2)
    return words[1] if len(words) > 1 and words[0].lower() == b"bearer" else b""
