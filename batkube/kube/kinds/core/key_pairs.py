"""The check that a certificate and a private key belong together, as Go's `tls.X509KeyPair` does it."""

from __future__ import annotations

import re

_BLOCK = re.compile(rb"-----BEGIN ([^-\n]*)-----\r?\n.*?-----END \1-----", re.DOTALL)


def key_pair_problem(certificate: bytes, key: bytes) -> str:
    """Return what is wrong with a certificate and its key, both in PEM; "" if nothing."""
    return _certificate_problem(certificate) or _key_problem(key) or _mismatch(certificate, key)


def _types(pem: bytes) -> list[str]:
    return [match[1].decode(errors="replace") for match in _BLOCK.finditer(pem)]


def _certificate_problem(pem: bytes) -> str:
    found = _types(pem)
    if "CERTIFICATE" in found:
        return ""
    if not found:
        return "tls: failed to find any PEM data in certificate input"
    if len(found) == 1 and found[0].endswith("PRIVATE KEY"):
        return (
            "tls: failed to find certificate PEM data in certificate input, but did find a private key; PEM inputs may "
            "have been switched"
        )
    skipped = " ".join(found)
    what = 'tls: failed to find "CERTIFICATE" PEM block in certificate input'
    return f"{what} after skipping PEM blocks of the following types: [{skipped}]"


def _key_problem(pem: bytes) -> str:
    found = _types(pem)
    if any(name == "PRIVATE KEY" or name.endswith(" PRIVATE KEY") for name in found):
        return ""
    if not found:
        return "tls: failed to find any PEM data in key input"
    if found == ["CERTIFICATE"]:
        return "tls: found a certificate rather than a key in the PEM for the private key"
    skipped = " ".join(found)
    what = 'tls: failed to find PEM block with type ending in "PRIVATE KEY" in key input'
    return f"{what} after skipping PEM blocks of the following types: [{skipped}]"


def _mismatch(certificate: bytes, key: bytes) -> str:
    from cryptography import x509  # takes long to import, and few need it
    from cryptography.hazmat.primitives.serialization import load_pem_private_key

    try:
        public = x509.load_pem_x509_certificate(certificate).public_key()
        fits = load_pem_private_key(key, None).public_key() == public
    except (TypeError, ValueError):  # TypeError: a key under a password
        return "tls: failed to parse private key"
    return "" if fits else "tls: private key does not match public key"
