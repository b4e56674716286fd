"""Component statuses (`pkg/registry/core/componentstatus`). There are none, as no component here is asked for its
health.
"""

from __future__ import annotations

from ..strategy import Strategy


class ComponentStatuses(Strategy):
    """The component statuses, which are deprecated."""

    def deprecation(self, version: str) -> str:
        return "v1 ComponentStatus is deprecated in v1.19+"
