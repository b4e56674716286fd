"""Component statuses (`pkg/registry/core/componentstatus`): there are none, as nothing here is asked for its health."""

from __future__ import annotations

from ..strategy import Strategy


class ComponentStatuses(Strategy):
    """Nobody should ask for them any more."""

    def deprecation(self, version: str) -> str:
        return "v1 ComponentStatus is deprecated in v1.19+"
