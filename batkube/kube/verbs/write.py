"""A write: one value that goes through the pipeline, from the request of a client to the store."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from ..apimachinery.users import User
from ..kinds.strategy import Context, Strategy
from ..schema.resources import ResourceType
from .api import Api
from .request_options import PLAIN_WRITE, WriteOptions

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Write:
    """One write with its options. The context has the part that the rules of the kind may know."""

    api: Api
    resource: ResourceType  # in the version of the request; the context has the one that is stored
    strategy: Strategy  # the rules of the kind
    context: Context
    options: WriteOptions = PLAIN_WRITE
    by_rules: bool = True  # no: it is the server's own business, the kind and admission are not asked
    managed: list[JSON] | None = None  # the managedFields to be, if this is an apply

    @classmethod
    def of(
        cls,
        api: Api,
        resource: ResourceType,
        namespace: str = "",
        name: str = "",
        subresource: str | None = None,
        options: WriteOptions = PLAIN_WRITE,
        warnings: list[str] | None = None,
    ) -> Write:
        """Return the write of an object, or of a subresource of one.

        `name` is the one in the path: a create has none.
        """
        context = Context(
            resource=api.stored_as(resource),
            store=api.store,
            clock=api.clock,
            namespace=namespace,
            name=name,
            subresource=subresource,
            dry_run=options.dry_run,
            warnings=warnings if warnings is not None else [],
            requested=resource.api_version,
            gates=api.gates,
            user=options.user,
        )
        return cls(api, resource, api.strategy(resource), context, options)

    @property
    def stored_as(self) -> ResourceType:
        """The version in which the object is stored."""
        return self.context.resource

    @property
    def namespace(self) -> str:
        return self.context.namespace

    @property
    def name(self) -> str:
        return self.context.name

    @property
    def subresource(self) -> str | None:
        return self.context.subresource

    @property
    def user(self) -> User:
        return self.context.user

    @property
    def warnings(self) -> list[str]:
        """The warnings for the client; the rules of the kind add to them."""
        return self.context.warnings

    def as_create(self) -> Write:
        """Return the same write for an object that turned out not to exist."""
        return replace(self, context=replace(self.context, name="", subresource=None))

    def owning(self, managed: list[JSON]) -> Write:
        """Return the same write, which sets these managedFields."""
        return replace(self, managed=managed)

    def by_server(self) -> Write:
        """Return the same write as one of the server itself."""
        return Write(self.api, self.resource, self.strategy, self.context, self.options, by_rules=False)
