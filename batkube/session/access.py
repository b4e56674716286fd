"""Access to a server that a command starts: who may come in, and how its clients learn it.

On loopback it is plain HTTP unless more is asked for; elsewhere it is HTTPS with a token, or nothing.
"""

import ipaddress
import re
from pathlib import Path

from batkube.api_settings import AccessSettings
from batkube.kube.authentication.kubeconfig import write_kubeconfig, write_service_account
from batkube.kube.server import ApiServer

_TOKEN = re.compile(r"[!-~]+")
"""The characters that an Authorization header can carry in one word."""


class AccessError(ValueError):
    """The options do not fit together, or would let strangers in. The text says what to do."""


def wants_tls(settings: AccessSettings) -> bool:
    """True if the server speaks HTTPS."""
    if settings.insecure:
        return False
    asked = settings.token is not None or settings.client_certificate or settings.in_cluster_dir is not None
    return settings.tls or asked


def check_access(settings: AccessSettings, host: str) -> None:
    """Raise AccessError where a server must not listen on ``host`` with these settings."""
    if settings.token is not None and not _TOKEN.fullmatch(settings.token):
        raise AccessError("--token: expected one word of visible ASCII characters")
    if not wants_tls(settings) and not _is_loopback(host):
        what = "--insecure" if settings.insecure else "plain HTTP"
        raise AccessError(
            f"--host {host} can be reached from other machines, and {what} would let all of them in: add --tls "
            "(clients then need the kubeconfig that is written), or listen on 127.0.0.1"
        )


def write_access(settings: AccessSettings, server: ApiServer, kubeconfig: Path) -> dict[str, str]:
    """Write the kubeconfig of a server that listens and, if asked, what a pod would find; then the variables that go
    with it are returned. Raises OSError.
    """
    write_kubeconfig(kubeconfig, server.kubeconfig(client_certificate=settings.client_certificate))
    if settings.in_cluster_dir is None:
        return {}
    assert server.authority is not None
    assert server.token is not None
    return write_service_account(
        settings.in_cluster_dir, server.url, authority=server.authority.certificate, token=server.token
    )


def client_tls(server: ApiServer) -> dict[str, str]:
    """Return what a client needs that takes no kubeconfig: its authority and a client certificate, in base64, as a
    KubeSchedulerConfiguration has them for extenders. Empty where there is no TLS.
    """
    if server.authority is None:
        return {}
    config = server.kubeconfig(client_certificate=True)
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    return {
        "caData": cluster["certificate-authority-data"],
        "certData": user["client-certificate-data"],
        "keyData": user["client-key-data"],
    }


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
