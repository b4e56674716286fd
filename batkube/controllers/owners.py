"""Owners: the references from objects to the controller that made them; adopting and releasing."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from batkube.kube.apimachinery.label_selectors import matches
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.storage.store import DELETED, Change

if TYPE_CHECKING:
    from batkube.controllers.controller import Controller

JSON = dict[str, Any]


def controller_of(obj: JSON) -> JSON | None:
    """Return the reference to the object's controller."""
    for owner in obj["metadata"].get("ownerReferences") or ():
        if owner.get("controller"):
            found: JSON = owner
            return found
    return None


def is_controlled_by(obj: JSON, owner: JSON) -> bool:
    """Tell whether ``owner`` is the object's controller."""
    reference = controller_of(obj)
    return reference is not None and reference["uid"] == owner["metadata"]["uid"]


def reference_to(owner: JSON) -> JSON:
    """Return the reference to the controller ``owner``, as `metav1.NewControllerRef` makes it."""
    return {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": owner["metadata"]["name"],
        "uid": owner["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def key_of(obj: JSON) -> tuple[str, str]:
    """Return namespace and name."""
    metadata = obj["metadata"]
    return metadata.get("namespace", ""), metadata["name"]


def add_owners(controller: "Controller", resource: str, change: Change) -> JSON | None:
    """Have the owners of what has changed looked at: present, former, and those that may adopt it.

    ``resource``: their kind. Returns the present one.
    """
    obj, before = change.version.obj, change.previous
    owner = controller.cluster.owner(resource, obj)
    for each in (owner, controller.cluster.owner(resource, before) if before is not None else None):
        if each is not None:
            controller.queue.add(key_of(each))
    if controller_of(obj) is None and change.type != DELETED and not obj["metadata"].get("deletionTimestamp"):
        labels = obj["metadata"].get("labels") or {}
        if before is None or controller_of(before) is not None or labels != (before["metadata"].get("labels") or {}):
            for each in controller.cluster.list(resource, obj["metadata"].get("namespace")):
                if matches(each["spec"].get("selector"), labels):
                    controller.queue.add(key_of(each))
    return owner


@contextmanager
def unless_gone() -> Iterator[None]:
    """Pass over what was refused because the object is gone."""
    try:
        yield
    except ApiError as error:
        if error.code != 404:
            raise


def claim(
    controller: "Controller",
    resource: str,
    owner: JSON,
    candidates: Iterable[JSON],
    *,
    finalizers: Sequence[str] = (),
    only: Callable[[JSON], bool] = lambda obj: True,
) -> list[JSON]:
    """Return those of ``candidates`` that are the owner's: adopt what fits its selector, release what does not.

    ``finalizers`` are given to what is adopted, and taken from what is released. This is
    `pkg/controller/controller_ref_manager.go`. Raises ApiError.
    """
    claimed = []
    selector, deleted = owner["spec"].get("selector"), bool(owner["metadata"].get("deletionTimestamp"))
    for obj in candidates:
        fits = matches(selector, obj["metadata"].get("labels") or {}) and only(obj)
        reference = controller_of(obj)
        if reference is not None:
            if reference["uid"] != owner["metadata"]["uid"]:
                continue
            if fits:
                claimed.append(obj)
            elif not deleted:
                _release(controller, resource, owner, obj, finalizers)
        elif fits and not deleted and not obj["metadata"].get("deletionTimestamp"):
            adopted = _adopt(controller, resource, owner, obj, finalizers)
            if adopted is not None:
                claimed.append(adopted)
    return claimed


def _adopt(controller: "Controller", resource: str, owner: JSON, obj: JSON, finalizers: Sequence[str]) -> JSON | None:
    def change(new: JSON) -> None:
        metadata = new["metadata"]
        metadata["ownerReferences"] = [*(metadata.get("ownerReferences") or ()), reference_to(owner)]
        _add_finalizers(metadata, finalizers)

    return _modify(controller, resource, obj, change)


def _release(controller: "Controller", resource: str, owner: JSON, obj: JSON, finalizers: Sequence[str]) -> None:
    def change(new: JSON) -> None:
        metadata = new["metadata"]
        uid = owner["metadata"]["uid"]
        metadata["ownerReferences"] = [each for each in metadata["ownerReferences"] if each["uid"] != uid]
        remove_finalizers(metadata, finalizers)

    try:
        _modify(controller, resource, obj, change)
    except ApiError as error:
        if error.code != 422:
            raise


def _modify(controller: "Controller", resource: str, obj: JSON, change: Callable[[JSON], None]) -> JSON | None:
    """Return the changed object; None if it is gone."""
    with unless_gone():
        return controller.client.modify(resource, *key_of(obj), change)
    return None


def _add_finalizers(metadata: JSON, names: Sequence[str]) -> None:
    present = metadata.get("finalizers") or []
    if missing := [name for name in names if name not in present]:
        metadata["finalizers"] = [*present, *missing]


def waits_for(metadata: JSON, finalizer: str) -> bool:
    """Tell whether an object is being deleted, and waits for this finalizer to go."""
    return "deletionTimestamp" in metadata and finalizer in (metadata.get("finalizers") or ())


def remove_finalizers(metadata: JSON, names: Sequence[str]) -> None:
    """Take finalizers out of an object's metadata."""
    left = [name for name in metadata.get("finalizers") or () if name not in names]
    if left:
        metadata["finalizers"] = left
    else:
        metadata.pop("finalizers", None)
