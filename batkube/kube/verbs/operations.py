"""The operations of the server for actions, which are not verbs of an object themselves."""

from __future__ import annotations

from typing import Any

from ..admission.plugin import Attributes
from ..apimachinery.metadata import check_name, check_namespace, without_duplicate_owners
from ..apimachinery.status import ApiError
from ..codec import typed
from ..kinds.action import AccessControl, Change
from . import managed_fields
from .apply import check_applied
from .delete import delete
from .patch import Patch, apply_patch, unfit_patch
from .request_options import DeleteOptions, Query
from .update import modify
from .write import Write

JSON = dict[str, Any]


class WriteOperations:
    """The operations on the object that a write is about. See `kinds.action.ObjectOperations`."""

    def __init__(self, write: Write, query: Query, body: JSON | None = None, patch: Patch | None = None) -> None:
        self.access: AccessControl = write.api.authentication
        self._write = write
        self._query = query
        self._body = body
        self._patch = patch

    def patched(self, part: JSON) -> JSON:
        """Return the body, or the part with the patch applied."""
        write, patch = self._write, self._patch
        if patch is None:
            return self._body or {}
        resource, subresource, validation = write.resource, write.subresource or "", write.options.field_validation
        kind = resource.kind_of(subresource)
        if (applied := self._applied) is not None and kind == "Scale":
            check_applied(resource.of_subresource(subresource), applied)
            self._scaled(applied)  # a conflict comes before what is wrong
        changed = apply_patch(patch, part, resource)
        version_and_kind = (resource.api_version_of(subresource), kind)
        try:
            read = typed.decode(resource, changed, validation, write.warnings, version_and_kind, patch.doubts, True)
        except ApiError as unfit:
            raise ApiError.invalid("", "", [unfit_patch(patch, changed, unfit)]) from None
        return check_addressed(write, read)

    def admit(self, sent: JSON) -> None:
        """Let admission change what was sent."""
        write = self._write
        write.api.admission.admit(Attributes(write.context, sent))

    def admit_binding(self, pod: JSON, node: str) -> None:
        """Raise ApiError if a function refuses to put the pod on this node."""
        self._write.api.admit_binding(pod, node)

    def update(self, how: Change) -> JSON:
        """Change the object by its kind's rules."""
        write, applied = self._write, self._applied
        if applied is not None and not write.resource.custom:
            write = write.owning(self._scaled(applied))
        return modify(write, how).obj

    def write(self, how: Change) -> JSON:
        """Change the object without rules."""
        return modify(self._write.by_server(), how).obj

    def write_other(self, storage: str, name: str, how: Change) -> JSON:
        """Change another object of the namespace without rules."""
        write = self._write
        kind = write.api.registry.named(storage)
        modification = Write.of(
            write.api, kind, write.namespace, name, write.subresource, write.options, write.warnings
        )
        return modify(modification.by_server(), how).obj

    def delete(self, options: JSON) -> JSON:
        """Delete the object."""
        write, asked = self._write, DeleteOptions.of(options, self._query)
        deletion = Write.of(
            write.api, write.resource, write.namespace, write.name, None, asked.as_write, write.warnings
        )
        return delete(deletion, asked)[0].obj

    @property
    def _applied(self) -> JSON | None:
        """The configuration that is applied to a scale. No other action takes one."""
        patch = self._patch
        return patch.document if patch is not None and patch.is_apply and isinstance(patch.document, dict) else None

    def _scaled(self, applied: JSON) -> list[JSON]:
        write = self._write
        current = write.api.stored(write.resource, write.namespace, write.name)
        spec = applied.get("spec") or {}
        replicas = (spec["replicas"] or 0) if "replicas" in spec else None
        return managed_fields.after_scaling(write, current, replicas)


def check_addressed(write: Write, part: JSON) -> JSON:
    """Check that the new content of a part belongs to the object in the path."""
    metadata = part.get("metadata") or {}
    without_duplicate_owners(metadata, write.warnings)
    check_namespace(dict(metadata), write.namespace)
    check_name(metadata, write.name)
    return part
