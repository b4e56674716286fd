"""The Kubernetes API server in memory: what embeds it, starts it and asks it in process.

server = ApiServer(now=clock.now, seed=7)
await server.start()
server.create("nodes", {"metadata": {"name": "n1"}, ...})
# point any client at server.url
await server.stop()
"""

from __future__ import annotations

import secrets
import socket
import ssl
from collections import Counter
from collections.abc import Awaitable, Callable, Iterable, Mapping, MutableMapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import orjson

from . import typed
from .admission import disabled_plugins
from .api import Api, BindAdmission
from .bootstrap import bootstrap
from .custom.definitions import STORAGE as DEFINITIONS
from .custom.definitions import Definitions, DefinitionStrategy
from .deadlines import Deadlines
from .documents import Documents
from .endpoint import Endpoint, send_answer
from .expiry import EVENT_TTL, EventExpiry
from .gates import enabled_gates
from .kubeconfig import kubeconfig
from .listener import Listener
from .metrics import exposition
from .options import DeleteOptions
from .resources import Registry, ResourceType, default_registry
from .status import ApiError
from .store import Change, Store
from .strategies import ACTIONS, STRATEGIES
from .users import ADMIN
from .verbs.create import create
from .verbs.delete import delete
from .verbs.list import ListOptions, list_page
from .verbs.update import update

if TYPE_CHECKING:
    from fastapi import APIRouter, FastAPI

    from .certificates import Authority

JSON = dict[str, Any]
# `list` is a method of the server.
Objects = list[JSON]
Provided = list[tuple[ResourceType, JSON]]
Sockets = list[socket.socket]
BindAdmissions = list[BindAdmission]

# First parts of paths that belong to the FastAPI application; all other paths are the Kubernetes API's.
APP_PATHS = frozenset(("batkube",))

# Who listens on all addresses is reached at this one, from the same machine.
_REACHED_AT = {"0.0.0.0": "127.0.0.1", "::": "::1"}


class ApiServer:
    """One cluster's API server.

    `now` gives the simulated time in Unix seconds, `seed` is where uids and generated names come from,
    `version` is the Kubernetes version it says it is. All methods but `start` and `stop` are synchronous and
    take effect at once.

    Over plain HTTP everybody is an administrator. With `authority` it speaks HTTPS, and whoever calls must show the
    `token` (one is made up where none is given) or a client certificate of that authority; with `token` alone it is
    plain HTTP with that token.
    """

    def __init__(
        self,
        *,
        now: Callable[[], float],
        seed: int = 0,
        version: str = "v1.36.3",
        history: int = 10_000,
        event_ttl: float = EVENT_TTL,
        registry: Registry | None = None,
        enable_admission_plugins: Sequence[str] = (),
        disable_admission_plugins: Sequence[str] = (),
        feature_gates: Mapping[str, bool] | None = None,
        runtime_config: Mapping[str, bool] | None = None,
        authority: Authority | None = None,
        token: str | None = None,
        hostnames: Sequence[str] = (),
        time_stands: Callable[[], bool] = lambda: False,
    ) -> None:
        """`history` is how many changes of each collection are kept for watches that come back, `event_ttl` how
        many simulated seconds an event is kept.

        `enable_admission_plugins` and `disable_admission_plugins` as kube-apiserver's flags (AdmissionError where they
        name what is not there): without TaintNodesByCondition a new node is not tainted not-ready, for clusters in
        which nobody takes that taint away. `feature_gates` are kube-apiserver's, by name; `gates.GATES` has those that
        make a difference. `runtime_config` says which API versions discovery shows, as kube-apiserver's flag.

        `hostnames`: by which clients call it, where that is not the address it listens on; the first stands in `url`.
        They go into its certificate, as do `localhost` and the names of the service `kubernetes`.

        While `time_stands` says so, no watch ends by its timeout.
        """
        self.authority = authority
        self.token = secrets.token_urlsafe(32) if authority is not None and token is None else token
        self._hostnames = tuple(hostnames)
        self.store = Store(history=history)
        self.registry = registry or default_registry(version, runtime_config=runtime_config)
        self._api = Api(
            now=now,
            seed=seed,
            version=version,
            registry=self.registry,
            strategies={**STRATEGIES, DEFINITIONS: DefinitionStrategy()},
            actions=ACTIONS,
            store=self.store,
            disabled_admission=disabled_plugins(enable_admission_plugins, disable_admission_plugins),
            gates=enabled_gates(feature_gates or {}),
            token=self.token,
            authentication_required=self.token is not None,
        )
        self._endpoint = Endpoint(self._api, Documents(self.registry, version, self._metrics), time_stands)
        self.routes: list[Callable[[], APIRouter]] = []
        """Makers of what is included in ``app``."""
        self._listener: Listener | None = None
        self._host, self._port = "", 0
        self.writes: Counter[tuple[str, str]] = Counter()  # by type of change and storage key
        self.store.subscribe(self._count)
        self.store.subscribe(Definitions(self._api).follow)
        self.store.subscribe(EventExpiry(self._api, event_ttl).follow)
        self._definitions: Objects = []
        self._provided: Provided = []
        self._bootstrap()

    # -- over HTTP

    @cached_property
    def app(self) -> FastAPI:
        """The application that batkube's own paths belong to. It is made when first asked for: loading FastAPI takes
        half of the time from start to ready.
        """
        from fastapi import FastAPI

        app = FastAPI(
            title="batkube",
            docs_url="/batkube/v1/docs",
            redoc_url=None,
            openapi_url="/batkube/v1/openapi.json",
        )
        app.router.default = self._endpoint  # for those who mount the application elsewhere
        for routes in self.routes:
            app.include_router(routes())
        return app

    async def start(self, host: str = "127.0.0.1", port: int = 0) -> None:
        """Listen, in the running event loop. Port 0: any free one. OSError (with the address) where it is
        taken.
        """
        listener = Listener(self.asgi, self._endpoint)
        self._port = await listener.start(host, port, self._tls(host))
        self._host, self._listener = host, listener
        self._endpoint.hang_up = listener.hang_up

    async def stop(self) -> None:
        """End all watches and close all connections."""
        if self._listener is not None:
            self._endpoint.end_watches()
            listener, self._listener = self._listener, None
            await listener.stop()

    @property
    def port(self) -> int:
        return self._port

    @property
    def url(self) -> str:
        """Where clients find it."""
        host = self._hostnames[0] if self._hostnames else _REACHED_AT.get(self._host, self._host)
        scheme = "http" if self.authority is None else "https"
        return f"{scheme}://{f'[{host}]' if ':' in host else host}:{self._port}"

    def kubeconfig(self, *, client_certificate: bool = False) -> JSON:
        """What a client needs to come in, as an administrator: the token or, if asked, a client certificate.

        ValueError where certificates are asked of a server without TLS.
        """
        if self.authority is None:
            if client_certificate:
                raise ValueError("client certificates need TLS")
            return kubeconfig(self.url, token=self.token)
        certificate = self.authority.client(ADMIN.name, ADMIN.groups[:1]) if client_certificate else None
        return kubeconfig(self.url, authority=self.authority.certificate, token=self.token, certificate=certificate)

    async def asgi(
        self,
        scope: MutableMapping[str, Any],
        receive: Callable[[], Awaitable[MutableMapping[str, Any]]],
        send: Callable[[MutableMapping[str, Any]], Awaitable[None]],
    ) -> None:
        """Kubernetes first: its requests pass by FastAPI and its middleware."""
        if scope["type"] == "http" and scope["path"].lstrip("/").partition("/")[0] not in APP_PATHS:
            await self._endpoint(scope, receive, send)
            return
        refusal = self._endpoint.refusal(scope) if scope["type"] == "http" else None
        if refusal is None:
            await self.app(scope, receive, send)
        else:
            await send_answer(refusal, scope["method"] == "HEAD", send)

    # -- in process, by the same rules as over HTTP

    def create(self, resource: str, obj: JSON, namespace: str | None = None) -> JSON:
        """Create an object. `resource` is a plural with its group: `pods`, `leases.coordination.k8s.io`.

        The namespace is that of the object if it is not given. Returns the stored object, which must not be
        changed.
        """
        return self._create(self._resource(resource), obj, namespace)

    def get(self, resource: str, name: str, namespace: str | None = None) -> JSON:
        """The stored object, not to be changed; ApiError 404 if there is none."""
        kind = self._resource(resource)
        return self._api.stored(kind, self._namespace(kind, namespace), name).obj

    def list(
        self,
        resource: str,
        namespace: str | None = None,
        *,
        label_selector: str = "",
        field_selector: str = "",
    ) -> Objects:
        """The stored objects in order of namespace and name; of all namespaces if it is None."""
        kind = self._resource(resource)
        options = ListOptions.select(self._api, kind, namespace or "", label_selector, field_selector)
        return [version.obj for version in list_page(self._api, kind, options).versions]

    def update(self, resource: str, obj: JSON, subresource: str | None = None, *, verbatim: Iterable[str] = ()) -> JSON:
        """Replace an object, or with `subresource="status"` its status.

        `verbatim`: members of the status to be stored as they are, such as a time with its fraction of a second, which
        the request of a client would lose.
        """
        kind = self._resource(resource)
        if subresource == "status" and not kind.custom:  # nothing else is taken, and reading it takes its time
            obj = {key: obj[key] for key in ("kind", "apiVersion", "metadata", "status") if key in obj}
        given = obj
        obj = typed.decode(kind, _copy(obj))
        for member in verbatim:
            obj["status"][member] = given["status"][member]
        namespace = self._namespace(kind, None, obj)
        version, _ = update(self._api, kind, namespace, obj["metadata"]["name"], obj, subresource=subresource)
        return version.obj

    def delete(
        self, resource: str, name: str, namespace: str | None = None, *, grace_seconds: int | None = None
    ) -> JSON:
        """Delete an object; returns its last state. A bound pod stays, marked, until its grace period is over."""
        kind = self._resource(resource)
        options = DeleteOptions(grace_seconds=grace_seconds)
        version, _ = delete(self._api, kind, self._namespace(kind, namespace), name, options)
        return version.obj

    def define(self, definition: JSON) -> None:
        """Serve the custom resources of a CustomResourceDefinition from here on, after `reset` as well. ApiError where
        it is not right, or its names are taken.
        """
        made = self.create(DEFINITIONS, definition)
        served = self.get(DEFINITIONS, made["metadata"]["name"])
        for condition in served["status"]["conditions"]:
            if condition["status"] == "False":
                self.delete(DEFINITIONS, made["metadata"]["name"])
                raise ApiError.conflict(DEFINITIONS, made["metadata"]["name"], condition["message"])
        self._definitions.append(definition)

    def provide(self, obj: JSON) -> None:
        """Create an object of whichever kind it says it is, and again after each `reset`. ApiError."""
        kind = self.registry.by_kind(obj["apiVersion"], obj["kind"])
        if kind is None or not kind.storable:
            raise ApiError.no_such_resource()
        self._create(kind, obj)
        self._provided.append((kind, obj))

    def subscribe(self, listener: Callable[[Change], None]) -> None:
        """Call `listener` after each write, in order of revision, before the write returns."""
        self.store.subscribe(listener)

    @property
    def bind_admission(self) -> BindAdmissions:
        """Asked before a pod is bound to a node; one that raises ApiError refuses the binding."""
        return self._api.bind_admission

    def reset(self) -> None:
        """A fresh cluster: everything is deleted, watchers see it go; revisions go on growing."""
        for collection in sorted(self.store.collections(), key=lambda collection: collection.storage):
            for version in collection.select():
                self._api.identities.ended(collection.storage, *version.key)
                self.store.remove(version.resource, version.key)
        self._bootstrap()
        for definition in self._definitions:
            self.create(DEFINITIONS, definition)
        for kind, obj in self._provided:
            self._create(kind, obj)

    # -- what it is doing

    @property
    def requests(self) -> Counter[tuple[str, str]]:
        """How many requests came over HTTP, by verb and storage key."""
        return self._endpoint.requests

    def busy(self) -> bool:
        """Something is not yet where it belongs: a request in work, an event or an answer on its way to a socket. What
        waits for a client that does not read (`held_up`) is left out.
        """
        if self._endpoint.in_work:
            return True
        listener, unwritten = self._listener, self._endpoint.unwritten()
        if listener is None:
            return bool(unwritten)
        if unwritten and not listener.held_up().keys() >= set(unwritten):
            return True
        return listener.requests_in_work() > len(self._endpoint.watchers) or listener.holds_bytes()

    def held_up(self) -> Sockets:
        """The sockets whose clients do not read what is there for them, so that more waits to be written."""
        held_up = self._listener.held_up() if self._listener is not None else {}
        return [transport.get_extra_info("socket") for transport in held_up.values()]

    def connections(self) -> Sockets:
        """The sockets of all open connections."""
        if self._listener is None:
            return []
        return [transport.get_extra_info("socket") for transport in self._listener.transports()]

    def watching(self, storage: str) -> set[tuple[str, int]]:
        """Address and port of the clients that have a watch of this kind open."""
        watchers = self._endpoint.watchers.items()
        return {client for watcher, client in watchers if client is not None and watcher.storage == storage}

    def end_watches_by(self, deadlines: Deadlines) -> None:
        """From now on the `timeoutSeconds` of watches count by this clock; without, by the real one."""
        self._endpoint.deadlines = deadlines

    def listener(self) -> socket.socket | None:
        return self._listener.socket if self._listener is not None else None

    # -- private

    def _create(self, kind: ResourceType, obj: JSON, namespace: str | None = None) -> JSON:
        obj = typed.decode(kind, _copy(obj))
        return create(self._api, kind, self._namespace(kind, namespace, obj), obj).obj

    def _bootstrap(self) -> None:
        bootstrap(self._api, self.authority.certificate if self.authority is not None else None)

    def _tls(self, host: str) -> ssl.SSLContext | None:
        if self.authority is None:
            return None
        from .certificates import SERVER_NAMES, server_context  # they take a while to load

        listens_on = () if host in _REACHED_AT else (host,)
        return server_context(self.authority, (*SERVER_NAMES, *listens_on, *self._hostnames))

    def _count(self, change: Change) -> None:
        self.writes[change.type, change.resource.storage] += 1

    def _metrics(self) -> str:
        return exposition(self.requests, self._endpoint.watchers, self._endpoint.terminated)

    def _resource(self, name: str) -> ResourceType:
        return self.registry.named(name)

    @staticmethod
    def _namespace(kind: ResourceType, namespace: str | None, obj: JSON | None = None) -> str:
        if not kind.namespaced:
            return ""
        if namespace is None and obj is not None:
            namespace = obj.get("metadata", {}).get("namespace")
        return namespace or "default"


def _copy(obj: JSON) -> JSON:
    """A deep copy, through JSON: faster than any other way, and only JSON comes in."""
    result: JSON = orjson.loads(orjson.dumps(obj))
    return result


__all__ = ["ApiServer", "Change", "Store"]
