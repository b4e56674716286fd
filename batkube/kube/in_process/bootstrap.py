"""The objects that every cluster has from the start: the namespaces, priority classes and the service that the real
server creates itself.
"""

from __future__ import annotations

import copy
from typing import Any

from ..verbs.api import Api
from ..verbs.create import create
from ..verbs.write import Write

JSON = dict[str, Any]

NAMESPACES = ("default", "kube-node-lease", "kube-public", "kube-system")
CLIENT_AUTHORITY = "extension-apiserver-authentication"
"""The config map that tells servers which delegate authentication how to check client certificates."""
OLD_TOKENS = "kube-apiserver-legacy-service-account-token-tracking"
"""The config map with the date since which the use of service accounts' old, lasting tokens is recorded."""


def bootstrap(api: Api, authority: bytes | None = None) -> None:
    """Create the objects that are missing. `authority` is the certificate of the authority that signs those
    of clients.
    """
    namespaces = api.registry.named("namespaces")
    for name in NAMESPACES:
        if api.store.get(namespaces.storage, "", name) is None:
            create(Write.of(api, namespaces, ""), {"metadata": {"name": name}})
    services = api.registry.named("services")
    if api.store.get(services.storage, "default", "kubernetes") is None:
        create(Write.of(api, services, "default"), copy.deepcopy(_API_SERVICE))
    config_maps = api.registry.named("configmaps")
    if api.store.get(config_maps.storage, "kube-system", CLIENT_AUTHORITY) is None:
        data = {"data": {"client-ca-file": authority.decode()}} if authority else {}
        create(Write.of(api, config_maps, "kube-system"), {"metadata": {"name": CLIENT_AUTHORITY}, **data})
    if api.store.get(config_maps.storage, "kube-system", OLD_TOKENS) is None:
        since = api.clock.seconds()[:10]
        create(Write.of(api, config_maps, "kube-system"), {"metadata": {"name": OLD_TOKENS}, "data": {"since": since}})
    classes = api.registry.named("priorityclasses.scheduling.k8s.io")
    for name, value, what in (
        ("system-cluster-critical", 2_000_000_000, "cluster"),
        ("system-node-critical", 2_000_001_000, "node"),
    ):
        if api.store.get(classes.storage, "", name) is None:
            description = f"Used for system critical pods that must {_WHERE[what]}"
            create(Write.of(api, classes, ""), {"metadata": {"name": name}, "value": value, "description": description})


# The service by which pods find the API server.
_API_SERVICE: JSON = {
    "metadata": {"name": "kubernetes", "labels": {"component": "apiserver", "provider": "kubernetes"}},
    "spec": {"ports": [{"name": "https", "port": 443, "targetPort": 6443}]},
}
_WHERE = {
    "cluster": "run in the cluster, but can be moved to another node if necessary.",
    "node": "not be moved from their current node.",
}
