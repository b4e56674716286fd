"""A controller: what it follows, and how it brings one object after the other to where it should be."""

from collections.abc import Hashable
from typing import Any, ClassVar

from batkube.controllers.cluster import Cluster
from batkube.controllers.flags import Flags
from batkube.controllers.recorder import NORMAL, WARNING, Recorder
from batkube.controllers.work_queue import WorkQueue
from batkube.kube.apimachinery.status import ApiError
from batkube.kube.storage.store import Change

JSON = dict[str, Any]
ALL = "*"
"""All kinds, in what wakes a controller or what it follows."""
Key = Hashable
"""An entry of a controller's queue: in general namespace and name."""


class Controller:
    """A controller of ``cluster``. Subclasses say what they follow, and have ``changed`` and ``sync``."""

    name: ClassVar[str]
    """The name of its service account in kube-controller-manager, by which its Events go as well."""
    component: ClassVar[str] = ""
    """The name by which its Events go, if that is another."""
    wakes: ClassVar[tuple[str, ...]]
    """The kinds whose first object starts it: without one it costs nothing."""
    follows: ClassVar[tuple[str, ...]]
    """The kinds whose changes it is told; at its start, what there is."""
    retries: ClassVar[tuple[float, float]] = (0.005, 1000.0)
    """The seconds after which what failed is tried again: the first time, and at most."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.client = cluster.server.controller(self.name)
        self.recorder = Recorder(cluster, self.component or self.name, self.client)
        self.queue = WorkQueue(cluster.clock, *self.retries)

    @classmethod
    def wanted(cls, obj: JSON, flags: Flags) -> bool:
        """Tell whether an object of one of the kinds that wake it needs it, with what a user says of controllers."""
        return True

    @classmethod
    def missed(cls, obj: JSON) -> bool:
        """Tell whether it is needed as an object of one of these kinds is gone."""
        return False

    def changed(self, change: Change) -> None:
        """Note what is to be looked at after a change. Nothing may be written here."""
        raise NotImplementedError

    def sync(self, key: Any) -> None:
        """Bring what the key stands for to where it should be. After an ApiError it is tried again later."""
        raise NotImplementedError

    def work(self) -> bool:
        """Look at one key that is due; False if there is none."""
        key = self.queue.take()
        if key is None:
            return False
        try:
            self.sync(key)
        except ApiError:
            self.queue.retry(key)
        else:
            self.queue.forget(key)
        return True


__all__ = ["ALL", "NORMAL", "WARNING", "Change", "Controller", "Key"]
