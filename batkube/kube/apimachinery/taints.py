"""Taints of nodes, and the tolerations of pods (core/v1)."""

from __future__ import annotations

from typing import Any

JSON = dict[str, Any]


def tolerates(toleration: JSON, taint: JSON) -> bool:
    """Tell whether a toleration covers the taint (`Toleration.ToleratesTaint`)."""
    if toleration.get("effect") not in (None, "", taint["effect"]):
        return False
    if toleration.get("key") not in (None, "", taint["key"]):
        return False
    operator = toleration.get("operator") or "Equal"
    return operator == "Exists" or (
        operator == "Equal" and (toleration.get("value") or "") == (taint.get("value") or "")
    )
