"""The key pair that signs the tokens of service accounts (`serviceaccount.JWTTokenGenerator` of Kubernetes).

Relying parties check tokens with the public key, which the server publishes (`discovery.openid`). The algorithm is
ES256, one of those that kube-apiserver takes: its signatures can be made without chance (RFC 6979), and a key of it
from any number.
"""

from __future__ import annotations

import base64
import hashlib
from functools import cached_property, lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

JSON = dict[str, Any]

_SIZE = 32  # bytes of a number of P-256
_CHECKED = 1024  # signatures whose check is remembered


class TokenSigner:
    """Signs and checks. The key is made when it is first needed, as loading what makes it takes a while.

    `secret`: nobody knows the key, and so it differs each time. If not, it is the same for each server.
    """

    algorithm = "ES256"

    def __init__(self, *, secret: bool) -> None:
        self._secret = secret
        self.verify = lru_cache(maxsize=_CHECKED)(self._verify)

    @cached_property
    def _key(self) -> EllipticCurvePrivateKey:
        from cryptography.hazmat.primitives.asymmetric import ec

        if self._secret:
            return ec.generate_private_key(ec.SECP256R1())
        return ec.derive_private_key(int.from_bytes(hashlib.sha256(b"service accounts").digest()), ec.SECP256R1())

    @cached_property
    def key_id(self) -> str:
        """The name of the key: the hash of the public one (`keyIDFromPublicKey`)."""
        from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

        public = self._key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
        return _text(hashlib.sha256(public).digest())

    @property
    def public_key(self) -> JSON:
        """The public key as a JSON Web Key, its members in go-jose's order."""
        numbers = self._key.public_key().public_numbers()
        x, y = (_text(number.to_bytes(_SIZE)) for number in (numbers.x, numbers.y))
        return {"use": "sig", "kty": "EC", "kid": self.key_id, "crv": "P-256", "alg": self.algorithm, "x": x, "y": y}

    def sign(self, data: bytes) -> bytes:
        """Return the signature of `data`, as a JSON Web Signature has it."""
        from cryptography.hazmat.primitives.asymmetric import ec, utils
        from cryptography.hazmat.primitives.hashes import SHA256

        signature = self._key.sign(data, ec.ECDSA(SHA256(), deterministic_signing=True))
        return b"".join(number.to_bytes(_SIZE) for number in utils.decode_dss_signature(signature))

    def _verify(self, data: bytes, signature: bytes) -> bool:
        """Return True if the signature is that of `data`."""
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric import ec, utils
        from cryptography.hazmat.primitives.hashes import SHA256

        if len(signature) != 2 * _SIZE:
            return False
        numbers = (int.from_bytes(part) for part in (signature[:_SIZE], signature[_SIZE:]))
        try:
            self._key.public_key().verify(utils.encode_dss_signature(*numbers), data, ec.ECDSA(SHA256()))
        except InvalidSignature:
            return False
        return True


def _text(data: bytes) -> str:
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()
