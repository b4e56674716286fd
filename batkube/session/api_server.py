"""An API server as settings say: who may come in, its plugins, gates and versions, and what it has from its start."""

import logging
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from batkube.api_settings import AccessSettings, ApiSettings
from batkube.kube.schema.gates import read_gates, without_effect
from batkube.kube.schema.runtime_config import read_runtime_config
from batkube.kube.server import ApiServer
from batkube.session.access import wants_tls, write_access
from batkube.settings import ServeSettings

log = logging.getLogger(__name__)


def api_server(
    settings: AccessSettings, api: ApiSettings, *, without_plugins: Sequence[str] = (), **options: Any
) -> ApiServer:
    """Return the server, not started; ``options`` are what else it takes.

    It does without the plugins, unless they are asked for. Raises AdmissionError, GateError, RuntimeConfigError and
    ManifestError.
    """
    if wants_tls(settings):
        from batkube.kube.authentication.certificates import Authority  # it takes a while to load

        options["authority"] = Authority()
    hostnames = (settings.external_hostname,) if settings.external_hostname else ()
    if idle := without_effect(read_gates(api.feature_gates)):
        log.warning("--feature-gates: %s: no difference here", ", ".join(idle))
    server, warnings = given_server(
        api, without_plugins=without_plugins, token=settings.token, hostnames=hostnames, **options
    )
    for warning in warnings:
        log.warning("%s", warning)
    return server


def given_server(
    api: ApiSettings, *, without_plugins: Sequence[str] = (), holds_workloads: bool = False, **options: Any
) -> tuple[ApiServer, list[str]]:
    """Return a server with the objects that it is to have from its start, and what to warn of.

    ``holds_workloads``: pods of files, and what becomes pods, are made later, when there are nodes. Raises as
    ``api_server`` does.
    """
    enabled = api.enable_admission_plugins
    disabled = [*api.disable_admission_plugins, *(name for name in without_plugins if name not in enabled)]
    server = ApiServer(
        enable_admission_plugins=enabled,
        disable_admission_plugins=disabled,
        feature_gates=read_gates(api.feature_gates),
        runtime_config=read_runtime_config(api.runtime_config),
        **options,
    )
    if not (api.definitions or api.objects):
        return server, []
    from batkube.session.manifests import create_all, define_all

    if holds_workloads:
        server.hold_workloads()
    return server, [*define_all(server, api.definitions), *create_all(server, api.objects)]


async def start_api(settings: ServeSettings, server: ApiServer, stack: AsyncExitStack) -> tuple[ApiServer, Path]:
    """Start ``server``, which ``stack`` stops, and write its kubeconfig; where that lies."""
    await server.start(settings.host, settings.port)
    stack.push_async_callback(server.stop)
    path = settings.kubeconfig or settings.out / "kubeconfig"
    write_access(settings.access, server, path)
    return server, path.absolute()
