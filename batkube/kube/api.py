"""What all verbs share: the store, the kinds, their strategies, the clock, the names."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from . import admission
from .authentication import Authentication
from .identity import Clock, Identities
from .options import PLAIN_WRITE, WriteOptions
from .resources import Registry, ResourceType
from .status import ApiError
from .store import Store, Version
from .strategy import Action, Context, Strategy

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
        disabled_admission: frozenset[str] = frozenset(admission.OFF),
        gates: frozenset[str] = frozenset(),
        token: str | None = None,
        authentication_required: bool = False,
    ) -> None:
        self.store = store or Store()
        self.authentication = Authentication(self.store, now, token=token, required=authentication_required)
        self.clock = Clock(now)
        self.identities = Identities(seed)
        self.version = version
        self.disabled_admission = disabled_admission
        self.gates = gates
        self.registry = registry
        self.actions = dict(actions)
        self.bind_admission: list[BindAdmission] = []
        self._strategies: dict[str, Strategy] = {}
        self._default_strategy = Strategy()
        for storage, strategy in strategies.items():
            self.add_strategy(storage, strategy)

    def strategy(self, resource: ResourceType) -> Strategy:
        return self._strategies.get(resource.storage, self._default_strategy)

    def add_strategy(self, storage: str, strategy: Strategy) -> None:
        """From now on the kind has these rules."""
        self._strategies[storage] = strategy
        self.store.collection(storage).field_labels = strategy.field_labels

    def remove_strategy(self, storage: str) -> None:
        self._strategies.pop(storage, None)

    def stored_as(self, resource: ResourceType) -> ResourceType:
        """The version in which objects are stored. Custom resources stay in the version in which they were written."""
        return resource if resource.custom else self.registry.stored_as(resource)

    def context(
        self,
        resource: ResourceType,
        namespace: str,
        name: str,
        subresource: str | None = None,
        options: WriteOptions = PLAIN_WRITE,
        warnings: list[str] | None = None,
        requested: ResourceType | None = None,
    ) -> Context:
        """`requested` is the type in the version of the request, where `resource` is the one that is stored."""
        return Context(
            resource=resource,
            store=self.store,
            clock=self.clock,
            namespace=namespace,
            name=name,
            subresource=subresource,
            dry_run=options.dry_run,
            field_manager=options.field_manager,
            field_validation=options.field_validation,
            patch=options.patch,
            warnings=warnings if warnings is not None else [],
            requested=(requested or resource).api_version,
            disabled_admission=self.disabled_admission,
            gates=self.gates,
            user=options.user,
        )

    def stored(self, resource: ResourceType, namespace: str, name: str) -> Version:
        """The current version of an object, or 404."""
        version = self.store.version(resource.storage, namespace, name)
        if version is None:
            raise ApiError.not_found(resource.qualified, name)
        return version
