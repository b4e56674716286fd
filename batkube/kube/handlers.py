"""From a request for a resource to the verb that carries it out, and from its result to the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import orjson

from . import bodies
from .actions import carry_out
from .answers import Answer, answer_bytes, answer_object
from .api import Api
from .forms import ListMeta
from .negotiation import Accepted, stream_type
from .options import DeleteOptions
from .request import Request, form_of, verb_of
from .resources import ResourceType
from .routes import Target
from .status import ApiError, Unrouted, success
from .store import Version
from .verbs import ownership
from .verbs.create import create
from .verbs.delete import delete, delete_collection
from .verbs.list import ListOptions, check_version, list_page
from .verbs.patch import APPLY_PATCH, Patch, patch, patch_type
from .verbs.update import update
from .verbs.watch import watch
from .watch import Watcher

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stream:
    """The answer to a watch: an open stream."""

    watcher: Watcher
    timeout_seconds: int | None
    content_type: bytes
    warning: str = ""


Result = Answer | Stream
Handler = Callable[[Api, Request], Result]


def handle(api: Api, request: Request) -> Result:
    """Carry out a request. Raises ApiError or TextError where it is refused."""
    resource = request.target.resource
    strategy = api.strategy(resource)
    if request.target.subresource == "status":
        request.tables = strategy.status_tables
    deprecation = strategy.deprecation(resource.version)
    if not deprecation:
        return _handle(api, request)
    request.warnings.append(deprecation)
    try:
        result = _handle(api, request)
    except Unrouted:
        if not resource.custom:  # whose handlers see to methods and media types themselves
            request.warnings.clear()
        raise
    return replace(result, warning=deprecation) if isinstance(result, Stream) else result


def _handle(api: Api, request: Request) -> Result:
    target = request.target
    if target.watch and request.method != "GET":
        raise ApiError.method_not_allowed()
    if target.resource.custom and target.subresource and (verb := verb_of(request)) not in _verbs_of(target):
        raise ApiError.method_not_supported(target.resource.qualified, verb)
    if target.subresource and not _is_part(api, target):
        return carry_out(api, request, target.subresource)
    if (target.resource.storage, "") in api.actions:
        if target.name or target.all_namespaces:
            raise ApiError.no_such_resource()
        return carry_out(api, request, "")
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
    check_version(api, target.resource, request.query)
    return _sent(api, request, 200, api.stored(target.resource, target.namespace, target.name))


def _list(api: Api, request: Request) -> Result:
    target = request.target
    if target.watch or request.query.flag("watch"):
        return _watch(api, request)
    accepted = request.accepted()
    options = ListOptions.of(api, target.resource, target.namespace, request.query)
    page = list_page(api, target.resource, options)
    if accepted.form == "PartialObjectMetadata":
        raise _unlike(accepted, f"is a list (*{_go_type(target.resource)}List)")
    form = form_of(api, target.resource, accepted, request.query)
    data = form.many(page.versions, ListMeta(page.revision, page.continue_token, page.remaining))
    return answer_bytes(200, data, accepted, request.warnings)


def _watch(api: Api, request: Request) -> Stream:
    target = request.target
    request.accepted()
    options = ListOptions.of(api, target.resource, target.namespace, request.query)
    if target.name:
        options = options.of_object(target.name)
    accepted = request.accepted(stream=True)
    form = form_of(api, target.resource, accepted, request.query)
    watcher = watch(api, target.resource, options, form)
    return Stream(watcher, options.timeout_seconds, stream_type(accepted))


def _create(api: Api, request: Request) -> Answer:
    target = request.target
    request.accepted()
    options = request.write_options("CreateOptions")
    obj = request.decoded(options)
    version = create(api, target.resource, target.namespace, obj, options, request.warnings)
    return _sent(api, request, 201, version)


def _update(api: Api, request: Request) -> Answer:
    target = request.target
    request.accepted()
    options = request.write_options("UpdateOptions")
    obj = request.decoded(options)
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
    kind = patch_type(request.content_type, target.resource)
    request.accepted()
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


def _delete_options(api: Api, request: Request) -> DeleteOptions:
    options = DeleteOptions.of(bodies.decode_delete_options(request.body, request.content_type), request.query)
    warning = api.strategy(request.target.resource).orphan_warning
    if warning and not options.propagation:
        request.warnings.append(warning)
    return options


def _delete(api: Api, request: Request) -> Answer:
    target = request.target
    request.accepted()
    options = _delete_options(api, request)
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
    options = ListOptions.of(api, target.resource, target.namespace, request.query)
    how = _delete_options(api, request)
    page = delete_collection(api, target.resource, options, how)
    form = form_of(api, target.resource, accepted, request.query)
    data = form.many(page.versions, ListMeta(page.revision, page.continue_token, page.remaining))
    return answer_bytes(200, data, accepted, request.warnings)


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
