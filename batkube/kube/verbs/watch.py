"""Watch: the start of a stream (`Cacher.Watch` of k8s.io/apiserver)."""

from __future__ import annotations

from ..apimachinery.status import ApiError
from ..schema.resources import ResourceType
from ..storage.form import Form
from ..storage.watch import Watcher
from .api import Api
from .list import ListOptions, parse_version


def watch(api: Api, resource: ResourceType, options: ListOptions, form: Form) -> Watcher:
    """Return a watcher that begins where the options say.

    Without a resourceVersion, or at "0", it begins with an ADDED for each present object; at a version, with all
    changes since. With sendInitialEvents the objects come in any case, followed by the bookmark that ends them.

    Raise ApiError if the options make no sense. A version that is forgotten, or that does not exist yet and is asked
    for with the objects, is an error in the stream, as its only event (`newErrWatcher`): clients recover from that
    alone.
    """
    collection = api.store.collection(resource.storage)
    scope = options.scope
    asked = _version(options.resource_version)
    current = api.store.revision
    if options.timeout_seconds is not None and options.timeout_seconds < 0:  # it is over already
        ended = Watcher(collection, scope, form, after=current)
        ended.finish()
        return ended
    if (error := _unanswerable(api, resource, asked, options)) is not None:
        failed = Watcher(collection, scope, form, after=current)
        failed.fail(error)
        return failed
    from_state = asked in (None, 0) if options.initial_events is None else options.initial_events
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
    watcher = Watcher(collection, scope, form, after=after, bookmarks=options.bookmarks)
    watcher.replay(collection.since(after))
    return watcher


def _unanswerable(api: Api, resource: ResourceType, asked: int | None, options: ListOptions) -> ApiError | None:
    """Return why no watch can begin at that version: it does not exist yet, or the changes since are forgotten."""
    if options.initial_events:
        current = api.store.revision
        return ApiError.too_large_version(asked, current) if asked is not None and asked > current else None
    collection = api.store.collection(resource.storage)
    oldest = max(collection.forgotten, collection.begun)
    if not asked or asked >= oldest:
        return None
    if not api.strategy(resource).cached:  # `interpretWatchError` of its storage
        return ApiError.expired("The resourceVersion for the provided watch is too old.")
    return ApiError.too_old_version(asked, oldest)


def _version(text: str) -> int | None:
    """Return the version. A watch answers a malformed version with 500, where a list answers 400."""
    try:
        return parse_version(text)
    except ApiError as refused:
        raise ApiError.unforeseen(refused.message.removeprefix("invalid resource version: ")) from None
