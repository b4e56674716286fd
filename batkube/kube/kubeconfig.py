"""The kubeconfig that points a client at this server."""

from pathlib import Path
from typing import Any

import yaml


def kubeconfig(server: str) -> dict[str, Any]:
    """The kubeconfig (``clientcmd`` v1 Config) for a server at the URL ``server``.

    There is no TLS to be verified; that it need not be gives client-go a transport of its own with 25 idle connections.
    Go's default transport, which plain HTTP gets otherwise, keeps 2, and opens another for nearly every binding
    (``rest.TLSConfigFor``, ``tlsTransportCache.get`` of client-go).
    """
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "batkube", "cluster": {"server": server, "insecure-skip-tls-verify": True}}],
        "users": [{"name": "batkube", "user": {}}],
        "contexts": [{"name": "batkube", "context": {"cluster": "batkube", "user": "batkube"}}],
        "current-context": "batkube",
    }


def kubeconfig_text(server: str) -> str:
    """The same as YAML."""
    return yaml.safe_dump(kubeconfig(server), sort_keys=False)


def write_kubeconfig(path: Path, server: str) -> None:
    """Write it to ``path`` in one step, so that a client that waits for the file never reads half of it.

    Raises ``OSError`` where the folder cannot be made or written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_name(path.name + ".part")
    partial.write_text(kubeconfig_text(server))
    partial.replace(path)
