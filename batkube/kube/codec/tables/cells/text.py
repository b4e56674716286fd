"""Parts of objects as texts in a cell: names, ages, labels, selectors, images."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from ..ages import Ages

JSON = dict[str, Any]
Cells = Callable[[JSON, Ages], list[Any]]

NONE = "<none>"
UNSET = "<unset>"


def name(obj: JSON) -> str:
    return str(obj["metadata"].get("name", ""))


def age(obj: JSON, ages: Ages) -> str:
    return ages.since(obj["metadata"].get("creationTimestamp"))


def spec(obj: JSON) -> JSON:
    return obj.get("spec") or {}


def status(obj: JSON) -> JSON:
    return obj.get("status") or {}


def condition(obj: JSON, condition_type: str) -> JSON | None:
    """Return the condition of that type in a status."""
    for found in status(obj).get("conditions") or ():
        if found.get("type") == condition_type:
            return dict(found)
    return None


def is_true(obj: JSON, condition_type: str) -> bool:
    found = condition(obj, condition_type)
    return found is not None and found.get("status") == "True"


def labels(pairs: JSON | None) -> str:
    """Return labels as `a=b,c=d`."""
    return ",".join(f"{key}={value}" for key, value in sorted((pairs or {}).items())) or NONE


def label_selector(selector: JSON | None) -> str:
    """Return a selector as `a=b,c in (d,e)`; "" if it is empty."""
    if selector is None:
        return ""
    terms = [(key, f"{key}={value}") for key, value in (selector.get("matchLabels") or {}).items()]
    for term in selector.get("matchExpressions") or ():
        key, operator = term["key"], term["operator"]
        values = ",".join(sorted(term.get("values") or ()))
        shown = {
            "In": f"{key} in ({values})",
            "NotIn": f"{key} notin ({values})",
            "Exists": key,
            "DoesNotExist": f"!{key}",
        }
        if operator not in shown:
            return "<error>"
        terms.append((key, shown[operator]))
    return ",".join(text for _, text in sorted(terms, key=lambda term: term[0]))


def containers(pod_spec: JSON) -> tuple[str, str]:
    """Return the names and the images of containers."""
    found = pod_spec.get("containers") or ()
    names = ",".join(container.get("name", "") for container in found)
    return names, ",".join(container.get("image", "") for container in found)


def template_spec(obj: JSON) -> JSON:
    """Return the pod spec in a workload's template."""
    return (spec(obj).get("template") or {}).get("spec") or {}


def more(shown: Sequence[str], count: int, limit: int, empty: str = UNSET) -> str:
    """Return the first few of `count` things: `a,b,c + 2 more...`."""
    text = ",".join(shown[:limit])
    return f"{text} + {count - limit} more..." if count > limit else text or empty


def joined(items: Iterable[str] | None) -> str:
    return ",".join(items or ())


def name_and_age(obj: JSON, ages: Ages) -> list[Any]:
    return [name(obj), age(obj, ages)]
