"""What is special to a kind, seen from the verbs, which are the same for all kinds.

A verb does what every kind needs (names, uids, versions, optimistic locking, finalizers) and asks the kind's
Strategy for the rest, in the order of the real server's registry (`k8s.io/apiserver/pkg/registry/rest`:
BeforeCreate, BeforeUpdate, BeforeDelete). What is no create, read, update or delete of an object (a binding, an
eviction, a scale) is an Action.

`strategies.py` has the table of both: `STRATEGIES[storage]` and `ACTIONS[storage, subresource]`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from . import admission, metadata
from .names import NameRule, dns_subdomain
from .status import FieldError, quote
from .users import ADMIN, User

if TYPE_CHECKING:
    from .identity import Clock
    from .resources import ResourceType

JSON = dict[str, Any]


# What `ResetObjectMetaForStatus` of the real server calls the metadata: newer kinds let a status leave all of it.
USERS_METADATA = ("labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp", "selfLink")


class Reader(Protocol):
    """Read access to all stored objects. What it returns is shared: never change it, copy first.

    `storage` is a resource type's storage key: plural and group, `pods`, `leases.coordination.k8s.io`. A
    cluster-scoped object has the namespace "".
    """

    def get(self, storage: str, namespace: str, name: str) -> JSON | None: ...

    def list(self, storage: str, namespace: str | None = None) -> Iterable[JSON]:
        """The objects in order of namespace and name; of all namespaces if None."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """What a strategy may know of the request it serves."""

    resource: ResourceType
    store: Reader
    clock: Clock
    namespace: str = ""
    name: str = ""  # the name in the path; "" on create
    subresource: str | None = None
    dry_run: bool = False
    field_manager: str = ""
    field_validation: str = "Ignore"  # what becomes of unknown fields: Ignore, Warn, Strict
    patch: bool = False  # the request changes an object, and does not say all of it
    warnings: list[str] = field(default_factory=list)  # sent as Warning headers
    requested: str = ""  # the API version that the client uses; `resource` is the one that is stored
    disabled_admission: frozenset[str] = frozenset(admission.OFF)
    gates: frozenset[str] = frozenset()  # feature gates that are on
    user: User = ADMIN

    @property
    def now(self) -> str:
        """Simulated time, RFC 3339 in whole seconds: 2026-01-01T00:00:00Z."""
        return self.clock.seconds()

    @property
    def now_micro(self) -> str:
        """The same with exactly six decimals."""
        return self.clock.micros()

    def admits(self, plugin: str) -> bool:
        """The admission plugin of that name is at work."""
        return plugin not in self.disabled_admission


class Strategy:
    """The rules of a kind. This class itself serves kinds without any.

    Objects handed in as `obj` or `new` belong to the request and are changed in place; `old` is the stored
    object and must never be changed. Every method may raise ApiError, which is then the answer.
    """

    # Fields of field selectors beyond those of the metadata.
    selectable_fields: frozenset[str] = frozenset()
    # Fields of the metadata that can be selected by, where they are not both of these.
    selectable_metadata: tuple[str, ...] = ("metadata.name", "metadata.namespace")
    # What the kind's names may be.
    name_rule: NameRule = staticmethod(dns_subdomain)
    # generateName has to be a name as well, not only what is made of it.
    validates_prefix: bool = True
    # Its metadata is judged by the rules for objects of whatever kind, which know nothing of built-in finalizers.
    generic_metadata: bool = False
    # What is changed is judged by the rules for new objects as well.
    revalidates_metadata: bool = False
    # PUT of an object that does not exist creates it (leases, events, endpoints, services, roles).
    create_on_update: bool = False
    # An object without a name is called after its uid (limit ranges).
    names_itself: bool = False
    # PUT without a resourceVersion is taken (`AllowUnconditionalUpdate`).
    unconditional_update: bool = True
    # DELETE answers the object that is gone, not a Status (`ReturnDeletedObject`: pods, services, classes).
    answers_deleted_object: bool = False
    # The kind has a spec whose changes raise metadata.generation; it begins at 1.
    counts_generation: bool = True
    # Metadata that a write to `/status` leaves as it was: most kinds name none.
    kept_by_status: tuple[str, ...] = ()
    # Paths (`spec.priority`) of what admission or the kind's rules fill in: nobody owns it who did not send it.
    set_by_admission: frozenset[str] = frozenset()
    # What defines the kind is being deleted: no object of it is made any more.
    terminating: bool = False
    # Dependents are orphaned where the client asks for nothing (jobs, replication controllers).
    orphans_by_default: bool = False
    # What a client is warned of that leaves it at that.
    orphan_warning: str = ""
    # The real server has a watch cache of the kind, and in it an index by that field.
    cached: bool = True
    indexed_field: str = ""
    # The real server marks an object as terminating before it deletes it, in a write of its own.
    deleted_in_two_steps: bool = False
    # What is read of `/status` can be a table.
    status_tables: bool = True

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        """Fill in defaults and drop what a client may not set. Name, uid and creationTimestamp are set already."""
        if "status" in ctx.resource.subresources:
            obj.pop("status", None)
        if self.counts_generation and "spec" in obj:
            obj["metadata"]["generation"] = 1

    def validate_create(self, obj: JSON, ctx: Context) -> list[FieldError]:
        """What is wrong with the prepared object; the answer is a 422 with all of it."""
        return self.validate_metadata(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        """Main resource: what a client may not change becomes as it was, status above all. `/status`: only the
        status (and metadata) is taken. System fields of the metadata are already as in `old`.
        """
        if ctx.subresource == "status":
            keep_all_but_status(new, old, self.kept_by_status)
            return
        if "status" in ctx.resource.subresources:
            keep(new, old, "status")
        if self.counts_generation and new.get("spec") != old.get("spec"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> list[FieldError]:
        """As validate_create. `ctx.subresource` says which way the object was written."""
        errors = metadata.validate_changed(new["metadata"], old["metadata"], generic=self.generic_metadata)
        if self.revalidates_metadata and ctx.subresource is None and new["metadata"] != old["metadata"]:
            errors += self.validate_metadata(new)
        return errors

    def validate_metadata(self, obj: JSON) -> list[FieldError]:
        """What is wrong with the metadata of an object, as if it were new."""
        return metadata.validate_new(
            obj["metadata"], self.name_rule, generic=self.generic_metadata, with_prefix=self.validates_prefix
        )

    def check_delete(self, obj: JSON, ctx: Context) -> None:
        """Raise ApiError where the object may not be deleted."""

    def finalizers_on_delete(self, obj: JSON) -> list[str]:
        """Finalizers that an object gets when it is deleted: somebody has to clean up before it is gone."""
        return []

    def propagation(self, obj: JSON, asked: str) -> str:
        """What of the propagation policy of a deletion the object's finalizers are to say."""
        return asked

    def holds(self, obj: JSON) -> bool:
        """More than finalizers of the metadata keeps a deleted object: it stays, marked without a grace period,
        until that is gone (the finalizers in the spec of a namespace).
        """
        return False

    def prepare_delete(self, new: JSON, old: JSON, ctx: Context) -> None:
        """The object is about to be marked as being deleted (deletionTimestamp is set): change what goes with
        it.
        """

    def grace_period(self, obj: JSON, requested: int | None, ctx: Context) -> int | None:
        """Seconds from the mark to the end. None: the kind knows no graceful deletion, the object goes in one
        write.
        """
        return None

    def deprecation(self, version: str) -> str:
        """What every request for this version of the kind is warned of, "" if nothing."""
        return ""

    def selectable_field(self, name: str, api_version: str) -> str | None:
        """What `field_labels` calls a field of that name in a field selector; None: the kind has no such."""
        return name if name in self.selectable_fields else None

    def as_stored(self, resource: ResourceType, obj: JSON) -> tuple[ResourceType, JSON]:
        """The object, complete and checked, in the version in which it is stored, and that version."""
        return resource, obj

    def unselectable(self, name: str) -> str:
        """What is said of a field in a field selector that the kind does not offer."""
        if self.selectable_fields:
            return f"field label not supported: {name}"
        return f'{quote(name)} is not a known field selector: only "metadata.name", "metadata.namespace"'

    def field_labels(self, obj: JSON) -> dict[str, str] | None:
        """The values of `selectable_fields`, absent ones as "". None: the kind has none."""
        return None


class Guarded(Strategy):
    """A kind without rules of its own, but that PUT needs the resourceVersion of what it replaces."""

    unconditional_update = False


class GuardedGeneric(Guarded):
    """The same, and nothing is known of finalizers."""

    generic_metadata = True
    revalidates_metadata = True


def keep(new: JSON, old: JSON, key: str) -> None:
    """`new[key]` as it was in `old`, absent if it was absent."""
    if key in old:
        new[key] = old[key]
    else:
        new.pop(key, None)


def keep_all_but_status(new: JSON, old: JSON, metadata: Iterable[str]) -> None:
    """What a write to `/status` may change: the status, and of the metadata all but these and system fields."""
    for key in [*new, *old]:
        if key not in ("status", "metadata", "apiVersion", "kind"):
            keep(new, old, key)
    for key in metadata:
        keep(new["metadata"], old["metadata"], key)


class Access(Protocol):
    """Who may come in, and do what: see `authentication.Authentication`."""

    token_key: bytes

    def user_of_token(self, token: bytes) -> User | None: ...

    def allows(self, user: str, groups: Collection[str], verb: str, path: str | None) -> bool: ...


@dataclass(frozen=True, slots=True)
class ActionRequest:
    """A request for a subresource that is an action."""

    verb: str  # create, get, update, patch, delete
    ctx: Context
    body: JSON | None  # decoded; of a patch see `change`
    query: Mapping[str, str]
    # Reads the object (404 if absent), hands a copy to the function, which changes it in place, and stores the
    # result: a new
    # version, unless nothing changed or it is a dry run. Returns the stored object.
    update: Callable[[Callable[[JSON], None]], JSON]
    # The same without the rules for what clients may change (prepare_update, validate_update): for what the API
    # server itself writes, as in a binding.
    write: Callable[[Callable[[JSON], None]], JSON]
    # The same for another object of the namespace, given its storage key and name (the budget of a pod).
    write_other: Callable[[str, str, Callable[[JSON], None]], JSON]
    # Deletes the object by the rules of DELETE: the body is a DeleteOptions.
    delete: Callable[[JSON], JSON]
    # Asks those who have a say in bindings (an exclusive host that is taken): raises ApiError where one refuses
    # the pod this node.
    admit_binding: Callable[[JSON, str], None]
    user: User  # who asks
    access: Access
    upgrades: bool = False  # asks for another protocol on its connection
    # The body of a patch, applied to the action's own object (a Scale).
    change: Callable[[JSON], JSON] | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What an action answers: a JSON object, or plain text."""

    code: int
    body: JSON | str


Action = Callable[[ActionRequest], Answer]
