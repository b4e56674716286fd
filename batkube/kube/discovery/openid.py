"""The documents by which others check the tokens of service accounts: OpenID Connect's provider metadata and the public
keys (`pkg/serviceaccount/openidmetadata.go` and `pkg/routes/openidmetadata.go` of Kubernetes).

The documents are for whoever is known, as the cluster role `system:service-account-issuer-discovery` has it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import orjson

from ..codec.answers import HttpAnswer
from ..codec.negotiation import JSON_TYPE

JSON = dict[str, Any]

CONFIGURATION = "/.well-known/openid-configuration"
KEYS = "/openid/v1/jwks"
TYPES = {CONFIGURATION: JSON_TYPE, KEYS: "application/jwk-set+json"}
"""The media types of the documents, by their paths."""

_CACHED = (b"cache-control", b"public, max-age=3600")


class SigningKey(Protocol):
    """The key that tokens are signed with."""

    algorithm: str

    @property
    def public_key(self) -> JSON:
        """The public key as a JSON Web Key."""
        ...


class IssuerDocuments:
    """The documents of one issuer. `url` returns that of the server, at which the keys are found."""

    def __init__(self, issuer: str, key: SigningKey, url: Callable[[], str]) -> None:
        self._issuer = issuer
        self._key = key
        self._url = url

    def answer(self, path: str) -> HttpAnswer:
        """Return the answer to a GET of one of the two documents."""
        content = self._configuration() if path == CONFIGURATION else {"keys": [self._key.public_key]}
        return HttpAnswer(200, orjson.dumps(content), TYPES[path].encode(), [_CACHED])

    def _configuration(self) -> JSON:
        return {
            "issuer": self._issuer,
            "jwks_uri": f"{self._url()}{KEYS}",
            "response_types_supported": ["id_token"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [self._key.algorithm],
        }
