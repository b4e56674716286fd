"""The table of kinds that have rules of their own, and of the actions: one line each, in order of their names."""

from __future__ import annotations

from collections.abc import Mapping

from ..codec import conversion
from .action import Action
from .admissionregistration.admission_policies import (
    MutatingAdmissionPolicies,
    MutatingAdmissionPolicyBindings,
    ValidatingAdmissionPolicies,
    ValidatingAdmissionPolicyBindings,
)
from .admissionregistration.webhooks import WebhookConfigurations
from .apiregistration import APIServices
from .apps.controller_revisions import ControllerRevisions
from .apps.daemon_sets import DaemonSets
from .apps.stateful_sets import StatefulSets
from .apps.workloads import Deployments, ReplicaSets
from .authorization import AccessReviews, RulesReviews, SelfReviews, TokenReviews
from .autoscaling.horizontal_pod_autoscalers import HorizontalPodAutoscalers
from .batch.cron_jobs import CronJobs
from .batch.jobs import Jobs
from .certificates import Approval, CertificateSigningRequests
from .coordination import LeaseCandidates, Leases
from .core import events
from .core.component_statuses import ComponentStatuses
from .core.config import ConfigMaps, Secrets
from .core.endpoints import Endpoints, EndpointSlices
from .core.events import Events
from .core.limit_ranges import LimitRanges
from .core.namespaces import Finalize, Namespaces
from .core.nodes import Nodes
from .core.quota import ResourceQuotas
from .core.replication_controllers import ReplicationControllers
from .core.service_accounts import ServiceAccounts, TokenRequests
from .core.services import Services
from .core.volume_claims import VolumeClaims
from .core.volumes import Volumes
from .flowcontrol import FlowSchemas, PriorityLevels
from .networking.ingresses import IngressClasses, Ingresses
from .networking.ip_addresses import IPAddresses
from .networking.network import NetworkPolicies
from .networking.service_cidrs import ServiceCIDRs
from .node import RuntimeClasses
from .pods.binding import Bindings
from .pods.connections import Connections, Log, NodeProxy, PodProxy, PortForward
from .pods.eviction import Evictions
from .pods.pods import EphemeralContainers, Pods, Resize
from .pods.templates import PodTemplates
from .policy import DisruptionBudgets, PriorityClasses
from .rbac import RoleBindings, Roles
from .resource.claims import ResourceClaims, ResourceClaimTemplates
from .resource.devices import DeviceClasses
from .resource.resource_slices import ResourceSlices
from .scale import Scale
from .scheduling import PodGroups, Workloads
from .storage import csi
from .storage.storage_classes import StorageClasses, VolumeAttributesClasses
from .strategy import Guarded, Strategy

STRATEGIES: Mapping[str, Strategy] = {
    "apiservices.apiregistration.k8s.io": APIServices(),
    "certificatesigningrequests.certificates.k8s.io": CertificateSigningRequests(approval=Approval()),
    "clusterrolebindings.rbac.authorization.k8s.io": RoleBindings(cluster=True),
    "clusterroles.rbac.authorization.k8s.io": Roles(cluster=True),
    "clustertrustbundles.certificates.k8s.io": Guarded(),
    "componentstatuses": ComponentStatuses(),
    "configmaps": ConfigMaps(),
    "controllerrevisions.apps": ControllerRevisions(),
    "cronjobs.batch": CronJobs(),
    "csidrivers.storage.k8s.io": csi.CSIDrivers(),
    "csinodes.storage.k8s.io": csi.CSINodes(),
    "csistoragecapacities.storage.k8s.io": csi.CSIStorageCapacities(),
    "daemonsets.apps": DaemonSets(),
    "deployments.apps": Deployments(),
    "deviceclasses.resource.k8s.io": DeviceClasses(),
    "endpoints": Endpoints(),
    "endpointslices.discovery.k8s.io": EndpointSlices(),
    "events": Events(),
    "flowschemas.flowcontrol.apiserver.k8s.io": FlowSchemas(),
    "horizontalpodautoscalers.autoscaling": HorizontalPodAutoscalers(),
    "ingressclasses.networking.k8s.io": IngressClasses(),
    "ingresses.networking.k8s.io": Ingresses(),
    "ipaddresses.networking.k8s.io": IPAddresses(),
    "jobs.batch": Jobs(),
    "leasecandidates.coordination.k8s.io": LeaseCandidates(),
    "leases.coordination.k8s.io": Leases(),
    "limitranges": LimitRanges(),
    "mutatingadmissionpolicies.admissionregistration.k8s.io": MutatingAdmissionPolicies(),
    "mutatingadmissionpolicybindings.admissionregistration.k8s.io": MutatingAdmissionPolicyBindings(),
    "mutatingwebhookconfigurations.admissionregistration.k8s.io": WebhookConfigurations(mutating=True),
    "namespaces": Namespaces(finalize=Finalize()),
    "networkpolicies.networking.k8s.io": NetworkPolicies(),
    "nodes": Nodes(),
    "persistentvolumeclaims": VolumeClaims(),
    "persistentvolumes": Volumes(),
    "podcertificaterequests.certificates.k8s.io": Guarded(),
    "poddisruptionbudgets.policy": DisruptionBudgets(),
    "podgroups.scheduling.k8s.io": PodGroups(),
    "pods": Pods(resize=Resize(), ephemeralcontainers=EphemeralContainers()),
    "podtemplates": PodTemplates(),
    "priorityclasses.scheduling.k8s.io": PriorityClasses(),
    "prioritylevelconfigurations.flowcontrol.apiserver.k8s.io": PriorityLevels(),
    "replicasets.apps": ReplicaSets(),
    "replicationcontrollers": ReplicationControllers(),
    "resourceclaims.resource.k8s.io": ResourceClaims(),
    "resourceclaimtemplates.resource.k8s.io": ResourceClaimTemplates(),
    "resourcepoolstatusrequests.resource.k8s.io": Guarded(),
    "resourcequotas": ResourceQuotas(),
    "resourceslices.resource.k8s.io": ResourceSlices(),
    "rolebindings.rbac.authorization.k8s.io": RoleBindings(),
    "roles.rbac.authorization.k8s.io": Roles(),
    "runtimeclasses.node.k8s.io": RuntimeClasses(),
    "secrets": Secrets(),
    "serviceaccounts": ServiceAccounts(),
    "servicecidrs.networking.k8s.io": ServiceCIDRs(),
    "services": Services(),
    "statefulsets.apps": StatefulSets(),
    "storageclasses.storage.k8s.io": StorageClasses(),
    "storageversionmigrations.storagemigration.k8s.io": Guarded(),
    "storageversions.internal.apiserver.k8s.io": Guarded(),
    "validatingadmissionpolicies.admissionregistration.k8s.io": ValidatingAdmissionPolicies(),
    "validatingadmissionpolicybindings.admissionregistration.k8s.io": ValidatingAdmissionPolicyBindings(),
    "validatingwebhookconfigurations.admissionregistration.k8s.io": WebhookConfigurations(),
    "volumeattachments.storage.k8s.io": csi.VolumeAttachments(),
    "volumeattributesclasses.storage.k8s.io": VolumeAttributesClasses(),
    "workloads.scheduling.k8s.io": Workloads(),
}

ACTIONS: Mapping[tuple[str, str], Action] = {
    ("bindings", ""): Bindings(),
    ("deployments.apps", "scale"): Scale(),
    ("localsubjectaccessreviews.authorization.k8s.io", ""): AccessReviews(),
    ("nodes", "proxy"): NodeProxy(),
    ("pods", "attach"): Connections(),
    ("pods", "binding"): Bindings(),
    ("pods", "eviction"): Evictions(),
    ("pods", "exec"): Connections(),
    ("pods", "log"): Log(),
    ("pods", "portforward"): PortForward(),
    ("pods", "proxy"): PodProxy(),
    ("replicasets.apps", "scale"): Scale(),
    ("replicationcontrollers", "scale"): Scale(),
    ("selfsubjectaccessreviews.authorization.k8s.io", ""): AccessReviews(),
    ("selfsubjectreviews.authentication.k8s.io", ""): SelfReviews(),
    ("selfsubjectrulesreviews.authorization.k8s.io", ""): RulesReviews(),
    ("serviceaccounts", "token"): TokenRequests(),
    ("statefulsets.apps", "scale"): Scale(),
    ("subjectaccessreviews.authorization.k8s.io", ""): AccessReviews(),
    ("tokenreviews.authentication.k8s.io", ""): TokenReviews(),
}


for version in (events.NEW, "events.k8s.io/v1beta1"):
    conversion.FROM_STORED[events.STORAGE, version] = events.to_new
    conversion.TO_STORED[events.STORAGE, version] = events.to_core
