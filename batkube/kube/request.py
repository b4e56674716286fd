"""A request for a resource, and the form that its answer is to have."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from . import bodies
from .api import Api
from .forms import Form, metadata_form, object_form
from .negotiation import Accepted, negotiate
from .options import Query, WriteOptions
from .protobuf.forms import protobuf_form, protobuf_metadata_form
from .resources import ResourceType
from .routes import Target
from .tables import table_form
from .users import ADMIN, User

JSON = dict[str, Any]

_WITH_TABLES = ("", "status", "scale")  # of subresources; what only acts has none


@dataclass(slots=True)
class Request:
    """A request for a resource, its body read."""

    method: str
    target: Target
    query: Query
    accept: str
    content_type: str
    body: bytes
    user_agent: str = ""
    user: User = ADMIN
    warnings: list[str] = field(default_factory=list)
    upgrades: bool = False  # asks for another protocol on its connection
    tables: bool = True  # what is asked for can be shown as one

    @property
    def client(self) -> str:
        """The name by which the client goes as a field manager, if it gives none."""
        return self.user_agent.partition("/")[0]

    def write_options(self, kind: str, apply: bool = False) -> WriteOptions:
        return WriteOptions.of(self.query, kind, self.client, apply, self.user)

    def accepted(self, stream: bool = False) -> Accepted:
        resource, subresource = self.target.resource, self.target.subresource
        tables = self.tables and resource.storable and subresource in _WITH_TABLES
        lists = self.method == "GET" and (not self.target.name or self.target.watch)
        accepted = negotiate(self.accept, stream, resource.custom, tables, lists=lists)
        if self.query and "pretty" in self.query:
            return replace(accepted, pretty=self.query.flag("pretty"))
        return accepted

    def decoded(self, options: WriteOptions, subresource: str = "") -> JSON:
        """The object in the body."""
        resource, validation = self.target.resource, options.field_validation
        return bodies.decode(self.body, self.content_type, resource, subresource, validation, self.warnings)


def verb_of(request: Request) -> str:
    """The name of the verb, as audit logs and metrics have it."""
    target = request.target
    if request.method == "GET":
        if target.name:
            return "get"
        return "watch" if target.watch or request.query.flag("watch") else "list"
    if request.method == "DELETE":
        return "delete" if target.name else "deletecollection"
    return {"POST": "create", "PUT": "update", "PATCH": "patch"}.get(request.method, request.method.lower())


def form_of(api: Api, resource: ResourceType, accepted: Accepted, query: Query) -> Form:
    """The form in which the client wants objects of the resource."""
    if not accepted.form:
        return protobuf_form(resource) if accepted.protobuf else object_form(resource)
    if accepted.form == "Table":
        return table_form(resource, accepted.form_version, query.get("includeObject", ""), api.clock.now)
    version = accepted.form_version
    return protobuf_metadata_form(version) if accepted.protobuf else metadata_form(version)
