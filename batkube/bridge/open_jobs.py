"""The Jobs (batch/v1) of the API that have not come to their end: a controller may still have something to do."""

from typing import Any

from batkube.bridge.subscription import Subscription
from batkube.kube.server import ApiServer
from batkube.kube.storage.store import DELETED, Change

RESOURCE = "jobs.batch"
_ENDS = ("Complete", "Failed", "Suspended")
"""The conditions of a Job that nobody carries on."""


class OpenJobs:
    """Follows the Jobs of ``server`` from ``start`` to ``stop``."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server
        self._open: dict[tuple[str, str], None] = {}
        self._changes = Subscription(server, self._on_change, (RESOURCE,))

    def start(self) -> None:
        """Take in those that there are, and listen."""
        for job in self._server.list(RESOURCE):
            self._note(job, gone=False)
        self._changes.start()

    def stop(self) -> None:
        """Listen no more."""
        self._changes.stop()

    def __bool__(self) -> bool:
        return bool(self._open)

    @property
    def names(self) -> list[str]:
        """The Jobs, as ``NAMESPACE/NAME``."""
        return [f"{namespace}/{name}" for namespace, name in self._open]

    def _on_change(self, change: Change) -> None:
        self._note(change.object, gone=change.type == DELETED)

    def _note(self, job: dict[str, Any], *, gone: bool) -> None:
        key = job["metadata"]["namespace"], job["metadata"]["name"]
        conditions = job.get("status", {}).get("conditions") or ()
        if gone or any(each["type"] in _ENDS and each["status"] == "True" for each in conditions):
            self._open.pop(key, None)
        else:
            self._open[key] = None
