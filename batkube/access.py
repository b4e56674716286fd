"""Who may come in to a server that a command starts, and how its clients learn it.

On loopback it is plain HTTP unless more is asked for; elsewhere it is HTTPS with a token, or nothing.
"""

import ipaddress
import logging
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from batkube.kube.gates import read_gates, without_effect
from batkube.kube.kubeconfig import write_kubeconfig, write_service_account
from batkube.kube.runtime_config import read_runtime_config
from batkube.kube.server import ApiServer
from batkube.settings import AccessSettings, ApiSettings

log = logging.getLogger(__name__)

_TOKEN = re.compile(r"[!-~]+")
"""What an Authorization header can carry in one word."""


class AccessError(ValueError):
    """What was asked for does not fit together, or would let strangers in. The text says what to do."""


def wants_tls(settings: AccessSettings) -> bool:
    """Whether the server speaks HTTPS."""
    if settings.insecure:
        return False
    asked = settings.token is not None or settings.client_certificate or settings.in_cluster_dir is not None
    return settings.tls or asked


def check_access(settings: AccessSettings, host: str) -> None:
    """Raise AccessError where a server must not listen on ``host`` with these settings."""
    for name in ("tls", "client_certificate", "in_cluster_dir"):
        if settings.insecure and getattr(settings, name):
            option = "--" + name.replace("_", "-")
            raise AccessError(f"--insecure means plain HTTP, {option} needs TLS: drop one of them")
    if settings.token is not None and not _TOKEN.fullmatch(settings.token):
        raise AccessError("--token: expected one word of visible ASCII characters")
    if not wants_tls(settings) and not _is_loopback(host):
        what = "--insecure" if settings.insecure else "plain HTTP"
        raise AccessError(
            f"--host {host} can be reached from other machines, and {what} would let all of them in: add --tls "
            "(clients then need the kubeconfig that is written), or listen on 127.0.0.1"
        )


def api_server(
    settings: AccessSettings, api: ApiSettings, *, without_plugins: Sequence[str] = (), **options: Any
) -> ApiServer:
    """The server, not started; ``options`` are what else it takes. It does without the plugins, unless they are asked
    for. Raises AdmissionError, GateError, RuntimeConfigError and ManifestError.
    """
    if wants_tls(settings):
        from batkube.kube.certificates import Authority  # it takes a while to load

        options["authority"] = Authority()
    hostnames = (settings.external_hostname,) if settings.external_hostname else ()
    enabled = api.enable_admission_plugins
    disabled = [*api.disable_admission_plugins, *(name for name in without_plugins if name not in enabled)]
    gates = read_gates(api.feature_gates)
    if idle := without_effect(gates):
        log.warning("--feature-gates: %s: no difference here", ", ".join(idle))
    server = ApiServer(
        token=settings.token,
        hostnames=hostnames,
        enable_admission_plugins=enabled,
        disable_admission_plugins=disabled,
        feature_gates=gates,
        runtime_config=read_runtime_config(api.runtime_config),
        **options,
    )
    if api.definitions or api.objects:
        from batkube.manifests import create_all, define_all

        define_all(server, api.definitions)
        create_all(server, api.objects)
    return server


def given_files(api: ApiSettings) -> list[Path]:
    """The files with definitions and other objects. Raises ManifestError."""
    from batkube.manifests import files_of

    return [file for path in (*api.definitions, *api.objects) for file in files_of(path)]


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
    """What a client needs that takes no kubeconfig: its authority and a client certificate, in base64, as a
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
