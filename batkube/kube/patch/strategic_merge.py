"""Strategic merge patch: lists are merged by the keys of their kind, and directives say what merging cannot.

| directive | in | does |
|---|---|---|
| `$patch: replace, delete, merge` | a map, an element of a list | replaces it, deletes it, merges it (as without) |
| `$retainKeys: [...]` | a map | removes all other keys |
| `$setElementOrder/LIST: [...]` | beside a list | orders it |
| `$deleteFromPrimitiveList/LIST: [...]` | beside a list of plain values | removes these |

The patch and its errors are those of `k8s.io/apimachinery/pkg/util/strategicpatch`. The table of Go types
(`api_types.merges_of`) says how a list merges.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from ..apimachinery.status import ApiError
from ..codec.go_json import json_type
from ..schema import api_types
from ..schema.resources import ResourceType
from .merge_patch import without_nulls

JSON = dict[str, Any]
Items = list[Any]

_DIRECTIVE = "$patch"
_RETAIN_KEYS = "$retainKeys"
_ORDER = "$setElementOrder/"
_DELETE = "$deleteFromPrimitiveList/"
_BAD_RETAIN_KEYS = "invalid patch format of retainKeys"


@dataclass(frozen=True, slots=True)
class _Merge:
    """The way in which a field merges."""

    type: str | None  # of its elements or itself; None if it has no fields
    strategy: str = ""  # `merge`, `replace`, or "" for the default
    key: str = ""


_PLAIN = _Merge(None)


def apply(obj: JSON, patch: Any, resource: ResourceType) -> JSON:
    """Return the object with the patch merged into it; neither is changed.

    Raise 400 if a directive has the wrong form, 500 (as the real server) if one is unknown or a merge key is absent.
    """
    if patch is None:
        patch = {}
    if not isinstance(patch, dict):
        what = json_type(patch)
        raise ApiError.bad_request(f"json: cannot unmarshal {what} into Go value of type map[string]interface {{}}")
    return merge(obj, patch, api_types.type_of(resource.api_version, resource.kind))


def merge(original: JSON | None, patch: JSON, type_name: str | None) -> JSON:
    """Return `original` (None: nothing) with the patch merged into it; both are of that type."""
    if _DIRECTIVE in patch:
        return _directed(patch)
    fields = _fields(type_name)
    merged = dict(original) if original else {}
    retained = patch.get(_RETAIN_KEYS)
    if _RETAIN_KEYS in patch:
        _retain(merged, patch, retained)
    done = {_RETAIN_KEYS}
    for key, order in patch.items():
        if key.startswith(_ORDER):
            done.add(key)
            done.add(_order(merged, patch, key[len(_ORDER) :], order, type_name))
    for key, value in patch.items():
        if key in done:
            continue
        if key.startswith(_DELETE):
            _delete_values(merged, key[len(_DELETE) :], value)
        elif value is None:
            merged.pop(key, None)
        else:
            _set(merged, key, value, fields.get(key, _PLAIN))
    return merged


def _set(merged: JSON, key: str, value: Any, how: _Merge) -> None:
    found = merged.get(key)
    if isinstance(found, dict) and isinstance(value, dict):
        merged[key] = value if how.strategy == "replace" else merge(found, value, how.type)
    elif isinstance(found, list) and isinstance(value, list):
        merged[key] = _merged_list(found, value, how) if how.strategy == "merge" else value
    else:
        keep, clean = _without_directives(without_nulls(value))
        if keep:
            merged[key] = clean
        else:
            merged.pop(key, None)


def _directed(patch: JSON) -> JSON:
    directive = patch[_DIRECTIVE]
    if directive == "replace":
        return {key: value for key, value in patch.items() if key != _DIRECTIVE}
    if directive == "delete":
        return {}
    raise _bad_directive(directive, patch)


def _bad_directive(directive: Any, patch: JSON) -> ApiError:
    return ApiError.unforeseen(f"unknown patch type: {directive} in map: {as_go(patch)}")


def _retain(merged: JSON, patch: JSON, retained: Any) -> None:
    if not isinstance(retained, list):
        raise ApiError.bad_request(_BAD_RETAIN_KEYS)
    for key, value in patch.items():
        if value is None or key.startswith((_DELETE, _ORDER)) or key == _RETAIN_KEYS:
            continue
        if key not in retained:
            raise ApiError.bad_request(_BAD_RETAIN_KEYS)
    for key in [key for key in merged if key not in retained]:
        del merged[key]


# -- lists


def _order(merged: JSON, patch: JSON, name: str, order: Any, type_name: str | None) -> str:
    """Merge and order the list of that name. Return the name if that list of the patch is done."""
    if not isinstance(order, list):
        raise ApiError.unforeseen(f"expected a list in {_ORDER}{name}, but received {as_go(order)}")
    found, given = merged.get(name), patch.get(name)
    for where, value in ((merged, found), (patch, given)):
        if name in where and not isinstance(value, list):
            raise ApiError.unforeseen(f"expected a []interface {{}}, but received a {as_go(value)}")
    fields = _fields(type_name)
    if name not in fields and (type_name is not None or name in patch or name in merged):
        struct = f" in struct {type_name.rpartition('.')[2]}" if type_name is not None else ""
        raise ApiError.unforeseen(f'unable to find api field{struct} for the json field "{name}"')
    how = fields.get(name, _PLAIN)
    _check_order(given or [], order, how.key)
    if found is None and given is None:
        return ""
    if not found and not given:
        raise ApiError.unforeseen("no elements in any of the given slices")
    if given is None:
        items = found
    elif found is None:
        _, items = _without_directives(given)
    else:
        items = _merged_list(found, given, how) if how.strategy == "merge" else given
    _check_keys(order, how.key)
    patched, others = _partition(items or [], order, how.key)
    merged[name] = _interleaved(patched, others, order, _left_behind(found or [], given or [], how.key), how.key)
    return name


def _check_keys(order: Items, key: str) -> None:
    """Check that an order of maps names each by its merge key."""
    for index, item in enumerate(order if key else ()):
        if not isinstance(item, dict):
            raise ApiError.unforeseen(f"value for key {index} is not a map")
        if key not in item:
            raise _no_merge_key(item, key)


def _left_behind(found: Items, given: Items, key: str) -> Items:
    """Return the order of the list before the patch, as the real server still sees it after the merge.

    The real server works in place: new elements have taken the room of deleted ones.
    """
    deleted = [item.get(key) for item in given if isinstance(item, dict) and item.get(_DIRECTIVE) == "delete"]
    if not key or not deleted:
        return found
    kept = [item for item in found if item.get(key) not in deleted]
    known = {_identity(item, key) for item in kept}
    new = [item for item in given if _DIRECTIVE not in item and _identity(item, key) not in known]
    return [*kept, *new[: len(found) - len(kept)]]


def _check_order(given: Items, order: Items, key: str) -> None:
    """Check that the list of a patch is in the order that the patch itself demands.

    (Elements with a directive are skipped, but not after the last of the order: `validatePatchWithSetOrderList`.)
    """
    if not given or not order:
        return
    left = [item for item in given if not (key and isinstance(item, dict) and item.get(_DIRECTIVE) == "delete")]
    at = wanted = 0
    while at < len(left) and wanted < len(order):
        if isinstance(left[at], dict) and _DIRECTIVE in left[at]:
            at += 1
            continue
        at += _identity(left[at], key) == _identity(order[wanted], key)
        wanted += 1
    if at < len(left) and wanted >= len(order):
        wish = f"doesn't match $setElementOrder list:\n{as_go(order)}\n"
        raise ApiError.unforeseen(f"The order in patch list:\n{as_go(given)}\n {wish}")


def _merged_list(original: Items, patch: Items, how: _Merge) -> Items:
    if not original and not patch:
        return original
    kinds = {type(item): None for item in (*original, *patch)}
    if next(iter(kinds)) is list:
        raise ApiError.unprocessable("lists of lists are not supported")
    if len(kinds) > 1:
        raise ApiError.unforeseen(f"list element types are not identical: {as_go([original, patch])}")
    if dict not in kinds:
        items: Items = list(dict.fromkeys([*original, *patch]))
        order = patch
    else:
        if not how.key:
            raise ApiError.unforeseen("cannot merge lists without merge key")
        original, order = _special_elements(original, patch, how.key)
        items = _merge_elements(original, order, how)
    patched, others = _partition(items, order, how.key)
    return _interleaved(patched, others, order, original, how.key)


def _special_elements(original: Items, patch: Items, key: str) -> tuple[Items, Items]:
    """Apply the elements with `$patch`, and return the remaining elements of both lists."""
    plain: Items = []
    replaces = False
    for item in patch:
        directive = item.get(_DIRECTIVE)
        if _DIRECTIVE not in item:
            plain.append(item)
        elif directive == "delete":
            if key not in item:
                raise _no_merge_key(item, key)
            original = [other for other in original if _identity(other, key) != item[key]]
        elif directive == "replace":
            replaces = True
        elif directive == "merge":
            raise ApiError.unforeseen("merging lists cannot yet be specified in the patch")
        else:
            raise _bad_directive(directive, item)
    return ([], plain) if replaces else (original, plain)


def _merge_elements(original: Items, patch: Items, how: _Merge) -> Items:
    items = list(original)
    for item in patch:
        if how.key not in item:
            raise _no_merge_key(item, how.key)
        for index, other in enumerate(items):
            if how.key in other and other[how.key] == item[how.key]:
                items[index] = merge(other, item, how.type)
                break
        else:
            items.append(without_nulls(item))
    return items


def _partition(items: Items, order: Items, key: str) -> tuple[Items, Items]:
    named = {_identity(item, key) for item in order}
    inside: Items = []
    outside: Items = []
    for item in items:
        if key and (not isinstance(item, dict) or key not in item):
            raise _no_merge_key(item, key)
        (inside if _identity(item, key) in named else outside).append(item)
    return inside, outside


def _interleaved(patched: Items, others: Items, patch_order: Items, server_order: Items, key: str) -> Items:
    """Merge two lists, each in its own order. Between the two the old order counts as far as it goes."""
    ranks = _ranks(server_order, key)
    left = _sorted(others, ranks, key)
    right = _sorted(patched, _ranks(patch_order, key), key)
    result: Items = []
    i = j = 0
    while i < len(left) and j < len(right):
        left_rank, right_rank = ranks.get(_identity(left[i], key)), ranks.get(_identity(right[j], key))
        if left_rank is not None and right_rank is not None and left_rank < right_rank:
            result.append(left[i])
            i += 1
        else:
            result.append(right[j])
            j += 1
    return [*result, *left[i:], *right[j:]]


def _ranks(items: Items, key: str) -> dict[Any, int]:
    ranks: dict[Any, int] = {}
    for index, item in enumerate(items):
        ranks.setdefault(_identity(item, key), index)
    return ranks


def _sorted(items: Items, ranks: dict[Any, int], key: str) -> Items:
    return sorted(items, key=lambda item: ranks.get(_identity(item, key), len(ranks)))


def _identity(item: Any, key: str) -> Any:
    """Return the value that identifies an element. It is hashable, and keeps its type (1 is not true)."""
    value = item.get(key) if key and isinstance(item, dict) else item
    if isinstance(value, bool):
        return ("bool", value)
    return str(value) if isinstance(value, dict | list) else value


def _delete_values(merged: JSON, name: str, values: Any) -> None:
    found = merged.get(name)
    if isinstance(found, list) and isinstance(values, list):
        merged[name] = [item for item in found if item not in values]


# -- what is new in a patch: without directives


def _without_directives(value: Any) -> tuple[bool, Any]:
    """Return True if the value stays, and the value without its directives."""
    if isinstance(value, dict):
        if _DIRECTIVE in value:
            return False, None
        cleaned = ((key, _without_directives(item)) for key, item in value.items())
        return True, {key: item for key, (keep, item) in cleaned if keep}
    if isinstance(value, list):
        return True, [item for keep, item in map(_without_directives, value) if keep]
    return True, value


def _no_merge_key(item: Any, key: str) -> ApiError:
    return ApiError.unforeseen(f"map: {as_go(item)} does not contain declared merge key: {key}")


def as_go(value: Any) -> str:
    """Return a value as Go's %v prints it."""
    if isinstance(value, dict):
        return "map[" + " ".join(f"{key}:{as_go(value[key])}" for key in sorted(value)) + "]"
    if isinstance(value, list):
        return "[" + " ".join(map(as_go, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return "<nil>" if value is None else str(value)


# -- the table


@cache
def _fields(type_name: str | None) -> Mapping[str, _Merge]:
    if type_name is None or not api_types.has_type(type_name):
        return {}
    merges = api_types.merges_of(type_name)
    fields: dict[str, _Merge] = {}
    for field in api_types.fields_of(type_name):
        if field.inline:
            fields.update(_fields(field.type))
            continue
        strategies, key = merges.get(field.name, ("", ""))
        strategy = next((name for name in strategies.split(",") if name and name != "retainKeys"), "")
        its_type = field.type if field.shape != "map" and api_types.has_type(field.type) else None
        fields[field.name] = _Merge(its_type, strategy, key)
    return fields
