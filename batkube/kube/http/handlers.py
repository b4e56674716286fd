"""The way from a request for a resource to the verb that carries it out, and from its result to the answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import orjson

from ..apimachinery.status import ApiError, Unrouted, success
from ..codec import bodies
from ..codec.answers import HttpAnswer, answer_bytes, answer_object
from ..codec.negotiation import Accepted, stream_type
from ..schema.resources import ResourceType
from ..storage.form import ListMeta
from ..storage.store import Version
from ..storage.watch import Watcher
from ..verbs import managed_fields
from ..verbs.api import Api
from ..verbs.computed import Compute, computed_list, computed_object
from ..verbs.create import create
from ..verbs.delete import delete, delete_collection
from ..verbs.list import ListOptions, check_version, list_page
from ..verbs.patch import APPLY_PATCH, Patch, patch, patch_type
from ..verbs.request_options import DeleteOptions, WriteOptions
from ..verbs.update import update
from ..verbs.watch import watch
from ..verbs.write import Write
from .request import Request, form_of, verb_of
from .routes import RequestInfo
from .subresources import carry_out

JSON = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stream:
    """The answer to a watch: an open stream."""

    watcher: Watcher
    timeout_seconds: int | None
    content_type: bytes
    warning: str = ""


Result = HttpAnswer | Stream
Handler = Callable[[Api, Request], Result]


def handle(api: Api, request: Request) -> Result:
    """Carry out a request. Raise ApiError or TextError if it is refused."""
    resource = request.info.resource
    strategy = api.strategy(resource)
    if request.info.subresource == "status":
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
    info = request.info
    if info.watch and request.method != "GET":
        raise ApiError.method_not_allowed()
    if info.resource.custom and info.subresource and (verb := verb_of(request)) not in _verbs_of(info):
        raise ApiError.method_not_supported(info.resource.qualified, verb)
    if info.subresource and not _is_part(api, info):
        return carry_out(api, request, info.subresource)
    if (compute := api.computed.get(info.resource.storage)) is not None:
        return _computed(compute, request)
    if request.method == "GET" and (refresh := api.refreshes.get(info.resource.storage)) is not None:
        refresh(info.namespace)
    if (info.resource.storage, "") in api.actions:
        if info.name or info.all_namespaces:
            raise ApiError.no_such_resource()
        return carry_out(api, request, "")
    if info.name:
        verbs = _STATUS_VERBS if info.subresource else _OBJECT_VERBS
    else:
        verbs = _ALL_VERBS if info.all_namespaces else _COLLECTION_VERBS
    found = verbs.get(request.method)
    if found is None:
        raise ApiError.method_not_allowed()
    verb, handler = found
    if verb not in _verbs_of(info):
        raise ApiError.method_not_allowed()
    return handler(api, request)


def _is_part(api: Api, info: RequestInfo) -> bool:
    """Return True if the subresource is a part of the object, read and written as the object is (status, resize,
    finalize).

    Other subresources are actions.
    """
    if (info.resource.storage, info.subresource) in api.actions:
        return False
    kind = info.resource.subresources[info.subresource].kind
    return info.subresource == "status" or kind == info.resource.kind


def _verbs_of(info: RequestInfo) -> tuple[str, ...]:
    if info.subresource:
        return info.resource.subresources[info.subresource].verbs
    return info.resource.verbs


def _sent(api: Api, request: Request, code: int, version: Version) -> HttpAnswer:
    accepted = request.accepted()
    resource = request.info.resource
    if accepted.form == "PartialObjectMetadataList":
        raise _unlike(accepted, f"is not a list (*{_go_type(resource)})")
    data = form_of(api, resource, accepted, request.query).one(version)
    if accepted.yaml and not accepted.form and (managed := managed_fields.of_only_writer(api, resource, version)):
        obj = orjson.loads(data)
        obj["metadata"]["managedFields"] = managed
        data = orjson.dumps(obj)
    return answer_bytes(code, data, accepted, request.warnings)


def _unlike(accepted: Accepted, found: str) -> ApiError:
    """Return a 406: the client asks for the metadata of a list but it is one object, or the other way round."""
    return ApiError(406, "NotAcceptable", f"you requested {accepted.form}, but the requested object {found}")


def _go_type(resource: ResourceType) -> str:
    if resource.custom:
        return "unstructured.Unstructured"
    package = resource.group.partition(".")[0] or "core"
    return f"{'core' if package == 'events' else package}.{resource.kind}"


def _get(api: Api, request: Request) -> Result:
    info = request.info
    request.accepted()
    if info.watch:
        return _watch(api, request)
    if request.query.flag("export"):
        raise ApiError.bad_request("the export parameter, deprecated since v1.14, is no longer supported")
    check_version(api, info.resource, request.query)
    return _sent(api, request, 200, api.stored(info.resource, info.namespace, info.name))


def _list(api: Api, request: Request) -> Result:
    info = request.info
    if info.watch or request.query.flag("watch"):
        return _watch(api, request)
    accepted = request.accepted()
    options = ListOptions.of(api, info.resource, info.namespace, request.query)
    page = list_page(api, info.resource, options)
    if accepted.form == "PartialObjectMetadata":
        raise _unlike(accepted, f"is a list (*{_go_type(info.resource)}List)")
    form = form_of(api, info.resource, accepted, request.query)
    data = form.many(page.versions, ListMeta(page.revision, page.continue_token, page.remaining))
    return answer_bytes(200, data, accepted, request.warnings)


def _watch(api: Api, request: Request) -> Stream:
    info = request.info
    request.accepted()
    options = ListOptions.of(api, info.resource, info.namespace, request.query)
    if info.name:
        options = options.of_object(info.name)
    accepted = request.accepted(stream=True)
    form = form_of(api, info.resource, accepted, request.query)
    watcher = watch(api, info.resource, options, form)
    return Stream(watcher, options.timeout_seconds, stream_type(accepted))


def _computed(compute: Compute, request: Request) -> HttpAnswer:
    info, accepted = request.info, request.accepted()
    if request.method != "GET" or info.watch or request.query.flag("watch"):
        raise ApiError.method_not_supported(info.resource.qualified, verb_of(request))
    if info.name:
        return answer_object(200, computed_object(compute, info.resource, info.namespace, info.name), accepted)
    labels = request.query.get("labelSelector", "")
    return answer_object(200, computed_list(compute, info.resource, info.namespace, labels), accepted)


def _write(api: Api, request: Request, options: WriteOptions) -> Write:
    info = request.info
    subresource = info.subresource or None
    return Write.of(api, info.resource, info.namespace, info.name, subresource, options, request.warnings)


def _create(api: Api, request: Request) -> HttpAnswer:
    request.accepted()
    options = request.write_options("CreateOptions")
    obj = request.decoded(options)
    version = create(_write(api, request, options), obj)
    return _sent(api, request, 201, version)


def _update(api: Api, request: Request) -> HttpAnswer:
    request.accepted()
    options = request.write_options("UpdateOptions")
    obj = request.decoded(options)
    version, created = update(_write(api, request, options), obj)
    return _sent(api, request, 201 if created else 200, version)


def _patch(api: Api, request: Request) -> HttpAnswer:
    info = request.info
    kind = patch_type(request.content_type, info.resource)
    request.accepted()
    options = request.write_options("PatchOptions", kind == APPLY_PATCH)
    change = Patch.of(request.body, kind, options.field_validation, request.warnings)
    version, created = patch(_write(api, request, options), change)
    return _sent(api, request, 201 if created else 200, version)


def _delete_options(api: Api, request: Request) -> DeleteOptions:
    options = DeleteOptions.of(bodies.decode_delete_options(request.body, request.content_type), request.query)
    warning = api.strategy(request.info.resource).orphan_warning
    if warning and not options.propagation:
        request.warnings.append(warning)
    return options


def _delete(api: Api, request: Request) -> HttpAnswer:
    info = request.info
    request.accepted()
    options = _delete_options(api, request)
    version, gone = delete(_write(api, request, options.as_write), options)
    if not gone or api.strategy(info.resource).answers_deleted_object:
        return _sent(api, request, 200, version)
    resource = info.resource
    details = {"name": info.name}
    if resource.group:
        details["group"] = resource.group
    details |= {"kind": resource.plural, "uid": version.obj["metadata"]["uid"]}
    return answer_object(200, success(details), request.accepted(), request.warnings)


def _delete_collection(api: Api, request: Request) -> HttpAnswer:
    info = request.info
    accepted = request.accepted()
    options = ListOptions.of(api, info.resource, info.namespace, request.query)
    how = _delete_options(api, request)
    page = delete_collection(api, info.resource, options, how)
    form = form_of(api, info.resource, accepted, request.query)
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
