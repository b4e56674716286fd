"""CustomResourceDefinitions: their own rules, and the resources that come and go with them.

The real server does this in controllers, some moments after a write. Here it is done at once, with the same writes: a
new definition is followed by one more version of it, whose conditions say that it is served.
"""

from __future__ import annotations

import copy
from typing import Any

from ..apimachinery.status import ApiError, FieldError, quote
from ..codec.custom_objects import read_anew
from ..kinds.strategy import Context, Strategy
from ..schema.resources import ResourceType, Subresource, version_order
from ..storage.store import ADDED, DELETED, Change
from ..verbs.api import Api
from ..verbs.delete import delete
from ..verbs.write import Write
from .definition_validation import formats_of, validate_changed_definition, validate_definition, validate_names
from .scale import CustomScale
from .schema_validation import schemas_in
from .strategy import CustomStrategy, ServedVersion

JSON = dict[str, Any]

STORAGE = "customresourcedefinitions.apiextensions.k8s.io"
CLEANUP = "customresourcecleanup.apiextensions.k8s.io"
VERBS = ("delete", "deletecollection", "get", "list", "patch", "create", "update", "watch")


class DefinitionStrategy(Strategy):
    """The rules of definitions themselves."""

    unconditional_update = False
    deleted_in_two_steps = True
    status_tables = False

    def prepare_create(self, obj: JSON, ctx: Context) -> None:
        obj["metadata"]["generation"] = 1
        spec = obj.setdefault("spec", {})
        _default(spec)
        stored = _storage_versions(spec)
        obj["status"] = {"conditions": None, "acceptedNames": {"plural": "", "kind": ""}, "storedVersions": stored}
        finalizers = obj["metadata"].get("finalizers") or []
        if CLEANUP in finalizers:
            obj["metadata"]["finalizers"] = finalizers

    def prepare_update(self, new: JSON, old: JSON, ctx: Context) -> None:
        new["status"] = copy.deepcopy(old["status"])
        _default(new["spec"])
        for version in new["spec"].get("versions") or ():
            name = version.get("name") or ""
            if version.get("storage") and name not in new["status"]["storedVersions"]:
                new["status"]["storedVersions"].append(name)
        if new["spec"] != old["spec"]:
            new["metadata"]["generation"] = old["metadata"].get("generation", 0) + 1

    def prepare_status(self, new: JSON, old: JSON, ctx: Context) -> None:
        super().prepare_status(new, old, ctx)
        if not new.setdefault("status", {}).get("storedVersions"):
            new["status"]["storedVersions"] = _storage_versions(new["spec"])

    def validate_create(self, obj: JSON, ctx: Context) -> list[FieldError]:
        errors = validate_definition(obj)
        if not errors:
            ctx.warnings.extend(f"unrecognized format {quote(form)}" for form in formats_of(obj["spec"]))
        return errors

    def validate_update(self, new: JSON, old: JSON, ctx: Context) -> list[FieldError]:
        errors = validate_changed_definition(new, old)
        if not errors:
            known = formats_of(old["spec"])
            unknown = [form for form in formats_of(new["spec"]) if form not in known]
            ctx.warnings.extend(f"unrecognized format {quote(form)}" for form in unknown)
        return errors

    def validate_status(self, new: JSON, old: JSON, ctx: Context) -> list[FieldError]:
        names = new["status"].get("acceptedNames") or {}
        return super().validate_status(new, old, ctx) + validate_names(names, "status.acceptedNames")

    def finalizers_on_delete(self, obj: JSON) -> list[str]:
        """Return the finalizer that lets the instances of a definition be deleted first."""
        return [CLEANUP]

    def propagation(self, obj: JSON, asked: str) -> str:
        """Return "" when a definition is first deleted: it is marked in its own way, without a finalizer for
        dependents.
        """
        return "" if obj["metadata"].get("deletionTimestamp") is None else asked

    def prepare_delete(self, new: JSON, old: JSON, ctx: Context) -> None:
        new["metadata"].pop("deletionGracePeriodSeconds", None)
        new["metadata"]["generation"] = old["metadata"].get("generation", 1)
        _set_condition(
            new["status"],
            "Terminating",
            "True",
            ctx.now,
            "InstanceDeletionPending",
            "CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon",
        )


def _storage_versions(spec: JSON) -> list[str]:
    """Return the version in which objects are stored: the first that says so."""
    return [version.get("name") or "" for version in spec.get("versions") or () if version.get("storage")][:1]


def _default(spec: JSON) -> None:
    _read_schemas(spec)
    names = spec.setdefault("names", {})
    kind = names.get("kind", "")
    if not names.get("singular"):
        names["singular"] = kind.lower()
    if kind and not names.get("listKind"):
        names["listKind"] = f"{kind}List"
    conversion = spec.setdefault("conversion", {"strategy": "None"})
    service = ((conversion.get("webhook") or {}).get("clientConfig") or {}).get("service")
    if service is not None:
        service.setdefault("port", 443)


def _read_schemas(spec: JSON) -> None:
    """Read the schemas as the real server does: items that are not a schema are ignored."""
    for version in spec.get("versions") or ():
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        for inner in schemas_in(schema) if schema is not None else ():
            if not isinstance(inner.get("items"), dict | list):
                inner.pop("items", None)
            for key in ("additionalProperties", "additionalItems"):
                if not isinstance(inner.get(key), dict | bool | None):
                    why = "boolean or JSON schema expected"
                    what = "CustomResourceDefinition"
                    raise ApiError.bad_request(f'{what} in version "v1" cannot be handled as a {what}: {why}')


class Definitions:
    """The follower of definitions in the store, which serves the resources that they define."""

    def __init__(self, api: Api) -> None:
        self._api = api
        self._served: dict[str, list[ResourceType]] = {}  # by name of the definition

    def follow(self, change: Change) -> None:
        """Follow a change. The store must call it with every change."""
        if change.resource.storage != STORAGE:
            if change.type == DELETED and change.resource.custom:
                self._end(change.resource.storage)  # it may have been the last that a definition waits for
            return
        name = change.version.key[1]
        if change.type == DELETED:
            self._withdraw(name)
        elif change.object["metadata"].get("deletionTimestamp"):
            self._end(name)
        elif change.type == ADDED or change.previous is None or change.object["spec"] != change.previous["spec"]:
            self._accept(change)

    def _accept(self, change: Change) -> None:
        definition = change.object
        conflict = self._conflict(definition)
        status = copy.deepcopy(definition["status"])
        now = self._api.clock.seconds()
        if conflict is None:
            status["acceptedNames"] = copy.deepcopy(definition["spec"]["names"])
            _set_condition(status, "NamesAccepted", "True", now, "NoConflicts", "no conflicts found")
            _set_condition(
                status, "Established", "True", now, "InitialNamesAccepted", "the initial names have been accepted"
            )
            self._serve(definition)
        else:
            reason, message, accepted = conflict
            status["acceptedNames"] = {**status["acceptedNames"], **accepted}
            _set_condition(status, "NamesAccepted", "False", now, reason, message)
            established = any(c["type"] == "Established" for c in status.get("conditions") or ())
            if not established:
                _set_condition(status, "Established", "False", now, "NotAccepted", "not all names are accepted")
        if status != definition["status"]:
            metadata = dict(definition["metadata"])
            self._api.store.put(change.resource, {**definition, "metadata": metadata, "status": status})

    def _conflict(self, definition: JSON) -> tuple[str, str, JSON] | None:
        """Return the reason and the message for the last name that another resource of the group has, and the free
        names.

        Return None if all names are free.
        """
        names, group = definition["spec"]["names"], definition["spec"]["group"]
        own = self._served.get(definition["metadata"]["name"], ())
        taken = [resource for resource in self._api.registry if resource.group == group and resource not in own]
        plurals = {name for other in taken for name in (other.plural, other.singular, *other.short_names)}
        kinds = {name for other in taken for name in (other.kind, other.list_kind)}
        found = None
        accepted = {key: value for key, value in names.items() if key == "categories"}
        for key, reason, known in (
            ("plural", "PluralConflict", plurals),
            ("singular", "SingularConflict", plurals),
            ("shortNames", "ShortNamesConflict", plurals),
            ("kind", "KindConflict", kinds),
            ("listKind", "ListKindConflict", kinds),
        ):
            given = names.get(key)
            used = [name for name in (given if isinstance(given, list) else [given]) if name in known]
            if used:
                found = reason, f'"{used[-1]}" is already in use'
            elif given is not None:
                accepted[key] = given
        return (*found, accepted) if found else None

    def _serve(self, definition: JSON) -> None:
        name = definition["metadata"]["name"]
        spec = definition["spec"]
        if name not in self._served:
            self._api.store.collection(name).begun = self._api.store.revision
        self._withdraw(name)
        versions = {version["name"]: _served_version(version, spec) for version in spec["versions"]}
        every = [(version, _resource(version, versions[version["name"]], spec)) for version in spec["versions"]]
        strategy = CustomStrategy(versions, next(resource for version, resource in every if version.get("storage")))
        resources = [resource for version, resource in every if version.get("served")]
        for resource in resources:
            self._api.registry.add(resource)
        self._served[name] = resources
        self._api.add_strategy(name, strategy)
        self._api.actions[name, "scale"] = CustomScale(strategy)
        for stored in self._api.store.collection(name).select():  # objects are read by the schema of the day
            known = versions.get(stored.obj["apiVersion"].rpartition("/")[2])
            if known is not None and (obj := read_anew(known.schema, stored.obj)) != stored.obj:
                stored.reread(obj)

    def _withdraw(self, name: str) -> None:
        for resource in self._served.pop(name, ()):
            self._api.registry.remove(resource)
        self._api.remove_strategy(name)
        self._api.actions.pop((name, "scale"), None)

    def _end(self, name: str) -> None:
        """End a definition that is being deleted.

        Its objects are deleted, each when its own finalizers are gone. Then the definition's own finalizer is removed.
        The definition is gone then, unless another finalizer holds it.
        """
        definition = self._api.store.get(STORAGE, "", name)
        metadata = definition["metadata"] if definition is not None else {}
        finalizers = metadata.get("finalizers") or ()
        if definition is None or not metadata.get("deletionTimestamp") or CLEANUP not in finalizers:
            return
        served = self._served.get(name, ())
        for resource in served:
            self._api.strategy(resource).terminating = True
        collection = self._api.store.collection(name)
        for version in collection.select():
            if not version.obj["metadata"].get("deletionTimestamp"):
                delete(Write.of(self._api, version.resource, *version.key))
        if collection.select() or self._api.store.get(STORAGE, "", name) is not definition:
            return
        others = [item for item in finalizers if item != CLEANUP]
        resource = self._api.registry.named(STORAGE)
        if not others:
            self._api.identities.ended(STORAGE, "", name)
            self._api.store.remove(resource, ("", name))
            return
        status = copy.deepcopy(definition["status"])
        done = ("InstanceDeletionCompleted", "removed all instances")
        if not served:
            done = ("NeverEstablished", "resource was never established")
        for each in served:
            self._api.strategy(each).terminating = False
        _set_condition(status, "Terminating", "False", self._api.clock.seconds(), *done)
        self._api.store.put(resource, {**definition, "metadata": {**metadata, "finalizers": others}, "status": status})


def _served_version(version: JSON, spec: JSON) -> ServedVersion:
    subresources = version.get("subresources") or {}
    warning = ""
    if version.get("deprecated"):
        warning = version.get("deprecationWarning") or _deprecation(version["name"], spec)
    return ServedVersion(
        name=version["name"],
        schema=(version.get("schema") or {}).get("openAPIV3Schema") or {},
        has_status="status" in subresources,
        scale=subresources.get("scale"),
        selectable=tuple(field["jsonPath"] for field in version.get("selectableFields") or ()),
        deprecation=warning,
    )


def _deprecation(name: str, spec: JSON) -> str:
    """Return the default warning of a version, which names the best newer version that is not deprecated itself
    (`defaultDeprecationWarning` of k8s.io/apiextensions-apiserver).
    """
    group, kind = spec["group"], spec["names"]["kind"]
    others = [
        version["name"] for version in spec["versions"] if version.get("served") and not version.get("deprecated")
    ]
    best = min((other for other in others if version_order(other) < version_order(name)), key=version_order, default="")
    return f"{group}/{name} {kind} is deprecated" + (f"; use {group}/{best} {kind}" if best else "")


def _resource(version: JSON, served: ServedVersion, spec: JSON) -> ResourceType:
    names = spec["names"]
    verbs = ("get", "patch", "update")
    subresources = {}
    if served.has_status:
        subresources["status"] = Subresource("status", names["kind"], verbs)
    if served.scale is not None:
        subresources["scale"] = Subresource("scale", "Scale", verbs, "autoscaling", "v1")
    return ResourceType(
        group=spec["group"],
        version=version["name"],
        plural=names["plural"],
        singular=names["singular"],
        kind=names["kind"],
        list_kind=names["listKind"],
        namespaced=spec["scope"] == "Namespaced",
        verbs=VERBS,
        storage=f"{names['plural']}.{spec['group']}",
        short_names=tuple(names.get("shortNames") or ()),
        categories=tuple(names.get("categories") or ()),
        subresources=subresources,
        printer_columns=tuple(version.get("additionalPrinterColumns") or ()),
        schema=served.schema,
        custom=True,
    )


def _set_condition(status: JSON, kind: str, value: str, now: str, reason: str, message: str) -> None:
    conditions = list(status.get("conditions") or ())
    new = {"type": kind, "status": value, "lastTransitionTime": now, "reason": reason, "message": message}
    for index, condition in enumerate(conditions):
        if condition["type"] == kind:
            if condition["status"] == value:
                new["lastTransitionTime"] = condition["lastTransitionTime"]
            conditions[index] = new
            break
    else:
        conditions.append(new)
    status["conditions"] = conditions
