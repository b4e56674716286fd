"""A caller in this process who writes as a user, by the rules that hold for requests: a controller, for instance."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..apimachinery.deep_copy import deep_copy
from ..apimachinery.users import AUTHENTICATED, User, service_account_groups
from ..codec import typed
from ..schema.resources import ResourceType
from ..verbs.api import Api
from ..verbs.create import create
from ..verbs.delete import delete
from ..verbs.request_options import DeleteOptions, WriteOptions
from ..verbs.update import modify, update
from ..verbs.write import Write

JSON = dict[str, Any]


def service_account(namespace: str, name: str) -> User:
    """Return the user that a service account is."""
    groups = (*service_account_groups(namespace), AUTHENTICATED)
    return User(f"system:serviceaccount:{namespace}:{name}", groups)


class Caller:
    """Writes into ``api`` as ``user``, with ``manager`` as the field manager.

    Objects that are returned are the stored ones, and must not be changed. All methods raise ApiError where a client's
    request would be refused. Resources are plurals with their group: `jobs.batch`.
    """

    def __init__(self, api: Api, user: User, manager: str) -> None:
        self._api = api
        self._options = WriteOptions(field_manager=manager, user=user)

    def create(self, resource: str, obj: JSON, namespace: str = "") -> JSON:
        """Create an object."""
        kind = self._api.registry.named(resource)
        return create(self._write(kind, namespace), typed.decode(kind, deep_copy(obj))).obj

    def update(self, resource: str, obj: JSON, subresource: str | None = None) -> JSON:
        """Replace an object, or a subresource of one. A conflict is one of the resourceVersion that it has."""
        kind = self._api.registry.named(resource)
        obj = typed.decode(kind, deep_copy(obj))
        metadata = obj["metadata"]
        write = self._write(kind, metadata.get("namespace", ""), metadata["name"], subresource)
        version, _ = update(write, obj)
        return version.obj

    def modify(
        self,
        resource: str,
        namespace: str,
        name: str,
        change: Callable[[JSON], JSON | None],
        subresource: str | None = None,
    ) -> JSON:
        """Let `change` have its way with a copy of the present object, in place or by returning another: a patch."""
        kind = self._api.registry.named(resource)
        return modify(self._write(kind, namespace, name, subresource), change).obj

    def delete(
        self,
        resource: str,
        namespace: str,
        name: str,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        grace_seconds: int | None = None,
        propagation: str = "",
    ) -> JSON:
        """Delete an object, which has this uid and version if they are given."""
        kind = self._api.registry.named(resource)
        how = DeleteOptions(grace_seconds, uid, resource_version, propagation)
        version, _ = delete(self._write(kind, namespace, name), how)
        return version.obj

    def _write(self, kind: ResourceType, namespace: str, name: str = "", subresource: str | None = None) -> Write:
        namespace = namespace if kind.namespaced else ""
        return Write.of(self._api, kind, namespace, name, subresource, self._options)
