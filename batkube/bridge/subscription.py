"""A listener to the store that can be told to stop."""

from collections.abc import Callable, Sequence

from batkube.kube.server import ApiServer
from batkube.kube.storage.store import Change


class Subscription:
    """Has ``listener`` called after each change of ``resources`` of ``server``, from ``start`` to ``stop``."""

    def __init__(self, server: ApiServer, listener: Callable[[Change], None], resources: Sequence[str]) -> None:
        self._server = server
        self._resources = resources
        self._listener = listener
        self._active = False

    def start(self) -> None:
        """Begin to listen."""
        self._server.subscribe(self._listener, self._resources)
        self._active = True

    def stop(self) -> None:
        """Listen no more. Stopping what has not begun, or twice, does nothing."""
        if self._active:
            self._server.store.unsubscribe(self._listener)
        self._active = False
