"""A server for clients in Python: `batkube serve --api-only`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from kubernetes import client, config

from ..conformance.servers import batkube

JSON = dict[str, Any]

DEPLOYMENT: JSON = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {"containers": [{"name": "main", "image": "nginx:1"}]},
        },
    },
}


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Of a server on which each test has a namespace of its own."""
    path = tmp_path_factory.mktemp("python-clients") / "kubeconfig"
    with batkube(tls=True) as server:
        path.write_text(yaml.safe_dump(server.kubeconfig()))
        yield path


@pytest.fixture
def namespace(kubeconfig: Path, request: pytest.FixtureRequest) -> str:
    name = str(request.node.name).replace("_", "-")[:60].strip("-")
    with config.new_client_from_config(str(kubeconfig)) as api:
        client.CoreV1Api(api).create_namespace(client.V1Namespace(metadata=client.V1ObjectMeta(name=name)))
    return name
