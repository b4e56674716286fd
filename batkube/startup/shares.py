"""Shares of a whole, as users write them."""

from typing import Any


def share_if_percent(value: Any) -> Any:
    """Return ``5%`` as a share; what is no such text as it is. Raises ValueError."""
    if isinstance(value, str) and value.rstrip().endswith("%"):
        try:
            return float(value.rstrip().removesuffix("%")) / 100
        except ValueError:
            raise ValueError(f"expected a share such as 5%, not {value!r}") from None
    return value
