"""The files with which clients find this server and authenticate: kubeconfigs, and the files of a pod."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from ..codec.yaml_text import dumped

if TYPE_CHECKING:
    from .certificates import Certificate

NAMESPACE = "default"
"""The namespace of clients that read it from the files of a pod."""


def kubeconfig(
    server: str,
    *,
    authority: bytes | None = None,
    token: str | None = None,
    certificate: Certificate | None = None,
) -> dict[str, Any]:
    """Return the kubeconfig (``clientcmd`` v1 Config) for a server at the URL ``server``.

    ``authority`` is the certificate, in PEM, of the authority that vouches for the server; None without TLS.
    """
    trust = {} if authority is None else {"certificate-authority-data": _base64(authority)}
    user = {}
    if certificate is not None:
        user["client-certificate-data"] = _base64(certificate.certificate)
        user["client-key-data"] = _base64(certificate.key)
    elif token is not None:
        user["token"] = token
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "batkube", "cluster": {"server": server, **trust}}],
        "users": [{"name": "batkube", "user": user}],
        "contexts": [{"name": "batkube", "context": {"cluster": "batkube", "user": "batkube"}}],
        "current-context": "batkube",
    }


def kubeconfig_text(config: dict[str, Any]) -> str:
    """Return the kubeconfig as YAML."""
    return dumped(config, sort_keys=False)


def write_kubeconfig(path: Path, config: dict[str, Any]) -> None:
    """Write the kubeconfig to ``path`` in one step, so that a client that waits for the file never reads half of it.

    If the file holds a secret, only its owner may read it. Raise ``OSError`` if the folder cannot be made or written.
    """
    _write(path, kubeconfig_text(config), secret=bool(config["users"][0]["user"]))


def write_service_account(folder: Path, server: str, *, authority: bytes, token: str) -> dict[str, str]:
    """Write the files that a pod finds in /var/run/secrets/kubernetes.io/serviceaccount, for clients that need them.

    Beside them is the file ``environment``: the environment variables that belong to them, one a line. Return these
    variables. Raise ``OSError`` if a file cannot be written.
    """
    address = urlsplit(server)
    variables = {"KUBERNETES_SERVICE_HOST": address.hostname or "", "KUBERNETES_SERVICE_PORT": str(address.port)}
    _write(folder / "environment", "".join(f"{name}={value}\n" for name, value in variables.items()))
    _write(folder / "ca.crt", authority.decode())
    _write(folder / "namespace", NAMESPACE)
    _write(folder / "token", token, secret=True)
    return variables


def _write(path: Path, text: str, *, secret: bool = False) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.exists() and not path.is_file():  # a device, which must not be replaced
        path.write_text(text)
        return
    partial = path.with_name(path.name + ".part")
    partial.unlink(missing_ok=True)
    partial.touch(0o600 if secret else 0o666)
    partial.write_text(text)
    partial.replace(path)


def _base64(data: bytes) -> str:
    return base64.b64encode(data).decode()
