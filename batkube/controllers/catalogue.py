"""The controllers that are built in, in the order in which they act where several have something to do."""

from batkube.controllers.controller import Controller
from batkube.controllers.cron_job.controller import CronJobController
from batkube.controllers.daemon_set.controller import DaemonSetController
from batkube.controllers.deployment.controller import DeploymentController
from batkube.controllers.disruption import DisruptionController
from batkube.controllers.garbage_collector import GarbageCollector
from batkube.controllers.job.controller import JobController
from batkube.controllers.namespaces import NamespaceController
from batkube.controllers.pod_gc import PodGarbageCollector
from batkube.controllers.replica_set import ReplicaSetController
from batkube.controllers.stateful_set.controller import StatefulSetController
from batkube.controllers.taint_eviction import TaintEvictionController
from batkube.controllers.ttl_after_finished import TtlAfterFinished
from batkube.controllers.volumes.binder import VolumeBinder
from batkube.controllers.volumes.protection import ClaimProtection, VolumeProtection

BUILT_IN: tuple[type[Controller], ...] = (
    CronJobController,
    JobController,
    DaemonSetController,
    DeploymentController,
    ReplicaSetController,
    StatefulSetController,
    VolumeBinder,
    DisruptionController,
    TtlAfterFinished,
    TaintEvictionController,
    PodGarbageCollector,
    ClaimProtection,
    VolumeProtection,
    NamespaceController,
    GarbageCollector,
)
