"""The garbage collector: what is owned goes with its owners (``pkg/controller/garbagecollector``).

An owner that is deleted in the background is gone at once, and then what it owned; in the foreground it waits for what
blocks it (finalizer `foregroundDeletion`); orphaned, it lets go of what it owns first (finalizer `orphan`).

An owner counts as gone only if it was there: objects that are given to a cluster without their owners stay.
"""

from typing import Any, NamedTuple

from batkube.controllers.controller import ALL, Change, Controller
from batkube.controllers.flags import Flags
from batkube.controllers.owners import remove_finalizers, unless_gone, waits_for
from batkube.kube.storage.store import DELETED

JSON = dict[str, Any]

FOREGROUND, ORPHAN = "foregroundDeletion", "orphan"
_NEVER = ("events", "events.events.k8s.io")
"""The kinds that are never collected: there are many of them, and they go by themselves."""


class Item(NamedTuple):
    """An object, as the queue has it. ``orphans``: it is to let go of what it owns."""

    resource: str
    namespace: str
    name: str
    orphans: bool = False


class GarbageCollector(Controller):
    """Follows all objects that own or are owned."""

    name = "generic-garbage-collector"
    wakes = (ALL,)
    follows = (ALL,)

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._owned: dict[str, dict[Item, None]] = {}
        """The objects that an owner has, by its uid."""
        self._seen: dict[str, Item] = {}
        """The owners that were there while they had something, by uid."""

    @classmethod
    def wanted(cls, obj: JSON, flags: Flags) -> bool:
        metadata = obj["metadata"]
        return "ownerReferences" in metadata or waits_for(metadata, FOREGROUND) or waits_for(metadata, ORPHAN)

    def changed(self, change: Change) -> None:
        resource, key = change.resource.storage, change.version.key
        if resource in _NEVER:
            return
        item = Item(resource, *key)
        metadata = change.version.obj["metadata"]
        before = change.before.obj["metadata"] if change.before is not None else None
        references = metadata.get("ownerReferences") or ()
        old_references = (before or {}).get("ownerReferences") or ()
        uid = metadata["uid"]
        if uid in self._owned:
            self._seen[uid] = item
        if change.type == DELETED:
            self._left(item, uid, references)
            return
        if before is None or references != old_references:
            self._owners_changed(item, references, old_references if before is not None else ())
        if waits_for(metadata, ORPHAN) and not (before and waits_for(before, ORPHAN)):
            self.queue.add(item._replace(orphans=True))
        elif waits_for(metadata, FOREGROUND) and not (before and waits_for(before, FOREGROUND)):
            for owned in self._owned.get(uid, ()):
                self.queue.add(owned)
            self.queue.add(item)

    def _left(self, item: Item, uid: str, references: "tuple[JSON, ...] | list[JSON]") -> None:
        """Look at what the object owned, and at owners that wait for it."""
        for owned in self._owned.pop(uid, ()):
            self.queue.add(owned)
        for each in references:
            self._forget(item, each["uid"])
            owner = self._seen.get(each["uid"])
            if owner is not None:
                self.queue.add(owner)

    def _owners_changed(self, item: Item, now: Any, before: Any) -> None:
        left = {each["uid"] for each in now}
        for each in before:
            if each["uid"] not in left:
                self._forget(item, each["uid"])
            if each.get("blockOwnerDeletion") and (owner := self._seen.get(each["uid"])) is not None:
                self.queue.add(owner)
        for each in now:
            self._owned.setdefault(each["uid"], {})[item] = None
            if each["uid"] not in self._seen:
                found = self._owner(item, each)
                if found is not None:
                    self._seen[each["uid"]] = found[0]
        if now:
            self.queue.add(item)

    def _forget(self, item: Item, owner: str) -> None:
        owned = self._owned.get(owner)
        if owned is not None:
            owned.pop(item, None)
            if not owned:
                del self._owned[owner]

    def _owner(self, item: Item, reference: JSON) -> tuple[Item, JSON] | None:
        """Return the owner that a reference of the object means; None if it is not there."""
        kind = self.cluster.server.registry.by_kind(reference["apiVersion"], reference["kind"])
        if kind is None:
            return None
        where = Item(kind.storage, item.namespace if kind.namespaced else "", reference["name"])
        found = self.cluster.meant(kind.storage, where.namespace, reference)
        return (where, found) if found is not None else None

    def sync(self, key: Item) -> None:
        obj = self.cluster.get(*key[:3])
        if obj is None:
            return
        metadata = obj["metadata"]
        if key.orphans:
            self._orphan(key, metadata)
        elif waits_for(metadata, FOREGROUND):
            self._delete_dependents(key, metadata["uid"])
        elif not metadata.get("deletionTimestamp") and metadata.get("ownerReferences"):
            self._attempt(key, metadata)

    def _orphan(self, item: Item, metadata: JSON) -> None:
        """Let go of all that the object owns, and then of the object itself."""
        if not waits_for(metadata, ORPHAN):
            return
        for owned in list(self._owned.get(metadata["uid"], ())):
            self._drop_references(owned, {metadata["uid"]})
        self._release(item, ORPHAN)

    def _delete_dependents(self, item: Item, uid: str) -> None:
        """Let the object go if nothing that it owns holds it back; else look at what does."""
        blocking = [owned for owned in self._owned.get(uid, ()) if self._blocks(owned, uid)]
        if not blocking:
            self._release(item, FOREGROUND)
        for owned in blocking:
            found = self.cluster.get(*owned[:3])
            if found is not None and not waits_for(found["metadata"], FOREGROUND):
                self.queue.add(owned)

    def _blocks(self, owned: Item, uid: str) -> bool:
        found = self.cluster.get(*owned[:3])
        references = (found or {"metadata": {}})["metadata"].get("ownerReferences") or ()
        return any(each["uid"] == uid and each.get("blockOwnerDeletion") for each in references)

    def _attempt(self, item: Item, metadata: JSON) -> None:
        """Delete the object if no owner keeps it; else take out the references to owners that do not."""
        solid, gone, waiting = False, set[str](), set[str]()
        for each in metadata["ownerReferences"]:
            owner = self._owner(item, each)
            if owner is not None:
                if waits_for(owner[1]["metadata"], FOREGROUND):
                    waiting.add(each["uid"])
                else:
                    solid = True
            elif each["uid"] in self._seen:
                gone.add(each["uid"])
            else:
                solid = True  # nobody knows where it has gone
        if solid:
            if gone or waiting:
                self._drop_references(item, gone | waiting)
            return
        if waiting and self._owned.get(metadata["uid"]):
            self._unblock(item, metadata["uid"])
            self._delete(item, "Foreground")
            return
        finalizers = metadata.get("finalizers") or ()
        policy = "Orphan" if ORPHAN in finalizers else "Foreground" if FOREGROUND in finalizers else "Background"
        self._delete(item, policy)

    def _delete(self, item: Item, policy: str) -> None:
        found = self.cluster.get(*item[:3])
        if found is None:
            return
        metadata = found["metadata"]
        with unless_gone():
            self.client.delete(
                *item[:3], uid=metadata["uid"], resource_version=metadata["resourceVersion"], propagation=policy
            )

    def _unblock(self, item: Item, uid: str) -> None:
        """Let the object hold back no owner, where one that it owns waits as well: they might wait for each other."""
        dependents = (self.cluster.get(*owned[:3]) for owned in self._owned.get(uid, ()))
        if not any(each is not None and waits_for(each["metadata"], FOREGROUND) for each in dependents):
            return

        def change(new: JSON) -> None:
            for each in new["metadata"]["ownerReferences"]:
                if each.get("blockOwnerDeletion"):
                    each["blockOwnerDeletion"] = False

        self._modify(item, change)

    def _drop_references(self, item: Item, uids: set[str]) -> None:
        def change(new: JSON) -> None:
            references = new["metadata"].get("ownerReferences") or ()
            new["metadata"]["ownerReferences"] = [each for each in references if each["uid"] not in uids]

        self._modify(item, change)

    def _release(self, item: Item, finalizer: str) -> None:
        self._modify(item, lambda new: remove_finalizers(new["metadata"], [finalizer]))

    def _modify(self, item: Item, change: Any) -> None:
        with unless_gone():
            self.client.modify(*item[:3], change)
