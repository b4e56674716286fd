"""The Kubernetes Status: the form in which the API server refuses requests, in the words of the real one.

Clients branch on the code, the reason and the causes of a Status, and people read its message. The constructors here
mirror `k8s.io/apimachinery/pkg/api/errors` and `pkg/util/validation/field/errors.go`.

A kind or resource outside the core group is named as Kubernetes prints it: `deployments.apps`,
`Lease.coordination.k8s.io`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .go_values import fit_for_html

JSON = dict[str, Any]

MAX_CAUSES = 1_000  # that one Status tells

_TITLES = {
    "FieldValueNotFound": "Not found",
    "FieldValueRequired": "Required value",
    "FieldValueDuplicate": "Duplicate value",
    "FieldValueInvalid": "Invalid value",
    "FieldValueTypeInvalid": "Invalid value",
    "FieldValueNotSupported": "Unsupported value",
    "FieldValueForbidden": "Forbidden",
    "FieldValueTooLong": "Too long",
    "FieldValueTooMany": "Too many",
    "InternalError": "Internal error",
}

CONFLICT_DETAIL = "the object has been modified; please apply your changes to the latest version and try again"


def quote(text: str) -> str:
    """Return the text as Go's %q prints it."""
    if text.isprintable():
        return json.dumps(text, ensure_ascii=False)
    return '"' + "".join(_ESCAPES.get(character) or _escaped(character) for character in text) + '"'


_ESCAPES = {'"': '\\"', "\\": "\\\\"} | dict(
    zip("\a\b\f\n\r\t\v", ("\\a", "\\b", "\\f", "\\n", "\\r", "\\t", "\\v"), strict=True)
)


def _escaped(character: str) -> str:
    code = ord(character)
    if character.isprintable():
        return character
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def show(value: object) -> str:
    """Return a value as field errors show it: strings quoted, objects as compact JSON."""
    if isinstance(value, str):
        return quote(value)
    return fit_for_html(json.dumps(value, ensure_ascii=False, separators=(",", ":")))


def plural(count: int, one: str, many: str) -> str:
    return one if count == 1 else many


@dataclass(frozen=True)
class FieldError:
    """One error in one field. It becomes a cause of a 422 Status.

    `field` is the path as Kubernetes writes it (`spec.containers[0].name`), `message` the whole text after the path.
    """

    reason: str
    field: str
    message: str

    @classmethod
    def _of(cls, reason: str, field: str, detail: str, shown: str | None = None) -> FieldError:
        parts = [_TITLES[reason], shown, detail]
        return cls(reason, field, ": ".join(part for part in parts if part))

    @classmethod
    def invalid(cls, field: str, value: object, detail: str) -> FieldError:
        return cls._of("FieldValueInvalid", field, detail, show(value))

    @classmethod
    def type_invalid(cls, field: str, value: object, detail: str) -> FieldError:
        return cls._of("FieldValueTypeInvalid", field, detail, show(value))

    @classmethod
    def required(cls, field: str, detail: str = "") -> FieldError:
        return cls._of("FieldValueRequired", field, detail)

    @classmethod
    def forbidden(cls, field: str, detail: str) -> FieldError:
        return cls._of("FieldValueForbidden", field, detail)

    @classmethod
    def duplicate(cls, field: str, value: object) -> FieldError:
        return cls._of("FieldValueDuplicate", field, "", show(value))

    @classmethod
    def not_found(cls, field: str, value: object) -> FieldError:
        return cls._of("FieldValueNotFound", field, "", show(value))

    @classmethod
    def not_supported(cls, field: str, value: object, allowed: Iterable[str]) -> FieldError:
        """Return the error for a value that is not in `allowed`. The order is that of the message; the real server
        usually sorts.
        """
        names = ", ".join(quote(name) for name in allowed)
        return cls._of("FieldValueNotSupported", field, f"supported values: {names}" if names else "", show(value))

    @classmethod
    def too_long(cls, field: str, max_bytes: int) -> FieldError:
        return cls._of(
            "FieldValueTooLong", field, f"may not be more than {max_bytes} {plural(max_bytes, 'byte', 'bytes')}"
        )

    @classmethod
    def too_many(cls, field: str, count: int, max_items: int) -> FieldError:
        detail = f"must have at most {max_items} {plural(max_items, 'item', 'items')}"
        return cls._of("FieldValueTooMany", field, detail, str(count))

    @classmethod
    def internal(cls, field: str, detail: str) -> FieldError:
        return cls._of("InternalError", field, detail)

    def cause(self) -> JSON:
        return {"reason": self.reason, "message": self.message, "field": self.field}

    def __str__(self) -> str:
        return f"{self.field}: {self.message}"


class TextError(Exception):
    """An answer in plain text, where the real server sends no Status (`404 page not found`)."""

    def __init__(self, code: int, text: str) -> None:
        super().__init__(text)
        self.code = code
        self.text = text

    @classmethod
    def page_not_found(cls) -> TextError:
        return cls(404, "404 page not found\n")


class ApiError(Exception):
    """A refused request, carrying the Status to answer with.

    `reason` None leaves the reason out, as the real server does for errors it did not foresee (500). `details`
    None leaves the details out; an empty mapping is sent as `{}`.
    """

    def __init__(
        self,
        code: int,
        reason: str | None,
        message: str,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.headers: Mapping[str, str] = headers or {}

    def to_status(self) -> JSON:
        status: JSON = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure"}
        if self.message:
            status["message"] = self.message
        if self.reason is not None:
            status["reason"] = self.reason
        if self.details is not None:
            status["details"] = dict(self.details)
        status["code"] = self.code
        return status

    @classmethod
    def bad_request(cls, message: str) -> ApiError:
        return cls(400, "BadRequest", message)

    @classmethod
    def unauthorized(cls) -> ApiError:
        return cls(401, "Unauthorized", "Unauthorized")

    @classmethod
    def forbidden(cls, resource: str, name: str, why: str) -> ApiError:
        subject = f"{resource} {quote(name)}" if name else resource
        return cls(403, "Forbidden", f"{subject} is forbidden: {why}", details_of(resource, name))

    @classmethod
    def not_found(cls, resource: str, name: str) -> ApiError:
        """Return the error for an object that does not exist."""
        return cls(404, "NotFound", f"{resource} {quote(name)} not found", details_of(resource, name))

    @classmethod
    def no_such_resource(cls) -> ApiError:
        """Return the error for a resource (or a version) that a known group does not serve."""
        return cls(404, "NotFound", "the server could not find the requested resource", {})

    @classmethod
    def method_not_allowed(cls) -> Unrouted:
        """Return the error for a method that a known resource does not offer."""
        why = "the server does not allow this method on the requested resource"
        return Unrouted(405, "MethodNotAllowed", why, {})

    @classmethod
    def method_not_supported(cls, resource: str, verb: str) -> ApiError:
        """Return the error for a method that a subresource of a custom resource does not offer."""
        message = f"{verb} is not supported on resources of kind {quote(resource)}"
        return cls(405, "MethodNotAllowed", message, details_of(resource, ""))

    @classmethod
    def not_acceptable(cls, accepted: Sequence[str]) -> ApiError:
        message = "only the following media types are accepted: " + ", ".join(accepted)
        return cls(406, "NotAcceptable", message)

    @classmethod
    def already_exists(cls, resource: str, name: str) -> ApiError:
        return cls(409, "AlreadyExists", f"{resource} {quote(name)} already exists", details_of(resource, name))

    @classmethod
    def conflict(cls, resource: str, name: str, why: str = CONFLICT_DETAIL) -> ApiError:
        message = f"Operation cannot be fulfilled on {resource} {quote(name)}: {why}"
        return cls(409, "Conflict", message, details_of(resource, name))

    @classmethod
    def other_object(
        cls, resource: str, key: str, what: str, asked: str, found: str, *, dry_run: bool = False
    ) -> ApiError:
        """Return a 409 from the storage: the object under that key is not the one, or no longer the one, that is meant.

        `what` is UID or ResourceVersion. `key` is the object's key in etcd: pods/NAMESPACE/NAME. In a dry run the real
        server leaves out the prefix of the key in etcd.
        """
        why = f"Precondition failed: {what} in precondition: {asked}, {what} in object meta: {found}"
        root = "" if dry_run else "/registry"
        where = f"Key: {root}/{key}, ResourceVersion: 0, AdditionalErrorMsg: {why}"
        return cls.conflict(resource, key.rpartition("/")[2], f"StorageError: invalid object, Code: 4, {where}")

    @classmethod
    def expired(cls, message: str) -> ApiError:
        """Return a 410: the version is no longer in the history. Clients list again."""
        return cls(410, "Expired", message)

    @classmethod
    def too_old_version(cls, asked: int, oldest: int) -> ApiError:
        return cls.expired(f"too old resource version: {asked} ({oldest})")

    @classmethod
    def request_too_large(cls, limit: int) -> ApiError:
        message = f"Request entity too large: limit is {limit}"
        return cls(413, "RequestEntityTooLarge", message)

    @classmethod
    def too_many_items(cls, limit: int) -> ApiError:
        message = f"Request entity too large: limit is {limit} items in all lists together"
        return cls(413, "RequestEntityTooLarge", message)

    @classmethod
    def unsupported_media_type(cls, accepted: Sequence[str]) -> ApiError:
        message = "the body of the request was in an unknown format - accepted media types include: "
        return cls(415, "UnsupportedMediaType", message + ", ".join(accepted))

    @classmethod
    def invalid(cls, kind: str, name: str, errors: Sequence[FieldError]) -> ApiError:
        """Return a 422: the object breaks the rules of its kind. `errors` are the broken rules; of very many the first
        are shown.
        """
        errors = errors[:MAX_CAUSES]
        texts = list(dict.fromkeys(str(error) for error in errors))
        message = f"{kind} {quote(name)} is invalid"
        if texts:
            message += ": " + (texts[0] if len(texts) == 1 else f"[{', '.join(texts)}]")
        details = details_of(kind, name)
        if errors:
            details["causes"] = [error.cause() for error in errors]
        return cls(422, "Invalid", message, details)

    @classmethod
    def unprocessable(cls, message: str) -> ApiError:
        """Return a 422 without causes, the answer to a patch that cannot be applied."""
        return cls(422, "Invalid", message, {})

    @classmethod
    def too_many_requests(cls, message: str, causes: Sequence[JSON] = (), retry_seconds: int = 0) -> ApiError:
        details: JSON = {}
        if causes:
            details["causes"] = list(causes)
        if retry_seconds:
            details["retryAfterSeconds"] = retry_seconds
        headers = {"Retry-After": str(retry_seconds)} if retry_seconds else None
        return cls(429, "TooManyRequests", message, details, headers)

    @classmethod
    def unforeseen(cls, message: str) -> ApiError:
        """Return a 500 without a reason: an error that the real server did not foresee but that its clients
        can meet.
        """
        return cls(500, None, message)

    @classmethod
    def internal(cls, message: str) -> ApiError:
        details = {"causes": [{"message": message}]}
        return cls(500, "InternalError", f"Internal error occurred: {message}", details)

    @classmethod
    def too_large_version(cls, asked: int, current: int, cached: bool = True) -> ApiError:
        """Return a 504: the version does not exist yet.

        The real server's cache, if the kind has one, waits a while for the version and asks the client to try again.
        """
        details: JSON = {"causes": [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]}
        message = f"Timeout: Too large resource version: {asked}, current: {current}"
        if not cached:
            return cls(504, "Timeout", message, details)
        return cls(504, "Timeout", message, details | {"retryAfterSeconds": 1}, {"Retry-After": "1"})


class Unrouted(ApiError):
    """A request that no handler of its resource accepts, because of its method or a media type."""


def details_of(resource: str, name: str) -> JSON:
    """Return the details of a Status about a resource or kind: `leases.coordination.k8s.io` has a group, `pods` has
    none.
    """
    kind, _, group = resource.partition(".")
    details: JSON = {}
    if name:
        details["name"] = name
    if group:
        details["group"] = group
    if kind:
        details["kind"] = kind
    return details


def success(details: Mapping[str, Any] | None = None, code: int | None = None) -> JSON:
    """Return the Status of a successful request."""
    status: JSON = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if details is not None:
        status["details"] = dict(details)
    if code is not None:
        status["code"] = code
    return status
