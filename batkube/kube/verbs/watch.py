"""Watch: from where a stream begins (`Cacher.Watch` of k8s.io/apiserver)."""

from __future__ import annotations

from ..api import Api
from ..forms import Form
from ..resources import ResourceType
from ..status import ApiError
from ..watch import Watcher
from .list import ListOptions, parse_version


def watch(api: Api, resource: ResourceType, options: ListOptions, form: Form) -> Watcher:
    """A watcher that begins where the options say.

    Without a resourceVersion, or at "0", it begins with an ADDED for each object there is; at a version, with
    all changes since. With sendInitialEvents the objects come in any case, and then the bookmark that says so.
    """
    collection = api.store.collection(resource.storage)
    scope = options.scope
    asked = _version(options.resource_version)
    current = api.store.revision
    if options.timeout_seconds is not None and options.timeout_seconds < 0:  # it is over already
        ended = Watcher(collection, options.scope, form, after=current)
        ended.finish()
        return ended
    from_state = asked in (None, 0) if options.initial_events is None else options.initial_events
    if asked is not None and asked > current and options.initial_events:
        raise ApiError.too_large_version(asked, current)
    if from_state:
        versions = collection.select(scope.namespace)
        return Watcher(
            collection,
            scope,
            form,
            after=current,
            initial=(version for version in versions if scope.matches(version, collection)),
            end_mark=current if options.initial_events and options.bookmarks else None,
            bookmarks=options.bookmarks,
        )
    after = asked or current
    if after < collection.forgotten:
        raise ApiError.too_old_version(after, collection.forgotten)
    watcher = Watcher(collection, scope, form, after=after, bookmarks=options.bookmarks)
    watcher.replay(collection.since(after))
    return watcher


def _version(text: str) -> int | None:
    """A watch answers a malformed version with 500, where a list says 400."""
    try:
        return parse_version(text)
    except ApiError as refused:
        raise ApiError.unforeseen(refused.message.removeprefix("invalid resource version: ")) from None
