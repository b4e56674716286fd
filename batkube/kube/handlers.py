"""From a request for a resource to the verb that carries it out, and from its result to the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from . import bodies, typed
from .answers import Answer, answer_bytes, answer_object, answer_text
from .api import Api
from .forms import Form, ListMeta, metadata_form, object_form
from .metadata import check_namespace
from .negotiation import Accepted, negotiate, stream_type
from .options import DeleteOptions, Query, WriteOptions, check_timeout
from .protobuf.forms import protobuf_form, protobuf_metadata_form
from .resources import ResourceType
from .routes import Target
from .status import ApiError, success
from .store import Version
from .strategy import ActionRequest
from .tables import table_form
from .users import ADMIN, User
from .verbs import ownership
from .verbs.apply import check_applied
from .verbs.create import create
from .verbs.delete import delete, delete_collection
from .verbs.list import ListOptions, list_page, parse_version
from .verbs.patch import APPLY_PATCH, Patch, apply_patch, patch, patch_type, unfit_patch
from .verbs.update import modify, update
from .verbs.watch import watch
from .watch import Watcher

JSON = dict[str, Any]

BINDINGS = "bindings"
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

    @property
    def client(self) -> str:
        """The name by which the client goes as a field manager, if it gives none."""
        return self.user_agent.partition("/")[0]

    def write_options(self, kind: str, apply: bool = False) -> WriteOptions:
        return WriteOptions.of(self.query, kind, self.client, apply, self.user)

    def accepted(self, stream: bool = False) -> Accepted:
        resource, subresource = self.target.resource, self.target.subresource
        tables = resource.storable and subresource in _WITH_TABLES
        accepted = negotiate(self.accept, stream, resource.custom, tables)
        if self.query and "pretty" in self.query:
            return replace(accepted, pretty=self.query.flag("pretty"))
        return accepted


@dataclass(frozen=True, slots=True)
class Stream:
    """The answer to a watch: an open stream."""

    watcher: Watcher
    timeout_seconds: int | None
    content_type: bytes


Result = Answer | Stream
Handler = Callable[[Api, Request], Result]


def handle(api: Api, request: Request) -> Result:
    """Carry out a request. Raises ApiError or TextError where it is refused."""
    target = request.target
    deprecation = api.strategy(target.resource).deprecation(target.resource.version)
    if deprecation:
        request.warnings.append(deprecation)
    if "timeout" in request.query and not request.query.flag("watch"):
        check_timeout(request.query)
    if target.subresource and not _is_part(api, target):
        return _action(api, request, target.subresource)
    if (target.resource.storage, "") in api.actions:
        if target.name or target.all_namespaces:
            raise ApiError.no_such_resource()
        return _action(api, request, "")
    if target.name:
        verbs = _STATUS_VERBS if target.subresource else _OBJECT_VERBS
    else:
        verbs = _ALL_VERBS if target.all_namespaces else _COLLECTION_VERBS
    found = verbs.get(request.method)
    if found is None:
        raise ApiError.method_not_allowed()
    verb, handler = found
    if verb not in _verbs_of(target):
        raise ApiError.method_not_allowed()
    return handler(api, request)


def _is_part(api: Api, target: Target) -> bool:
    """The subresource is a part of the object, read and written as the object is (status, resize, finalize), and no
    action.
    """
    if (target.resource.storage, target.subresource) in api.actions:
        return False
    kind = target.resource.subresources[target.subresource].kind
    return target.subresource == "status" or kind == target.resource.kind


def _verbs_of(target: Target) -> tuple[str, ...]:
    if target.subresource:
        return target.resource.subresources[target.subresource].verbs
    return target.resource.verbs


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


def _sent(api: Api, request: Request, code: int, version: Version) -> Answer:
    accepted = request.accepted()
    resource = request.target.resource
    if accepted.form == "PartialObjectMetadataList":
        raise _unlike(accepted, f"is not a list (*{_go_type(resource)})")
    data = form_of(api, resource, accepted, request.query).one(version)
    if accepted.yaml and not accepted.form and (managed := ownership.of_only_writer(api, resource, version)):
        obj = orjson.loads(data)
        obj["metadata"]["managedFields"] = managed
        data = orjson.dumps(obj)
    return answer_bytes(code, data, accepted, request.warnings)


def _unlike(accepted: Accepted, found: str) -> ApiError:
    """406: the metadata of a list of what is none, or of one object where there is a list."""
    return ApiError(406, "NotAcceptable", f"you requested {accepted.form}, but the requested object {found}")


def _go_type(resource: ResourceType) -> str:
    if resource.custom:
        return "unstructured.Unstructured"
    package = resource.group.partition(".")[0] or "core"
    return f"{'core' if package == 'events' else package}.{resource.kind}"


def _get(api: Api, request: Request) -> Result:
    target = request.target
    request.accepted()
    if target.watch:
        return _watch(api, request)
    if request.query.flag("export"):
        raise ApiError.bad_request("the export parameter, deprecated since v1.14, is no longer supported")
    asked = parse_version(request.query.get("resourceVersion", ""), of_list=False)
    if asked is not None and asked > api.store.revision:
        raise ApiError.too_large_version(asked, api.store.revision)
    return _sent(api, request, 200, api.stored(target.resource, target.namespace, target.name))


def _list(api: Api, request: Request) -> Result:
    target = request.target
    if target.watch or request.query.flag("watch"):
        return _watch(api, request)
    accepted = request.accepted()
    options = ListOptions.of(api, target.resource, target.namespace, request.query)
    if accepted.form == "PartialObjectMetadata":
        raise _unlike(accepted, f"is a list (*{_go_type(target.resource)}List)")
    page = list_page(api, target.resource, options)
    form = form_of(api, target.resource, accepted, request.query)
    data = form.many(page.versions, ListMeta(page.revision, page.continue_token, page.remaining))
    return answer_bytes(200, data, accepted, request.warnings)


def _watch(api: Api, request: Request) -> Stream:
    target = request.target
    accepted = request.accepted(stream=True)
    options = ListOptions.of(api, target.resource, target.namespace, request.query, watch=True)
    if target.name:
        options = options.of_object(target.name)
    form = form_of(api, target.resource, accepted, request.query)
    watcher = watch(api, target.resource, options, form)
    return Stream(watcher, options.timeout_seconds, stream_type(accepted))


def _create(api: Api, request: Request) -> Answer:
    target = request.target
    request.accepted()
    options = request.write_options("CreateOptions")
    obj = _decoded(request, options)
    version = create(api, target.resource, target.namespace, obj, options, request.warnings)
    return _sent(api, request, 201, version)


def _update(api: Api, request: Request) -> Answer:
    target = request.target
    request.accepted()
    options = request.write_options("UpdateOptions")
    obj = _decoded(request, options)
    version, created = update(
        api,
        target.resource,
        target.namespace,
        target.name,
        obj,
        options,
        target.subresource or None,
        request.warnings,
    )
    return _sent(api, request, 201 if created else 200, version)


def _patch(api: Api, request: Request) -> Answer:
    target = request.target
    request.accepted()
    kind = patch_type(request.content_type, target.resource)
    options = request.write_options("PatchOptions", kind == APPLY_PATCH)
    change = Patch.of(request.body, kind, options.field_validation, request.warnings)
    version, created = patch(
        api,
        target.resource,
        target.namespace,
        target.name,
        change,
        options,
        target.subresource or None,
        request.warnings,
    )
    return _sent(api, request, 201 if created else 200, version)


def _delete(api: Api, request: Request) -> Answer:
    target = request.target
    request.accepted()
    options = DeleteOptions.of(bodies.decode_delete_options(request.body, request.content_type), request.query)
    version, gone = delete(api, target.resource, target.namespace, target.name, options, request.warnings)
    if not gone or api.strategy(target.resource).answers_deleted_object:
        return _sent(api, request, 200, version)
    resource = target.resource
    details = {"name": target.name}
    if resource.group:
        details["group"] = resource.group
    details |= {"kind": resource.plural, "uid": version.obj["metadata"]["uid"]}
    return answer_object(200, success(details), request.accepted(), request.warnings)


def _delete_collection(api: Api, request: Request) -> Answer:
    target = request.target
    accepted = request.accepted()
    how = DeleteOptions.of(bodies.decode_delete_options(request.body, request.content_type), request.query)
    options = ListOptions.of(api, target.resource, target.namespace, request.query)
    page = delete_collection(api, target.resource, options, how)
    form = form_of(api, target.resource, accepted, request.query)
    data = form.many(page.versions, ListMeta(page.revision, page.continue_token, page.remaining))
    return answer_bytes(200, data, accepted, request.warnings)


def _decoded(request: Request, options: WriteOptions, subresource: str = "") -> JSON:
    resource, validation = request.target.resource, options.field_validation
    return bodies.decode(request.body, request.content_type, resource, subresource, validation, request.warnings)


def _action(api: Api, request: Request, subresource: str) -> Answer:
    target = request.target
    resource = target.resource
    action = api.actions.get((resource.storage, subresource))
    verb = verb_of(request)
    verbs = resource.subresources[subresource].verbs if subresource else resource.verbs
    if verb not in verbs:
        raise ApiError.method_not_allowed()
    if action is None:
        raise ApiError.no_such_resource()
    accepted = request.accepted()
    kind = {"POST": "CreateOptions", "PUT": "UpdateOptions"}.get(request.method, "PatchOptions")
    options = WriteOptions()
    body: JSON | None = None
    change: Callable[[JSON], JSON] | None = None
    applied: JSON | None = None  # to a scale: no other action takes one
    if request.method == "PATCH":
        type_of_patch = patch_type(request.content_type, resource)
        options = request.write_options(kind, type_of_patch == APPLY_PATCH)
        sent = Patch.of(request.body, type_of_patch, options.field_validation, request.warnings)
        if sent.is_apply and isinstance(sent.document, dict):
            applied = sent.document

        part = (resource.api_version_of(subresource), resource.kind_of(subresource))

        def change(obj: JSON) -> JSON:
            if applied is not None and part[1] == "Scale":
                check_applied(resource.of_subresource(subresource), applied)
                scaled(applied)  # a conflict comes before what is wrong
            changed = apply_patch(sent, obj, resource)
            try:
                return typed.decode(resource, changed, kind=part)
            except ApiError as unfit:
                shown = unfit_patch(sent, changed, unfit)
                raise ApiError.invalid("", "", [shown]) from None

    elif request.method in ("POST", "PUT"):
        options = request.write_options(kind)
        if request.body or not resource.kind_of(subresource).endswith("Options"):  # those connect
            body = _decoded(request, options, subresource)
            if request.method == "POST":
                check_namespace(dict(body.get("metadata") or {}), target.namespace)
    name = target.name
    if resource.storage == BINDINGS:  # older than pods/binding, and about a pod as well
        resource, subresource = api.registry.named("pods"), "binding"
        name = ((body or {}).get("metadata") or {}).get("name") or ""

    def scaled(applied: JSON) -> list[JSON]:
        current = api.stored(resource, target.namespace, name)
        replicas = (applied.get("spec") or {}).get("replicas") or 0
        return ownership.after_scaling(api, resource, current, replicas, options.field_manager, options.force)

    def change_object(how: Callable[[JSON], None]) -> JSON:
        managed = scaled(applied) if applied is not None and not resource.custom else None
        version = modify(
            api, resource, target.namespace, name, how, options, subresource, request.warnings, managed=managed
        )
        return version.obj

    def write_object(how: Callable[[JSON], None]) -> JSON:
        version = modify(
            api, resource, target.namespace, name, how, options, subresource, request.warnings, by_rules=False
        )
        return version.obj

    def write_other(storage: str, other: str, how: Callable[[JSON], None]) -> JSON:
        kind = api.registry.named(storage)
        version = modify(
            api, kind, target.namespace, other, how, options, subresource, request.warnings, by_rules=False
        )
        return version.obj

    def delete_object(how: JSON) -> JSON:
        version, _ = delete(
            api, resource, target.namespace, name, DeleteOptions.of(how, request.query), request.warnings
        )
        return version.obj

    def admit_binding(pod: JSON, node: str) -> None:
        for admission in api.bind_admission:
            admission(pod, node)

    ctx = api.context(resource, target.namespace, name, subresource, options, request.warnings)
    result = action(
        ActionRequest(
            verb=verb,
            ctx=ctx,
            body=body,
            query=request.query,
            update=change_object,
            write=write_object,
            write_other=write_other,
            delete=delete_object,
            admit_binding=admit_binding,
            user=request.user,
            access=api.authentication,
            change=change,
        )
    )
    if isinstance(result.body, str):
        return answer_text(result.code, result.body)
    if accepted.form and result.body["kind"] == resource.kind_of(subresource):  # a Scale in a table
        part_type = resource.of_subresource(subresource) if subresource else resource
        revision = int(result.body["metadata"].get("resourceVersion") or 0)
        part_version = Version(part_type, (target.namespace, name), result.body, revision)
        data = form_of(api, part_type, accepted, request.query).one(part_version)
        return answer_bytes(result.code, data, accepted, request.warnings)
    return answer_object(result.code, result.body, accepted, request.warnings)


_OBJECT_VERBS: dict[str, tuple[str, Handler]] = {
    "GET": ("get", _get),
    "PUT": ("update", _update),
    "PATCH": ("patch", _patch),
    "DELETE": ("delete", _delete),
}
_STATUS_VERBS = {method: verb for method, verb in _OBJECT_VERBS.items() if method != "DELETE"}
_ALL_VERBS: dict[str, tuple[str, Handler]] = {"GET": ("list", _list)}
_COLLECTION_VERBS: dict[str, tuple[str, Handler]] = {
    "GET": ("list", _list),
    "POST": ("create", _create),
    "DELETE": ("deletecollection", _delete_collection),
}
