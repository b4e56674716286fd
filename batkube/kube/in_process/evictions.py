"""Evictions by a caller in this process, as `kubectl drain` asks for them."""

from __future__ import annotations

from typing import Any

from ..kinds.action import ActionRequest
from ..kinds.pods.eviction import Evictions
from ..verbs.api import Api
from ..verbs.operations import WriteOperations
from ..verbs.request_options import Query
from ..verbs.write import Write

JSON = dict[str, Any]


def evict(api: Api, namespace: str, name: str) -> None:
    """Evict a pod, as `POST pods/NAME/eviction` does. Raise ApiError 429 if its disruption budget forbids it, and 404
    if there is no such pod.
    """
    body: JSON = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": name, "namespace": namespace}}
    write = Write.of(api, api.registry.named("pods"), namespace, name, "eviction")
    Evictions().write(ActionRequest(write.context, body, {}), WriteOperations(write, Query(), body))
