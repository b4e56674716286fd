"""The controllers that are built in, in the order in which they act where several have something to do.

Each is loaded with the first object of a kind that may need it: to load all takes longer than a small run.
"""

from functools import cache
from importlib import import_module
from typing import NamedTuple

from batkube.controllers.controller import ALL, Controller


class Listed(NamedTuple):
    """A controller that may not be loaded yet."""

    wakes: tuple[str, ...]
    """The kinds whose first object starts it, as the class has them."""
    place: str
    """Its module below this package, and its class."""

    def load(self) -> type[Controller]:
        """Return the class."""
        return _loaded(self.place)


@cache
def _loaded(place: str) -> type[Controller]:
    module, _, name = place.partition(":")
    found: type[Controller] = getattr(import_module(f"{__package__}.{module}"), name)
    return found


BUILT_IN = (
    Listed(("cronjobs.batch",), "cron_job.controller:CronJobController"),
    Listed(("jobs.batch",), "job.controller:JobController"),
    Listed(("daemonsets.apps",), "daemon_set.controller:DaemonSetController"),
    Listed(("deployments.apps",), "deployment.controller:DeploymentController"),
    Listed(("replicasets.apps",), "replica_set:ReplicaSetController"),
    Listed(("statefulsets.apps",), "stateful_set.controller:StatefulSetController"),
    Listed(("persistentvolumeclaims", "persistentvolumes"), "volumes.binder:VolumeBinder"),
    Listed(("poddisruptionbudgets.policy",), "disruption:DisruptionController"),
    Listed(("jobs.batch",), "ttl_after_finished:TtlAfterFinished"),
    Listed(("nodes",), "taint_eviction:TaintEvictionController"),
    Listed(("pods", "nodes"), "pod_gc:PodGarbageCollector"),
    Listed(("persistentvolumeclaims",), "volumes.protection:ClaimProtection"),
    Listed(("persistentvolumes",), "volumes.protection:VolumeProtection"),
    Listed(("namespaces",), "namespaces:NamespaceController"),
    Listed((ALL,), "garbage_collector:GarbageCollector"),
)
