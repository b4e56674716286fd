"""Delete: by grace and finalizers, in one write or two (`rest.BeforeDelete`, `registry.Store.Delete` of
k8s.io/apiserver).

An object that waits neither for a grace period nor for a finalizer is gone at once. Pods are always marked first
(MODIFIED with deletionTimestamp) and then removed: by this verb if their grace is 0, or else by the kubelet, or whoever
plays its part.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..apimachinery.status import ApiError
from ..apimachinery.times import read_second, write_second
from ..kinds.strategy import Context, Strategy
from ..schema.resources import ResourceType
from ..storage.store import Version
from .api import Api
from .list import ListOptions, Page, list_page
from .request_options import PLAIN_DELETE, DeleteOptions
from .update import copy_of
from .write import Write

JSON = dict[str, Any]

ORPHAN, FOREGROUND = "orphan", "foregroundDeletion"


def delete(write: Write, options: DeleteOptions = PLAIN_DELETE, of_collection: bool = False) -> tuple[Version, bool]:
    """Delete an object, alone or with the others `of_collection`. Return its last state, and True if it is gone
    already.
    """
    api, ctx, strategy = write.api, write.context, write.strategy
    current = api.stored(write.resource, ctx.namespace, ctx.name)
    stored_as = current.resource
    _check_preconditions(current, options, strategy.deleted_in_two_steps and not of_collection)
    if not of_collection:
        strategy.check_delete(current.obj, ctx)
    marked = _marked(current, strategy, options, ctx)
    if marked is None:
        if options.dry_run:
            return current, True
        return _remove(api, current), True
    if marked is current.obj:
        return current, False
    ends = not (
        marked["metadata"].get("finalizers")
        or marked["metadata"].get("deletionGracePeriodSeconds")
        or strategy.holds(marked)
    )
    if options.dry_run:
        return Version(stored_as, current.key, marked, current.revision), ends
    version = api.store.put(stored_as, marked, current.writer)
    if ends:
        return _remove(api, version), True
    return version, False


def delete_collection(
    api: Api, resource: ResourceType, options: ListOptions, how: DeleteOptions = PLAIN_DELETE
) -> Page:
    """Delete the objects that a list with these options returns. Return that list, as it was before."""
    if options.resource_version not in ("", "0") and not options.version_match:
        options = replace(options, version_match="Exact")  # it is listed in pages, whose version is exact
    page = list_page(api, resource, options)
    for version in page.versions:
        if api.store.version(resource.storage, *version.key) is not None:
            delete(Write.of(api, resource, *version.key, options=how.as_write), how, of_collection=True)
    return page


def _remove(api: Api, version: Version) -> Version:
    namespace, name = version.key
    api.identities.ended(version.resource.storage, namespace, name)
    return api.store.remove(version.resource, version.key)


def _check_preconditions(current: Version, options: DeleteOptions, two_steps: bool) -> None:
    """Raise 409 if the object is not the one that is meant. The first of `two_steps` has the message of an update."""
    resource = current.resource
    metadata = current.obj["metadata"]
    wanted = (
        ("UID", options.uid, metadata["uid"], "deleted and then recreated"),
        ("ResourceVersion", options.resource_version, metadata["resourceVersion"], "modified"),
    )
    for what, asked, found, happened in wanted:
        if asked is None or asked == found:
            continue
        if two_steps:
            why = f"Precondition failed: {what} in precondition: {asked}, {what} in object meta: {found}"
            raise ApiError.conflict(resource.qualified, current.key[1], why)
        why = f"the {what} in the precondition ({asked}) does not match the {what} in record ({found}). "
        why += f"The object might have been {happened}"
        raise ApiError.conflict(resource.qualified_kind, current.key[1], why)


def _marked(current: Version, strategy: Strategy, options: DeleteOptions, ctx: Context) -> JSON | None:
    """Return the object marked as being deleted.

    Return None if there is nothing to wait for. Return the stored object itself if it is marked already and nothing
    changes.
    """
    old = current.obj
    requested = options.grace_seconds
    if requested is not None and requested < 0:
        requested = 1
    metadata = old["metadata"]
    if metadata.get("deletionTimestamp") is not None:
        left = metadata.get("deletionGracePeriodSeconds") or 0
        if left > 0:
            if requested is None or requested >= left:
                return old
            return _shortened(current, left, requested, ctx)
        grace = None
    else:
        grace = strategy.grace_period(old, requested, ctx)
    propagation = strategy.propagation(old, options.propagation)
    finalizers = _finalizers(metadata.get("finalizers") or [], strategy, propagation)
    if metadata.get("deletionTimestamp") is None:
        finalizers += [name for name in strategy.finalizers_on_delete(old) if name not in finalizers]
    held = strategy.holds(old)
    if grace is None and not finalizers and not held:
        return None
    marked_before = metadata.get("deletionTimestamp") is not None
    if grace is None and marked_before and finalizers == (metadata.get("finalizers") or []):
        return old
    new = copy_of(old, current)
    if finalizers:
        new["metadata"]["finalizers"] = finalizers
    else:
        new["metadata"].pop("finalizers", None)
    if held:
        new["metadata"].setdefault("deletionTimestamp", ctx.now)
    elif not marked_before:
        _mark(new["metadata"], grace or 0, _later(ctx.now, grace or 0))
    strategy.prepare_delete(new, old, ctx)
    return new


def _mark(metadata: JSON, grace: int, when: str) -> None:
    metadata["deletionTimestamp"] = when
    metadata["deletionGracePeriodSeconds"] = grace
    if metadata.get("generation"):
        metadata["generation"] += 1


def _shortened(current: Version, left: int, grace: int, ctx: Context) -> JSON:
    """Return a marked object with a shorter grace period: its end moves nearer, but not into the past."""
    new = copy_of(current.obj, current)
    metadata = new["metadata"]
    end = _later(metadata["deletionTimestamp"], grace - left)
    if end < ctx.now:
        end, grace = ctx.now, min(grace, 1)
    metadata["deletionTimestamp"] = end
    metadata["deletionGracePeriodSeconds"] = grace
    return new


def _finalizers(present: list[str], strategy: Strategy, propagation: str) -> list[str]:
    """Return the finalizers with the one that the propagation policy wants: `orphan`, `foregroundDeletion`
    or neither.
    """
    wanted = {"Orphan": ORPHAN, "Foreground": FOREGROUND, "Background": ""}.get(propagation)
    if wanted is None:
        kept = next((name for name in present if name in (ORPHAN, FOREGROUND)), "")
        wanted = kept or (ORPHAN if strategy.orphans_by_default else "")
    others = [name for name in present if name == wanted or name not in (ORPHAN, FOREGROUND)]
    return [*others, wanted] if wanted and wanted not in others else others


def _later(when: str, seconds: int) -> str:
    return f"{write_second(read_second(when) + seconds)}Z"
