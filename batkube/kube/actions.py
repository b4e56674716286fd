"""Requests for subresources that are actions: a binding, an eviction, a scale, a log."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from . import typed
from .answers import Answer, answer_bytes, answer_object, answer_text
from .api import Api
from .metadata import check_name, check_namespace, without_duplicate_owners
from .options import DeleteOptions, WriteOptions
from .request import Request, form_of, verb_of
from .status import ApiError
from .store import Version
from .strategy import ActionRequest
from .verbs import ownership
from .verbs.apply import check_applied
from .verbs.delete import delete
from .verbs.list import check_version
from .verbs.patch import APPLY_PATCH, Patch, apply_patch, patch_type, unfit_patch
from .verbs.update import modify

JSON = dict[str, Any]

BINDINGS = "bindings"


def carry_out(api: Api, request: Request, subresource: str) -> Answer:
    """The answer of the action. Raises ApiError where there is none, or it refuses."""
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

    def addressed(part: JSON) -> JSON:
        """What is put in the place of a part is that of the object in the path."""
        metadata = part.get("metadata") or {}
        without_duplicate_owners(metadata, request.warnings)
        check_namespace(dict(metadata), target.namespace)
        check_name(metadata, target.name)
        return part

    if verb == "get" and subresource == "scale":
        check_version(api, resource, request.query)
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
                read = typed.decode(
                    resource, changed, options.field_validation, request.warnings, part, sent.doubts, True
                )
            except ApiError as unfit:
                shown = unfit_patch(sent, changed, unfit)
                raise ApiError.invalid("", "", [shown]) from None
            return addressed(read)

    elif request.method in ("POST", "PUT"):
        options = request.write_options(kind)
        if request.body or not resource.kind_of(subresource).endswith("Options"):  # those connect
            body = request.decoded(options, subresource)
            if request.method == "POST":
                without_duplicate_owners(body.get("metadata") or {}, request.warnings)
                check_namespace(dict(body.get("metadata") or {}), target.namespace)
            else:
                addressed(body)
    name = target.name
    if resource.storage == BINDINGS:  # older than pods/binding, and about a pod as well
        resource, subresource = api.registry.named("pods"), "binding"
        name = ((body or {}).get("metadata") or {}).get("name") or ""

    def scaled(applied: JSON) -> list[JSON]:
        current = api.stored(resource, target.namespace, name)
        spec = applied.get("spec") or {}
        replicas = (spec["replicas"] or 0) if "replicas" in spec else None
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
            upgrades=request.upgrades,
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
