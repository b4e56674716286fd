"""The parts that all verbs share: the store, the kinds, their strategies, the clock, the names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ..admission.chain import Admission
from ..admission.plugins import admission as default_admission
from ..apimachinery.status import ApiError
from ..authentication.authenticator import Authentication
from ..kinds.action import Action
from ..kinds.strategy import Strategy
from ..schema.resources import Registry, ResourceType
from ..storage.identity import Clock, Identities
from ..storage.store import Store, Version
from .computed import Compute, Refresh

JSON = dict[str, Any]

BindAdmission = Callable[[JSON, str], None]


class Api:
    """One cluster behind one API."""

    def __init__(
        self,
        *,
        now: Callable[[], float],
        seed: int,
        version: str,
        registry: Registry,
        strategies: Mapping[str, Strategy],
        actions: Mapping[tuple[str, str], Action],
        store: Store | None = None,
        admission: Admission | None = None,
        gates: frozenset[str] = frozenset(),
        token: str | None = None,
        authentication_required: bool = False,
    ) -> None:
        self.store = store or Store()
        self.authentication = Authentication(self.store, now, token=token, required=authentication_required)
        self.clock = Clock(now)
        self.identities = Identities(seed)
        self.version = version
        self.admission = admission or default_admission()
        self.gates = gates
        self.registry = registry
        self.actions = dict(actions)
        self.bind_admission: list[BindAdmission] = []
        self.computed: dict[str, Compute] = {}  # by storage key: what is not stored
        self.refreshes: dict[str, Refresh] = {}  # by storage key: what is brought up to date before it is read
        self._strategies: dict[str, Strategy] = {}
        self._default_strategy = Strategy()
        for storage, strategy in strategies.items():
            self.add_strategy(storage, strategy)

    def strategy(self, resource: ResourceType) -> Strategy:
        return self._strategies.get(resource.storage, self._default_strategy)

    def add_strategy(self, storage: str, strategy: Strategy) -> None:
        """Set the rules of a kind from now on."""
        self._strategies[storage] = strategy
        self.store.collection(storage).field_labels = strategy.field_labels

    def remove_strategy(self, storage: str) -> None:
        self._strategies.pop(storage, None)

    def stored_as(self, resource: ResourceType) -> ResourceType:
        """Return the version in which objects are stored. Custom resources stay in the version in which they were
        written.
        """
        return resource if resource.custom or not resource.storable else self.registry.stored_as(resource)

    def stored(self, resource: ResourceType, namespace: str, name: str) -> Version:
        """Return the current version of an object. Raise 404 if there is none."""
        version = self.store.version(resource.storage, namespace, name)
        if version is None:
            raise ApiError.not_found(resource.qualified, name)
        return version

    def admit_binding(self, pod: JSON, node: str) -> None:
        """Raise ApiError if somebody who has a say in bindings refuses the pod this node."""
        for admission in self.bind_admission:
            admission(pod, node)
