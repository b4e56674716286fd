"""The Kubernetes API server in memory, for callers that embed it, start it and use it in process.

server = ApiServer(now=clock.now, seed=7)
await server.start()
server.create("nodes", {"metadata": {"name": "n1"}, ...})
# point any client at server.url
await server.stop()
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .admission.chain import Admission
from .admission.plugins import admission, disabled_plugins
from .apimachinery.deep_copy import deep_copy
from .apimachinery.status import ApiError
from .codec import typed
from .custom.definitions import STORAGE as DEFINITIONS
from .custom.definitions import Definitions, DefinitionStrategy
from .discovery.non_resource_paths import Documents
from .discovery.openid import IssuerDocuments
from .http.endpoint import Endpoint
from .http.metrics import exposition
from .http.serving import Serving
from .in_process import scheduling
from .in_process.bootstrap import bootstrap
from .in_process.caller import Caller, service_account
from .in_process.evictions import evict
from .in_process.given import Given, Told
from .in_process.trusted import TrustedWrites
from .kinds.core.node_lifecycle import TaintedNodes
from .kinds.core.service_accounts import ISSUER
from .kinds.pods.connections import Log
from .kinds.strategies import ACTIONS, STRATEGIES
from .schema.gates import enabled_gates
from .schema.resources import Registry, ResourceType, default_registry
from .storage.store import Change, Store
from .verbs.api import Api, BindAdmission
from .verbs.computed import Compute, Refresh
from .verbs.create import create
from .verbs.delete import delete
from .verbs.expiry import EVENT_TTL, EventExpiry
from .verbs.expiry import STORAGE as EXPIRING
from .verbs.list import ListOptions, list_page
from .verbs.request_options import DeleteOptions, WriteOptions
from .verbs.update import update
from .verbs.write import Write

if TYPE_CHECKING:
    from .authentication.certificates import Authority

JSON = dict[str, Any]
# `list` is a method of the server.
Objects = list[JSON]
BindAdmissions = list[BindAdmission]


class ApiServer(Serving):
    """The API server of one cluster.

    `now` returns the simulated time in Unix seconds. `seed` is the source of uids and generated names. `version` is the
    Kubernetes version that the server reports. All methods but `start` and `stop` are synchronous and take effect at
    once.

    Over plain HTTP everybody is an administrator. With `authority` the server speaks HTTPS, and clients must show the
    `token` (one is made if none is given) or a client certificate of that authority. With `token` alone it is plain
    HTTP with that token.
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
        node_lifecycle: bool = False,
        time_stands: Callable[[], bool] = lambda: False,
    ) -> None:
        """Create a server.

        `history` is the number of changes of each collection that are kept for watches that come back. `event_ttl` is
        the number of simulated seconds for which an event is kept.

        `enable_admission_plugins` and `disable_admission_plugins` are kube-apiserver's flags (AdmissionError if they
        name an unknown plugin). Without TaintNodesByCondition a new node is not tainted not-ready, for clusters in
        which nobody removes that taint. `feature_gates` are kube-apiserver's, by name; `gates.GATES` has those that
        make a difference. `runtime_config` says which API versions discovery shows, as kube-apiserver's flag.

        `hostnames` are the names by which clients call the server, if they differ from the address it listens on. The
        first one is in `url`. All are in its certificate, with `localhost` and the names of the service `kubernetes`.

        `node_lifecycle`: nodes are tainted by their conditions, as the node lifecycle controller would do it. The taint
        of a new node is removed when its status says that it is ready.

        While `time_stands` returns True, no watch ends by its timeout.
        """
        if authority is not None and token is None:
            token = secrets.token_urlsafe(32)
        self.store = Store(history=history)
        self.registry = registry or default_registry(version, runtime_config=runtime_config)
        self._api = Api(
            now=now,
            seed=seed,
            version=version,
            registry=self.registry,
            strategies={
                **STRATEGIES,
                DEFINITIONS: DefinitionStrategy(),
                **({"nodes": TaintedNodes()} if node_lifecycle else {}),
            },
            actions=ACTIONS,
            store=self.store,
            admission=admission(disabled_plugins(enable_admission_plugins, disable_admission_plugins)),
            gates=enabled_gates(feature_gates or {}),
            token=token,
            authentication_required=token is not None,
        )
        issuer = IssuerDocuments(ISSUER, self._api.authentication.signer, lambda: self.url)
        endpoint = Endpoint(self._api, Documents(self.registry, version, self._metrics, issuer), time_stands)
        super().__init__(endpoint, authority=authority, token=token, hostnames=hostnames)
        self.trusted = TrustedWrites(self._api, self.create, self.update)
        """The writes for a caller that promises to know the rules."""
        self.more_metrics: list[Callable[[], str]] = []
        """The makers of what `/metrics` has besides the server's own metrics, in Prometheus' text format."""
        self.store.subscribe(Definitions(self._api).follow)
        self.store.subscribe(EventExpiry(self._api, event_ttl).follow, (EXPIRING,))
        self._definitions: Objects = []
        self._given = Given(self._api)
        self._bootstrap()

    # -- in process, by the same rules as over HTTP

    def create(self, resource: str, obj: JSON, namespace: str | None = None) -> JSON:
        """Create an object. Return the stored object, which must not be changed.

        `resource` is a plural with its group: `pods`, `leases.coordination.k8s.io`. The namespace is that of the object
        if it is not given.
        """
        return self._create(self._resource(resource), obj, namespace)

    def check(self, resource: str, obj: JSON, namespace: str | None = None) -> list[str]:
        """Return the warnings that a create of the object would be answered with, such as unknown fields.

        Nothing is stored: it is a dry run. Raise ApiError if the create would be refused.
        """
        kind, warnings = self._resource(resource), list[str]()
        obj = typed.decode(kind, deep_copy(obj), "Warn", warnings)
        options, namespace = WriteOptions(dry_run=True), self._namespace(kind, namespace, obj)
        create(Write.of(self._api, kind, namespace, options=options, warnings=warnings), obj)
        return warnings

    def get(self, resource: str, name: str, namespace: str | None = None) -> JSON:
        """Return the stored object, which must not be changed. Raise ApiError 404 if there is none."""
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
        """Return the stored objects, sorted by namespace and name; those of all namespaces if `namespace` is None."""
        kind = self._resource(resource)
        options = ListOptions.select(self._api, kind, namespace or "", label_selector, field_selector)
        return [version.obj for version in list_page(self._api, kind, options).versions]

    def update(self, resource: str, obj: JSON, subresource: str | None = None, *, verbatim: Iterable[str] = ()) -> JSON:
        """Replace an object, or with `subresource="status"` its status.

        `verbatim` are members of the status to be stored as they are, such as a time with its fraction of a second,
        which the request of a client would lose.
        """
        kind = self._resource(resource)
        if subresource == "status" and not kind.custom:  # nothing else is taken, and reading it takes its time
            obj = {key: obj[key] for key in ("kind", "apiVersion", "metadata", "status") if key in obj}
        given = obj
        obj = typed.decode(kind, deep_copy(obj))
        for member in verbatim:
            obj["status"][member] = given["status"][member]
        namespace = self._namespace(kind, None, obj)
        version, _ = update(Write.of(self._api, kind, namespace, obj["metadata"]["name"], subresource), obj)
        return version.obj

    def delete(
        self,
        resource: str,
        name: str,
        namespace: str | None = None,
        *,
        grace_seconds: int | None = None,
        uid: str | None = None,
    ) -> JSON:
        """Delete an object. Return its last state. A bound pod stays, marked, until its grace period is over.

        `uid` is that of the object that is meant. Raise ApiError 409 if another object has the name.
        """
        kind = self._resource(resource)
        options = DeleteOptions(grace_seconds=grace_seconds, uid=uid)
        version, _ = delete(Write.of(self._api, kind, self._namespace(kind, namespace), name), options)
        return version.obj

    def controller(self, name: str) -> Caller:
        """Return who writes as the controller of that name in kube-controller-manager does."""
        return Caller(self._api, service_account("kube-system", name), "kube-controller-manager")

    def bind(self, name: str, node: str, namespace: str | None = None, *, uid: str = "") -> JSON:
        """Give a pod its node. Raise ApiError if a scheduler over HTTP would be refused. `uid` is that of the pod that
        is meant.
        """
        return scheduling.bind(self._api, namespace or "default", name, node, uid).obj

    def evict(self, name: str, namespace: str | None = None) -> None:
        """Evict a pod. Raise ApiError 429 if its disruption budget forbids it, and 404 if there is no such pod."""
        evict(self._api, namespace or "default", name)

    def tell_unschedulable(self, name: str, why: str, namespace: str | None = None) -> JSON:
        """Record why a pod has no node (condition PodScheduled). Raise ApiError 404 if there is no such pod."""
        return scheduling.tell_unschedulable(self._api, namespace or "default", name, why).obj

    def preempt(self, name: str, namespace: str | None = None, *, uid: str) -> None:
        """Delete a pod that gives way to another one, as kube-scheduler does: its condition DisruptionTarget says so.

        Raise ApiError 404 if there is no such pod, and 409 if it is another one of that name.
        """
        scheduling.tell_preempted(self._api, namespace or "default", name, uid)
        self.delete("pods", name, namespace, uid=uid)

    def define(self, definition: JSON) -> None:
        """Serve the custom resources of a CustomResourceDefinition from now on, after `reset` as well.

        Raise ApiError if the definition is invalid, or its names are taken.
        """
        made = self.create(DEFINITIONS, definition)
        served = self.get(DEFINITIONS, made["metadata"]["name"])
        for condition in served["status"]["conditions"]:
            if condition["status"] == "False":
                self.delete(DEFINITIONS, made["metadata"]["name"])
                raise ApiError.conflict(DEFINITIONS, made["metadata"]["name"], condition["message"])
        self._definitions.append(definition)

    def provide(self, objects: Sequence[JSON]) -> Told:
        """Create objects of any kinds, in any order, and again after each `reset`. Return the warnings, by index.

        Raise NotTaken if an object is refused.
        """
        return self._given.take(objects)

    def submit(self, obj: JSON, *, dry_run: bool = False) -> Sequence[str]:
        """Create an object of any kind now, as a user does, or bring it up to date. Return the warnings.

        A namespace that does not exist is made. Raise ApiError if the object is refused.
        """
        return self._given.submit(obj, dry_run=dry_run)

    def hold_workloads(self) -> None:
        """Let pods of `provide`, and what becomes pods, wait for `release_workloads`. They are checked at once."""
        self._given.holds_workloads = True

    def release_workloads(self) -> None:
        """Create what was held back: there are nodes now."""
        self._given.release()

    def compute(self, resource: ResourceType, objects: Compute) -> None:
        """Serve a resource whose objects are not stored: `objects` returns them whenever they are read."""
        self.registry.add(resource)
        self._api.computed[resource.storage] = objects

    def before_reading(self, resource: str, refresh: Refresh) -> None:
        """Call `refresh` before a client reads objects of a kind that is stored (`leases.coordination.k8s.io`)."""
        self._api.refreshes[resource] = refresh

    def tell_logs(self, text: Callable[[JSON], str]) -> None:
        """Let `text` return the log of a pod that has a node. Without it logs are empty."""
        self._api.actions["pods", "log"] = Log(text)

    def subscribe(self, listener: Callable[[Change], None], resources: Sequence[str] | None = None) -> None:
        """Call `listener` after each write, in order of revision, before the write returns.

        `resources` are plurals with their group, if not all kinds concern it.
        """
        self.store.subscribe(listener, resources)

    @property
    def writes(self) -> dict[tuple[str, str], int]:
        """The number of writes so far, by type of change (`ADDED` ...) and resource."""
        return {
            (kind, collection.storage): count
            for collection in self.store.collections()
            for kind, count in collection.writes.items()
        }

    @property
    def bind_admission(self) -> BindAdmissions:
        """The functions to call before a pod is bound to a node. A function that raises ApiError refuses
        the binding.
        """
        return self._api.bind_admission

    @property
    def admission(self) -> Admission:
        """The plugins that have a say in writes."""
        return self._api.admission

    def reset(self) -> None:
        """Reset the cluster: all objects are deleted, and watchers see their deletion. Revisions go on growing."""
        for collection in sorted(self.store.collections(), key=lambda collection: collection.storage):
            for version in collection.select():
                self._api.identities.ended(collection.storage, *version.key)
                self.store.remove(version.resource, version.key)
        self._bootstrap()
        for definition in self._definitions:
            self.create(DEFINITIONS, definition)
        self._given.put_back()

    # -- private

    def _create(self, kind: ResourceType, obj: JSON, namespace: str | None = None) -> JSON:
        obj = typed.decode(kind, deep_copy(obj))
        return create(Write.of(self._api, kind, self._namespace(kind, namespace, obj)), obj).obj

    def _bootstrap(self) -> None:
        bootstrap(self._api, self.authority.certificate if self.authority is not None else None)

    def _metrics(self) -> str:
        own = exposition(self.requests, self._endpoint.watchers, self._endpoint.terminated)
        return own + "".join(more() for more in self.more_metrics)

    def _resource(self, name: str) -> ResourceType:
        return self.registry.named(name)

    @staticmethod
    def _namespace(kind: ResourceType, namespace: str | None, obj: JSON | None = None) -> str:
        if not kind.namespaced:
            return ""
        if namespace is None and obj is not None:
            namespace = obj.get("metadata", {}).get("namespace")
        return namespace or "default"


__all__ = ["ApiServer", "Change", "Store"]
