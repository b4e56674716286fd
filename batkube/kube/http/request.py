"""A request for a resource, and the form that its answer is to have."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from ..apimachinery.users import ADMIN, User
from ..codec import bodies
from ..codec.forms import metadata_form, object_form
from ..codec.negotiation import Accepted, negotiate
from ..codec.protobuf.forms import protobuf_form, protobuf_metadata_form
from ..codec.tables import table_form
from ..schema.resources import ResourceType
from ..storage.form import Form
from ..verbs.api import Api
from ..verbs.request_options import Query, WriteOptions
from .routes import RequestInfo

JSON = dict[str, Any]

_LARGE = 512 * 1024  # bytes of a body that may make an object too large for storage
_WITH_TABLES = ("", "status", "scale")  # of subresources; what only acts has none


@dataclass(slots=True)
class Request:
    """A request for a resource, with its body."""

    method: str
    info: RequestInfo
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
        """The name of the client as a field manager, if it gives none."""
        return self.user_agent.partition("/")[0]

    def write_options(self, kind: str, apply: bool = False) -> WriteOptions:
        options = WriteOptions.of(self.query, kind, self.client, apply, self.user)
        return replace(options, large=True) if len(self.body) > _LARGE else options

    def accepted(self, stream: bool = False) -> Accepted:
        resource, subresource = self.info.resource, self.info.subresource
        tables = self.tables and resource.storable and subresource in _WITH_TABLES
        lists = self.method == "GET" and (not self.info.name or self.info.watch)
        accepted = negotiate(self.accept, stream, resource.custom, tables, lists=lists)
        if self.query and "pretty" in self.query:
            return replace(accepted, pretty=self.query.flag("pretty"))
        return accepted

    def decoded(self, options: WriteOptions, subresource: str = "") -> JSON:
        """Return the object in the body."""
        resource, validation = self.info.resource, options.field_validation
        return bodies.decode(self.body, self.content_type, resource, subresource, validation, self.warnings)


def verb_of(request: Request) -> str:
    """Return the name of the verb, as in audit logs and metrics."""
    info = request.info
    if request.method == "GET":
        if info.name:
            return "get"
        return "watch" if info.watch or request.query.flag("watch") else "list"
    if request.method == "DELETE":
        return "delete" if info.name else "deletecollection"
    return {"POST": "create", "PUT": "update", "PATCH": "patch"}.get(request.method, request.method.lower())


def form_of(api: Api, resource: ResourceType, accepted: Accepted, query: Query) -> Form:
    """Return the form in which the client wants objects of the resource."""
    if not accepted.form:
        return protobuf_form(resource) if accepted.protobuf else object_form(resource)
    if accepted.form == "Table":
        return table_form(resource, accepted.form_version, query.get("includeObject", ""), api.clock.now)
    version = accepted.form_version
    return protobuf_metadata_form(version) if accepted.protobuf else metadata_form(version)
