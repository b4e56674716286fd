"""Lists of resources: `{"cpu": "4", "example.com/gpu": "1"}` (`pkg/apis/core/helper` of Kubernetes)."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from ..apimachinery.metadata import Errors
from ..apimachinery.names import qualified_name
from ..apimachinery.quantity import Quantity, milli
from ..apimachinery.status import FieldError

JSON = dict[str, Any]

OBJECT_COUNTS = frozenset(
    (
        "pods",
        "resourcequotas",
        "services",
        "replicationcontrollers",
        "secrets",
        "configmaps",
        "persistentvolumeclaims",
        "services.nodeports",
        "services.loadbalancers",
    )
)
"""The resources of a quota that are numbers of objects."""
_ZERO = Quantity(0)


@lru_cache(maxsize=4096)
def is_native(name: str) -> bool:
    """Return True if the resource is one of Kubernetes' own: without a domain, or of kubernetes.io."""
    return "/" not in name or "kubernetes.io/" in name


@lru_cache(maxsize=4096)
def is_extended(name: str) -> bool:
    """Return True if a device plugin or an administrator provides the resource. It is counted in whole pieces."""
    return not is_native(name) and not name.startswith("requests.") and not qualified_name(f"requests.{name}")


@lru_cache(maxsize=4096)
def is_whole(name: str) -> bool:
    """Return True if the resource is measured in whole numbers."""
    return name in OBJECT_COUNTS or is_extended(name)


def round_up(resources: JSON | None) -> None:
    """Round each quantity up to thousandths, as the server reads it (`SetDefaults_ResourceList`)."""
    for name, quantity in (resources or {}).items():
        resources[name] = milli(quantity)  # type: ignore[index]


def validate_value(name: str, quantity: str, path: str) -> Errors:
    """Return the errors in an amount of that resource (`ValidateResourceQuantityValue`)."""
    errors: Errors = []
    value = Quantity.parse(quantity)
    if value < _ZERO:
        errors.append(FieldError.invalid(path, str(value), "must be greater than or equal to 0"))
    if is_whole(name) and value.value.denominator != 1:
        errors.append(FieldError.invalid(path, str(value), "must be an integer"))
    return errors
