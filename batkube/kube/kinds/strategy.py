"""The part of a request that depends on the kind of the object. The verbs are the same for all kinds.

A verb does what every kind needs (names, uids, versions, optimistic locking, finalizers). It asks the kind's Strategy
for the rest, in the order of the real server's registry (`k8s.io/apiserver/pkg/registry/rest`: BeforeCreate,
BeforeUpdate, BeforeDelete). An operation that does not create, read, update or delete an object (a binding, an
eviction, a scale) is an Action (`action.py`).

`/status` has methods of its own in the Strategy; another subresource that is a part of the object has a Strategy of its
own where its rules differ (`Strategy.parts`).

`strategies.py` has the table of both: `STRATEGIES[storage]` and `ACTIONS[storage, subresource]`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from ..apimachinery import metadata
from ..apimachinery.names import NameRule, dns_subdomain
from ..apimachinery.status import FieldError, quote
from ..apimachinery.users import ADMIN, User
from ..apply.types import UNTYPED, Type, built_in
from ..schema.api_types import type_of

if TYPE_CHECKING:
    from ..schema.resources import ResourceType
    from ..storage.identity import Clock

JSON = dict[str, Any]


# What `ResetObjectMetaForStatus` of the real server calls the metadata: newer kinds let a status leave all of it.
USERS_METADATA = ("labels", "annotations", "finalizers", "ownerReferences", "deletionTimestamp", "selfLink")


class Reader(Protocol):
    """The read access to all stored objects. The returned objects are shared: never change them, copy them first.

    `storage` is a resource type's storage key: plural and group, `pods`, `leases.coordination.k8s.io`. A cluster-scoped
    object has the namespace "".
    """

    def get(self, storage: str, namespace: str, name: str) -> JSON | None: ...

    def list(self, storage: str, namespace: str | None = None) -> Iterable[JSON]:
        """Return the objects sorted by namespace and name; those of all namespaces if `namespace` is None."""
        ...


@dataclass(frozen=True, slots=True)
class Context:
    """The facts that a strategy may know of the request it serves."""

    resource: ResourceType
    store: Reader
    clock: Clock
    namespace: str = ""
    name: str = ""  # the name in the path; "" on create
    subresource: str | None = None
    dry_run: bool = False
    warnings: list[str] = field(default_factory=list)  # sent as Warning headers
    requested: str = ""  # the API version that the client uses; `resource` is the one that is stored
    gates: frozenset[str] = frozenset()  # feature gates that are on
    user: User = ADMIN

    @property
    def now(self) -> str:
        """The simulated time, RFC 3339 in whole seconds: 2026-01-01T00:00:00Z."""
        return self.clock.seconds()


class Strategy:
    """The rules of a kind. This class itself serves kinds without any rules.

    Objects passed as `obj` or `new` belong to the request and are changed in place. `old` is the stored object and must
    never be changed. Every method may raise ApiError, which is then the answer.
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
    # The spec never changes once it is there: nobody owns a field of it (`GetResetFields`).
    fixed_spec: bool = False
    # Metadata that a write to `/status` leaves as it was: most kinds name none.
    kept_by_status: tuple[str, ...] = ()
    # Paths (`spec.priority`) of what admission or the kind's rules fill in: nobody owns it who did not send it.
    set_by_admission: frozenset[str] = frozenset()
    # Maps of the metadata that defaults fill in: who makes the object owns them, as all defaults.
    defaulted_metadata: tuple[str, ...] = ()
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
    # The strategies of other subresources that are a part of the object, by their names: `resize`, `approval`.
    parts: Mapping[str, Strategy] = MappingProxyType({})

    def __init__(self, **parts: Strategy) -> None:
        if parts:
            self.parts = parts

    def of_part(self, subresource: str | None) -> Strategy:
        """Return the strategy by which a subresource is changed; of the object itself this one.

        `/status` has methods of its own in each strategy.
        """
        return self if subresource is None else self.parts.get(subresource, self)

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        """Fill in defaults and drop fields that a client may not set. Name, uid and creationTimestamp are
        set already.
        """
        if "status" in ctx.resource.subresources:
            obj.pop("status", None)
        if self.counts_generation and "spec" in obj:
            obj["metadata"]["generation"] = 1

    def complete(self, obj: JSON, old: JSON | None, ctx: Context) -> None:
        """Make what depends on what admission made of the object, which comes after prepare_create and prepare_update.
        `old` is None on create.
        """

    def complete_status(self, obj: JSON, old: JSON, ctx: Context) -> None:
        """Do the same as `complete` where `/status` is written."""
        self.complete(obj, old, ctx)

    def validate_create(self, obj: JSON, ctx: Context) -> list[FieldError]:
        """Return all errors in the prepared object. The client gets them in a 422."""
        return self.validate_metadata(obj)

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        """Bring back what the client may not change, above all the status. System fields of the metadata are already
        as in `old`.
        """
        if "status" in ctx.resource.subresources:
            keep(new, old, "status")
        if self.counts_generation and new.get("spec") != old.get("spec"):
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        """Bring back all but the status and the metadata that a write to `/status` may change."""
        keep_all_but_status(new, old, self.kept_by_status)

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> list[FieldError]:
        """Return all errors, as validate_create does."""
        errors = metadata.validate_changed(new["metadata"], old["metadata"], generic=self.generic_metadata)
        if self.revalidates_metadata and new["metadata"] != old["metadata"]:
            errors += self.validate_metadata(new)
        return errors

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> list[FieldError]:
        """Return all errors of a write to `/status`."""
        return metadata.validate_changed(new["metadata"], old["metadata"], generic=self.generic_metadata)

    def validate_metadata(self, obj: JSON) -> list[FieldError]:
        """Return the errors in the metadata of an object, as if it were new."""
        return metadata.validate_new(
            obj["metadata"], self.name_rule, generic=self.generic_metadata, with_prefix=self.validates_prefix
        )

    def check_delete(self, obj: JSON, ctx: Context) -> None:
        """Raise ApiError if the object may not be deleted."""

    def finalizers_on_delete(self, obj: JSON) -> list[str]:
        """Return the finalizers that an object gets when it is deleted: somebody has to clean up before it is gone."""
        return []

    def propagation(self, obj: JSON, asked: str) -> str:
        """Return the propagation policy of a deletion that the object's finalizers are to express."""
        return asked

    def holds(self, obj: JSON) -> bool:
        """Return True if more than the finalizers of the metadata keeps a deleted object (those in a namespace's spec).

        The object then stays, marked without a grace period, until that is gone.
        """
        return False

    def prepare_delete(self, new: JSON, old: JSON, ctx: Context) -> None:
        """Change what goes with the mark of deletion: the object is about to be marked (deletionTimestamp is set)."""

    def grace_period(self, obj: JSON, requested: int | None, ctx: Context) -> int | None:
        """Return the seconds from the mark to the end. None: the kind has no graceful deletion, the object goes in one
        write.
        """
        return None

    def deprecation(self, version: str) -> str:
        """Return the warning that every request for this version of the kind gets; "" if none."""
        return ""

    def selectable_field(self, name: str, api_version: str) -> str | None:
        """Return the key in `field_labels` for a field of a field selector; None if the kind has no such field."""
        return name if name in self.selectable_fields else None

    def as_stored(self, resource: ResourceType, obj: JSON) -> tuple[ResourceType, JSON]:
        """Return the version in which the object is stored, and the object in it, complete and checked."""
        return resource, obj

    def merge_type(self, resource: ResourceType) -> Type:
        """Return how objects of this version of the kind merge."""
        name = type_of(resource.api_version, resource.kind)
        return built_in(name) if name is not None else UNTYPED

    def misfit(self, version: str, obj: JSON) -> str | None:
        """Return why an object does not have the form of that version of a custom kind.

        Return None if it has, or if all objects have one form.
        """
        return None

    def unselectable(self, name: str) -> str:
        """Return the error for a field in a field selector that the kind does not offer."""
        if self.selectable_fields:
            return f"field label not supported: {name}"
        return f'{quote(name)} is not a known field selector: only "metadata.name", "metadata.namespace"'

    def field_labels(self, obj: JSON) -> dict[str, str] | None:
        """Return the values of `selectable_fields`, absent ones as "". None: the kind has no such fields."""
        return None


class Guarded(Strategy):
    """A kind without rules of its own. PUT needs the resourceVersion of the object that it replaces."""

    unconditional_update = False


class GuardedGeneric(Guarded):
    """A guarded kind whose metadata follow the rules for objects of any kind, which do not know the finalizers of
    built-in kinds.
    """

    generic_metadata = True
    revalidates_metadata = True


def keep(new: JSON, old: JSON, key: str) -> None:
    """Set `new[key]` to the value in `old`; remove it if it is absent there."""
    if key in old:
        new[key] = old[key]
    else:
        new.pop(key, None)


def keep_all_but_status(new: JSON, old: JSON, metadata: Iterable[str]) -> None:
    """Keep what a write to `/status` may not change.

    It may change the status, and the metadata except these fields and the system fields.
    """
    for key in [*new, *old]:
        if key not in ("status", "metadata", "apiVersion", "kind"):
            keep(new, old, key)
    for key in metadata:
        keep(new["metadata"], old["metadata"], key)
