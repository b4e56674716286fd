"""The scheduler extenders that a KubeSchedulerConfiguration names: the user's own programs, asked over HTTP."""

import base64
import re
import ssl
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

JSON = dict[str, Any]

RELAY = "/batkube/v1/extenders"
"""The path at which the API server passes calls on to extenders."""
DEFAULT_TIMEOUT = 5.0
"""The default time-out in real seconds (kube-scheduler, DefaultExtenderTimeout)."""
LEEWAY = 60.0
"""Real seconds that are added to kube-scheduler's own time-out, so that the relay ends a call."""

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = r"(\d+\.?\d*|\.\d+)(ns|us|µs|ms|s|m|h)"


class ExtenderError(ValueError):
    """An extender in a KubeSchedulerConfiguration cannot be used. The text says which and why."""


@dataclass(frozen=True)
class Extender:
    """An extender that a KubeSchedulerConfiguration names."""

    url: str
    """The extender's ``urlPrefix``, without a slash at the end."""
    timeout: float
    """The time-out in real seconds."""
    errors_in_answers: frozenset[str]
    """The verbs whose answers have a field for an error: filter and bind."""
    context: ssl.SSLContext | bool
    server_name: str | None = None

    @property
    def address(self) -> str:
        """The URL without its scheme."""
        return self.url.partition("://")[2]

    @classmethod
    def read(cls, given: Any, where: str) -> "Extender":
        """Read an entry of ``extenders``. Raises ExtenderError, which says ``where``."""
        if not isinstance(given, dict) or not isinstance(given.get("urlPrefix"), str):
            raise ExtenderError(f"{where}: expected an extender with a urlPrefix")
        url = given["urlPrefix"].rstrip("/")
        try:
            parts = urlsplit(url)
            if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
                raise ValueError("expected http://HOST:PORT/PATH or https://...")
        except ValueError as error:
            raise ExtenderError(f"{where}.urlPrefix: {url!r}: {error}") from None
        tls = given.get("tlsConfig") or {}
        if not isinstance(tls, dict):
            raise ExtenderError(f"{where}.tlsConfig: expected fields such as caFile, not {tls!r}")
        try:
            context = _context(tls, https=bool(given.get("enableHTTPS"))) if url.startswith("https:") else False
        except (OSError, ValueError, TypeError) as error:
            raise ExtenderError(f"{where}.tlsConfig: {error}") from None
        return cls(
            url=url,
            timeout=_seconds(given.get("httpTimeout"), f"{where}.httpTimeout") or DEFAULT_TIMEOUT,
            errors_in_answers=frozenset(filter(None, (given.get("filterVerb"), given.get("bindVerb")))),
            context=context,
            server_name=tls.get("serverName") or None,
        )


def read_extenders(config: JSON, where: str) -> list[Extender]:
    """Return the extenders of a KubeSchedulerConfiguration, in order. Raises ExtenderError."""
    given = config.get("extenders") or []
    if not isinstance(given, list):
        raise ExtenderError(f"{where}: extenders: expected a list of extenders")
    return [Extender.read(one, f"{where}: extenders[{index}]") for index, one in enumerate(given)]


def relayed(given: Sequence[JSON], extenders: Sequence[Extender], server: str, tls: Mapping[str, str]) -> list[JSON]:
    """Return the entries of ``extenders`` for a kube-scheduler that asks through the API server at the URL ``server``.

    ``tls``: the ``tlsConfig`` that kube-scheduler needs there; empty for plain HTTP.
    """
    return [
        {
            **{name: value for name, value in entry.items() if name not in ("enableHTTPS", "tlsConfig")},
            "urlPrefix": f"{server}{RELAY}/{index}/{extender.address}",
            "httpTimeout": f"{extender.timeout + LEEWAY:g}s",
            **({"enableHTTPS": True, "tlsConfig": dict(tls)} if tls else {}),
        }
        for index, (entry, extender) in enumerate(zip(given, extenders, strict=True))
    ]


def _seconds(given: Any, where: str) -> float:
    """Return the seconds of a Go duration (``1m30s``). Raises ExtenderError."""
    if given is None:
        return 0.0
    if isinstance(given, str) and (given == "0" or re.fullmatch(f"({_PART})+", given)):
        return sum(float(number) * _UNITS[unit] for number, unit in re.findall(_PART, given))
    raise ExtenderError(f"{where}: expected a duration such as 5s, not {given!r}")


def _context(tls: Mapping[str, Any], *, https: bool) -> ssl.SSLContext:
    """Return the TLS context, made as kube-scheduler makes it (pkg/scheduler/extender.go).

    Data goes before files. With ``enableHTTPS`` a server is not verified if no authority is named.
    """
    authority = base64.b64decode(tls.get("caData") or "").decode()
    file = tls.get("caFile") or None
    context = ssl.create_default_context(cafile=None if authority else file, cadata=authority or None)
    if tls.get("insecure") or (https and not authority and not file):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate, key = tls.get("certFile"), tls.get("keyFile")
    with tempfile.TemporaryDirectory() as folder:
        if tls.get("certData"):
            certificate = _written(Path(folder) / "certificate", tls["certData"])
        if tls.get("keyData"):
            key = _written(Path(folder) / "key", tls["keyData"])
        if certificate:
            context.load_cert_chain(certificate, key)
    return context


def _written(path: Path, data: str) -> str:
    path.write_bytes(base64.b64decode(data))
    return str(path)
