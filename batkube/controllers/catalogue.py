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
    names: tuple[str, ...]
    """The name that it has in the flag `--controllers` of kube-controller-manager, and its alias there."""

    def load(self) -> type[Controller]:
        """Return the class."""
        return _loaded(self.place)


@cache
def _loaded(place: str) -> type[Controller]:
    module, _, name = place.partition(":")
    found: type[Controller] = getattr(import_module(f"{__package__}.{module}"), name)
    return found


NODE_LIFECYCLE = Listed(
    ("nodes",), "node_lifecycle.controller:NodeLifecycleController", ("node-lifecycle-controller", "nodelifecycle")
)
"""The controller of nodes that are lost, which is played where others are not, too, if their loss is known at once."""

BUILT_IN = (
    Listed(("cronjobs.batch",), "cron_job.controller:CronJobController", ("cronjob-controller", "cronjob")),
    Listed(("jobs.batch",), "job.controller:JobController", ("job-controller", "job")),
    Listed(("daemonsets.apps",), "daemon_set.controller:DaemonSetController", ("daemonset-controller", "daemonset")),
    Listed(
        ("deployments.apps",), "deployment.controller:DeploymentController", ("deployment-controller", "deployment")
    ),
    Listed(("replicasets.apps",), "replica_set:ReplicaSetController", ("replicaset-controller", "replicaset")),
    Listed(
        ("statefulsets.apps",),
        "stateful_set.controller:StatefulSetController",
        ("statefulset-controller", "statefulset"),
    ),
    Listed(
        ("persistentvolumeclaims", "persistentvolumes"),
        "volumes.binder:VolumeBinder",
        ("persistentvolume-binder-controller", "persistentvolume-binder"),
    ),
    Listed(
        ("poddisruptionbudgets.policy",), "disruption:DisruptionController", ("disruption-controller", "disruption")
    ),
    Listed(
        ("jobs.batch",), "ttl_after_finished:TtlAfterFinished", ("ttl-after-finished-controller", "ttl-after-finished")
    ),
    NODE_LIFECYCLE,
    Listed(("nodes",), "taint_eviction:TaintEvictionController", ("taint-eviction-controller",)),
    Listed(("pods", "nodes"), "pod_gc:PodGarbageCollector", ("pod-garbage-collector-controller", "podgc")),
    Listed(
        ("persistentvolumeclaims",),
        "volumes.protection:ClaimProtection",
        ("persistentvolumeclaim-protection-controller", "pvc-protection"),
    ),
    Listed(
        ("persistentvolumes",),
        "volumes.protection:VolumeProtection",
        ("persistentvolume-protection-controller", "pv-protection"),
    ),
    Listed(("namespaces",), "namespaces:NamespaceController", ("namespace-controller", "namespace")),
    Listed((ALL,), "garbage_collector:GarbageCollector", ("garbage-collector-controller", "garbagecollector")),
)

RESOURCE_CLAIMS = Listed(
    ("pods", "resourceclaims.resource.k8s.io"),
    "resource_claims:ResourceClaimController",
    ("resourceclaim-controller", "resource-claim-controller"),
)
"""The controller of claims of devices, which is played where others are not, too."""
