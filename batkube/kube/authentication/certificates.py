"""A certificate authority made at start, and the certificates that it signs."""

from __future__ import annotations

import ipaddress
import ssl
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

# Clients may live at any date: a simulation on the clock of 1970 starts its scheduler a minute before, one on that of
# 3000 long after. These are the earliest date that a certificate can carry and the one that means "no end" (RFC 5280,
# 4.1.2.5).
VALID_FROM = datetime(1950, 1, 1)
VALID_UNTIL = datetime(9999, 12, 31, 23, 59, 59)

SERVICE = "kubernetes"
SERVER_NAMES = (
    "localhost", "127.0.0.1", "::1",
    SERVICE, f"{SERVICE}.default", f"{SERVICE}.default.svc", f"{SERVICE}.default.svc.cluster.local",
)  # fmt: skip
"""The names of every server of ours: on its machine, and in its cluster (the service `kubernetes`)."""


@dataclass(frozen=True, slots=True)
class Certificate:
    """A certificate and its private key, both in PEM."""

    certificate: bytes
    key: bytes


class Authority:
    """An authority that signs certificates. Its key never leaves the memory of this process."""

    def __init__(self) -> None:
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = _name("batkube-ca")
        builder = _builder(self._name, self._name, self._key.public_key())
        builder = builder.add_extension(x509.BasicConstraints(ca=True, path_length=0), critical=True)
        builder = builder.add_extension(_usage(signs=True), critical=True)
        self._certificate = builder.sign(self._key, SHA256())
        self.certificate = self._certificate.public_bytes(Encoding.PEM)
        """The certificate in PEM, which clients must trust."""

    def server(self, names: Iterable[str]) -> Certificate:
        """Return a certificate for a server with these host names and addresses."""
        wanted = tuple(dict.fromkeys(names))
        alternatives = x509.SubjectAlternativeName([_alternative(name) for name in wanted])
        return self._issue(_name(wanted[0]), ExtendedKeyUsageOID.SERVER_AUTH, alternatives)

    def client(self, user: str, groups: Sequence[str] = ()) -> Certificate:
        """Return a certificate for a user: common name and organisations, as Kubernetes reads them."""
        return self._issue(_name(user, groups), ExtendedKeyUsageOID.CLIENT_AUTH)

    def _issue(
        self, subject: x509.Name, purpose: x509.ObjectIdentifier, *extensions: x509.ExtensionType
    ) -> Certificate:
        key = ec.generate_private_key(ec.SECP256R1())
        builder = _builder(subject, self._name, key.public_key())
        for extension in (
            x509.ExtendedKeyUsage([purpose]),
            x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key()),
            *extensions,
        ):
            builder = builder.add_extension(extension, critical=False)
        builder = builder.add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        builder = builder.add_extension(_usage(signs=False), critical=True)
        certificate = builder.sign(self._key, SHA256())
        return Certificate(
            certificate.public_bytes(Encoding.PEM),
            key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        )


def server_context(authority: Authority, names: Iterable[str]) -> ssl.SSLContext:
    """Return the TLS context of a server with these names. Clients may show a certificate of the same authority.

    The server offers HTTP/1.1 only: a Go client asks for HTTP/2 and takes what it gets. There are no session tickets. A
    client may leave them unread as long as it likes; without them nothing is in flight once the handshake is done.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.options |= ssl.OP_NO_TICKET
    context.num_tickets = 0
    context.set_alpn_protocols(["http/1.1"])
    context.load_verify_locations(cadata=authority.certificate.decode())
    context.verify_mode = ssl.CERT_OPTIONAL
    own = authority.server(names)
    with tempfile.TemporaryDirectory(prefix="batkube-") as folder:  # the only way in is by a file
        path = Path(folder, "server.pem")
        path.write_bytes(own.certificate + own.key)
        context.load_cert_chain(path)
    return context


def _name(common_name: str, organisations: Sequence[str] = ()) -> x509.Name:
    attributes = [x509.NameAttribute(NameOID.ORGANIZATION_NAME, name) for name in organisations]
    return x509.Name([*attributes, x509.NameAttribute(NameOID.COMMON_NAME, common_name)])


def _alternative(name: str) -> x509.GeneralName:
    try:
        return x509.IPAddress(ipaddress.ip_address(name))
    except ValueError:
        return x509.DNSName(name)


def _builder(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(VALID_FROM)
        .not_valid_after(VALID_UNTIL)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key), critical=False)
    )


def _usage(*, signs: bool) -> x509.KeyUsage:
    """Return the usage of a key: it signs certificates, or proves an identity."""
    return x509.KeyUsage(
        digital_signature=not signs,
        key_cert_sign=signs,
        crl_sign=signs,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        encipher_only=False,
        decipher_only=False,
    )
