"""List: a collection at one revision, whole or in pages."""

from __future__ import annotations

import base64
from dataclasses import dataclass, replace
from posixpath import normpath
from typing import Any

import orjson

from ..apimachinery.go_base64 import corrupt_url_byte
from ..apimachinery.status import ApiError, FieldError, quote
from ..codec.go_json import problem
from ..schema.resources import ResourceType
from ..storage.selectors import FieldSelector, FieldTerm, parse_field_selector, parse_label_selector
from ..storage.store import Collection, Snapshot, Version, path_of
from ..storage.watch import Scope
from .api import Api
from .request_options import Query

JSON = dict[str, Any]
Versions = Snapshot | list[Version]


@dataclass(frozen=True, slots=True)
class ListOptions:
    """The options of a list or of the start of a watch, read from the query."""

    scope: Scope
    limit: int = 0
    continue_token: str = ""
    resource_version: str = ""
    version_match: str = ""
    watch: bool = False
    bookmarks: bool = False
    initial_events: bool | None = None
    timeout_seconds: int | None = None

    @classmethod
    def of(cls, api: Api, resource: ResourceType, namespace: str, query: Query) -> ListOptions:
        """Return the options, checked in the real server's order.

        The query of a watch by its old path need not say that it is a watch; it is checked as a list then.
        """
        timeout, limit = query.integer("timeoutSeconds"), query.integer("limit")
        labels = parse_label_selector(query.get("labelSelector", ""))
        fields = parse_field_selector(query.get("fieldSelector", ""))
        options = cls(
            scope=Scope(namespace, labels, fields),
            limit=limit or 0,
            continue_token=query.get("continue", ""),
            resource_version=query.get("resourceVersion", ""),
            version_match=query.get("resourceVersionMatch", ""),
            watch=query.flag("watch"),
            bookmarks=query.flag("allowWatchBookmarks"),
            initial_events=query.flag("sendInitialEvents") if "sendInitialEvents" in query else None,
            timeout_seconds=timeout,
        )._defaulted()
        errors = options._watch_errors() if options.watch else options._list_errors()
        if errors:
            raise ApiError.invalid("ListOptions.meta.k8s.io", "", errors)
        return replace(options, scope=Scope(namespace, labels, known_fields(api, resource, fields)))

    def _defaulted(self) -> ListOptions:
        """Return the options with defaults: a watch of the present objects begins with them
        (`SetListOptionsDefaults`).
        """
        if not self.watch or self.initial_events is not None or self.version_match:
            return self
        if self.resource_version not in ("", "0"):
            return self
        return replace(self, initial_events=True, version_match="NotOlderThan")

    @classmethod
    def select(cls, api: Api, resource: ResourceType, namespace: str, labels: str, fields: str) -> ListOptions:
        """Return the options of a whole list with these selectors."""
        terms = known_fields(api, resource, parse_field_selector(fields))
        return cls(scope=Scope(namespace, parse_label_selector(labels), terms))

    def of_object(self, name: str) -> ListOptions:
        """Return the same options for the one object of that name. Raise 400 if the field selector is about others."""
        fields = self.scope.fields
        if not fields.terms:
            fields = FieldSelector((FieldTerm("metadata.name", name, True),))
        elif fields.exact("metadata.name") != name:
            raise ApiError.bad_request("fieldSelector metadata.name doesn't match requested name")
        return replace(self, scope=Scope(self.scope.namespace, self.scope.labels, fields))

    def _list_errors(self) -> list[FieldError]:
        errors = []
        match, field = self.version_match, "resourceVersionMatch"
        if match:
            if not self.resource_version:
                why = "resourceVersionMatch is forbidden unless resourceVersion is provided"
                errors.append(FieldError.forbidden(field, why))
            if self.continue_token:
                errors.append(
                    FieldError.forbidden(field, "resourceVersionMatch is forbidden when continue is provided")
                )
            if match not in ("Exact", "NotOlderThan"):
                errors.append(FieldError.not_supported(field, match, ("Exact", "NotOlderThan", "")))
            if match == "Exact" and self.resource_version == "0":
                why = 'resourceVersionMatch "exact" is forbidden for resourceVersion "0"'
                errors.append(FieldError.forbidden(field, why))
        if self.initial_events is not None:
            errors.append(FieldError.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
        return errors

    def _watch_errors(self) -> list[FieldError]:
        errors = []
        match, field = self.version_match, "resourceVersionMatch"
        if self.initial_events is not None and match != "NotOlderThan":
            why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
            errors.append(FieldError.forbidden(field, why))
        if match and self.initial_events is None:
            why = "resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided"
            errors.append(FieldError.forbidden(field, why))
        if match and match != "NotOlderThan":
            errors.append(FieldError.not_supported(field, match, ("NotOlderThan",)))
        if match and self.continue_token:
            errors.append(FieldError.forbidden(field, "resourceVersionMatch is forbidden when continue is provided"))
        return errors


@dataclass(frozen=True, slots=True)
class Page:
    """The versions of one answer, their revision, and the token for the next page."""

    versions: list[Version]
    revision: int
    continue_token: str = ""
    remaining: int | None = None


def known_fields(api: Api, resource: ResourceType, selector: FieldSelector) -> FieldSelector:
    """Return the selector. Raise 400 if it names a field that the kind does not offer."""
    if not selector.terms:
        return selector
    strategy = api.strategy(resource)
    terms = []
    for term in selector.terms:
        known = term.field
        if known not in strategy.selectable_metadata:
            found = strategy.selectable_field(known, resource.api_version)
            if found is None:
                raise ApiError.bad_request(strategy.unselectable(known))
            known = found
        terms.append(FieldTerm(known, term.value, term.equal))
    return FieldSelector(tuple(terms))


def list_page(api: Api, resource: ResourceType, options: ListOptions) -> Page:
    collection = api.store.collection(resource.storage)
    if options.continue_token:
        return _next_page(api, collection, options)
    asked = parse_version(options.resource_version)
    current = api.store.revision
    if asked is not None and asked > current:
        raise ApiError.too_large_version(asked, current, api.strategy(resource).cached)
    exact = options.version_match == "Exact" or (
        options.limit > 0 and asked not in (None, 0) and options.version_match != "NotOlderThan"
    )
    if exact and asked is not None:
        return _page(collection, _as_of(collection, asked, options.scope), asked, options.limit, options.scope)
    limit = 0 if asked == 0 else options.limit
    versions = _selected(collection, current, options.scope)
    if limit > 0:
        versions = _indexed(collection, api.strategy(resource).indexed_field, versions, options.scope)
    return _page(collection, versions, current, limit, options.scope)


def parse_version(text: str, *, foreseen: bool = True) -> int | None:
    """Return a resourceVersion of a query; None if there is none.

    An impossible version is a bad request. It is an unforeseen error (500) if not `foreseen`: one object was asked of
    the real server's cache.
    """
    if not text:
        return None
    why = ""
    if not (text.isascii() and text.isdigit()):
        why = "invalid syntax"
    elif int(text) >= 1 << 64:
        why = "value out of range"
    if why:
        error = f"resourceVersion: Invalid value: {quote(text)}: strconv.ParseUint: parsing {quote(text)}: {why}"
        raise ApiError.bad_request(f"invalid resource version: {error}") if foreseen else ApiError.unforeseen(error)
    return int(text)


def check_version(api: Api, resource: ResourceType, query: Query) -> None:
    """Raise ApiError where one object is asked for at a resourceVersion that cannot be, or is not yet."""
    text = query.get("resourceVersion", "")
    if not text:
        return
    cached = api.strategy(resource).cached
    asked = parse_version(text, foreseen=not cached)
    if asked is not None and asked > api.store.revision:
        raise ApiError.too_large_version(asked, api.store.revision, cached)


def _selected(collection: Collection, current: int, scope: Scope) -> Versions:
    name = scope.fields.exact("metadata.name")
    if name is not None and scope.namespace:
        found = collection.versions.get(path_of(scope.namespace, name))
        return [found] if found is not None else []
    return collection.as_of(current, scope.namespace)


def _indexed(collection: Collection, field: str, versions: Versions, scope: Scope) -> Versions:
    """Return the versions from which a first page is chosen.

    The watch cache has an index by that field (`MatcherIndex`). With it a page does not count objects whose field has
    another value.
    """
    wanted = scope.fields.exact(field) if field else None
    if wanted is None:
        return versions
    return [each for each in versions if each.fields(collection.field_labels).get(field, "") == wanted]


def _as_of(collection: Collection, revision: int, scope: Scope) -> Versions:
    if revision < collection.forgotten:
        raise ApiError.expired("The resourceVersion for the provided list is too old.")
    return collection.as_of(revision, scope.namespace)


def _page(collection: Collection, versions: Versions, revision: int, limit: int, scope: Scope) -> Page:
    """Return those of `versions` that match the scope, at most `limit` of them (0: all).

    If versions are left there is a next page, even if none of them matches the scope.
    """
    if not limit or limit < 0:
        if scope.filtered:
            return Page([version for version in versions if scope.matches(version, collection)], revision)
        return Page(list(versions), revision)
    taken: list[Version] = []
    for index, version in enumerate(versions):
        if len(taken) == limit:
            remaining = None if scope.filtered else len(versions) - index
            return Page(taken, revision, _token(revision, path_of(*taken[-1].key)), remaining)
        if scope.matches(version, collection):
            taken.append(version)
    return Page(taken, revision)


def _next_page(api: Api, collection: Collection, options: ListOptions) -> Page:
    revision, after = _read_token(options.continue_token)
    if options.resource_version not in ("", "0"):
        raise ApiError.bad_request("specifying resource version is not allowed when using continue")
    if revision == _NEWEST:
        revision = api.store.revision
    if revision > api.store.revision:
        raise ApiError.too_large_version(revision, api.store.revision)
    if revision < collection.forgotten:
        raise ApiError.expired(
            "The provided continue parameter is too old to display a consistent list result. You can start a new list "
            "without the continue parameter."
        )
    versions = collection.as_of(revision, options.scope.namespace, after)
    limit = 0 if options.resource_version == "0" else options.limit
    return _page(collection, versions, revision, limit, options.scope)


def _token(revision: int, path: str) -> str:
    token = {"v": "meta.k8s.io/v1", "rv": revision, "start": f"{path}\0"}
    return base64.urlsafe_b64encode(orjson.dumps(token)).decode().rstrip("=")


_NEWEST = -1
"""The revision in a token that continues in the present versions, whatever has changed since the last page."""


def _read_token(token: str) -> tuple[int, str]:
    if (wrong := corrupt_url_byte(token)) is not None:
        raise _bad_token(f"illegal base64 data at input byte {wrong}")
    letters = token.replace("\r", "").replace("\n", "")
    content = base64.urlsafe_b64decode(letters + "=" * (-len(letters) % 4))
    if why := problem(content):
        raise _bad_token(why)
    data = orjson.loads(content)
    if not isinstance(data, dict) or data.get("v") != "meta.k8s.io/v1":
        raise _bad_token("server does not recognize this encoded version ")
    revision, start = data.get("rv"), data.get("start")
    if not isinstance(revision, int) or not isinstance(start, str):
        raise _bad_token("incorrect encoded start")
    if normpath(f"/{start}") != f"/{start}":
        raise _bad_token(start)
    return revision, start.removesuffix("\0")


def _bad_token(why: str) -> ApiError:
    return ApiError.bad_request(f"invalid continue token: continue key is not valid: {why}")
