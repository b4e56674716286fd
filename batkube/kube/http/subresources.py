"""Requests for subresources that are actions: a binding, an eviction, a scale, a log."""

from __future__ import annotations

from typing import Any

from ..apimachinery.metadata import check_namespace, without_duplicate_owners
from ..apimachinery.status import ApiError
from ..codec.answers import HttpAnswer, answer_bytes, answer_object, answer_text
from ..kinds.action import ActionRequest
from ..storage.store import Version
from ..verbs.api import Api
from ..verbs.list import check_version
from ..verbs.operations import WriteOperations, check_addressed
from ..verbs.patch import APPLY_PATCH, Patch, patch_type
from ..verbs.request_options import PLAIN_WRITE
from ..verbs.write import Write
from .request import Request, form_of, verb_of

JSON = dict[str, Any]

BINDINGS = "bindings"


def carry_out(api: Api, request: Request, subresource: str) -> HttpAnswer:
    """Return the answer of the action. Raise ApiError if there is no such action, or if it refuses."""
    info = request.info
    resource = info.resource
    action = api.actions.get((resource.storage, subresource))
    verb = verb_of(request)
    verbs = resource.subresources[subresource].verbs if subresource else resource.verbs
    if verb not in verbs:
        raise ApiError.method_not_allowed()
    if action is None:
        raise ApiError.no_such_resource()
    accepted = request.accepted()
    options = PLAIN_WRITE
    body: JSON | None = None
    patch: Patch | None = None
    if verb == "get" and subresource == "scale":
        check_version(api, resource, request.query)
    if request.method == "PATCH":
        kind = patch_type(request.content_type, resource)
        options = request.write_options("PatchOptions", kind == APPLY_PATCH)
        patch = Patch.of(request.body, kind, options.field_validation, request.warnings)
    elif request.method in ("POST", "PUT"):
        options = request.write_options("CreateOptions" if request.method == "POST" else "UpdateOptions")
        if request.body or not resource.kind_of(subresource).endswith("Options"):  # those connect
            body = request.decoded(options, subresource)
            if request.method == "POST":
                without_duplicate_owners(body.get("metadata") or {}, request.warnings)
                check_namespace(dict(body.get("metadata") or {}), info.namespace)
    name = info.name
    if resource.storage == BINDINGS:  # older than pods/binding, and about a pod as well
        resource, subresource = api.registry.named("pods"), "binding"
        name = ((body or {}).get("metadata") or {}).get("name") or ""
    write = Write.of(api, resource, info.namespace, name, subresource, options, request.warnings)
    if body is not None and request.method == "PUT":
        check_addressed(write, body)
    asked = ActionRequest(write.context, body, request.query, request.upgrades)
    result = action.answer(verb, asked, WriteOperations(write, request.query, body, patch))
    if isinstance(result.body, str):
        return answer_text(result.code, result.body)
    if accepted.form and result.body["kind"] == resource.kind_of(subresource):  # a Scale in a table
        part_type = resource.of_subresource(subresource) if subresource else resource
        revision = int(result.body["metadata"].get("resourceVersion") or 0)
        part_version = Version(part_type, (info.namespace, name), result.body, revision)
        data = form_of(api, part_type, accepted, request.query).one(part_version)
        return answer_bytes(result.code, data, accepted, request.warnings)
    return answer_object(result.code, result.body, accepted, request.warnings)
