"""The table of kinds that have rules of their own, and of the actions: one line each, in order of their names."""

from __future__ import annotations

from collections.abc import Mapping

from . import conversion
from .binding import bind
from .kinds import csi, events
from .kinds.access import RoleBindings, Roles
from .kinds.admission_policies import (
    MutatingAdmissionPolicies,
    MutatingAdmissionPolicyBindings,
    ValidatingAdmissionPolicies,
    ValidatingAdmissionPolicyBindings,
)
from .kinds.api_services import APIServices
from .kinds.autoscaling import HorizontalPodAutoscalers
from .kinds.claims import ResourceClaims, ResourceClaimTemplates
from .kinds.component_statuses import ComponentStatuses
from .kinds.config import ConfigMaps, Secrets
from .kinds.controller_revisions import ControllerRevisions
from .kinds.cron_jobs import CronJobs
from .kinds.daemon_sets import DaemonSets
from .kinds.devices import DeviceClasses
from .kinds.endpoints import Endpoints, EndpointSlices
from .kinds.events import Events
from .kinds.eviction import evict
from .kinds.flow_control import FlowSchemas, PriorityLevels
from .kinds.ingresses import IngressClasses, Ingresses
from .kinds.ip_addresses import IPAddresses
from .kinds.jobs import Jobs
from .kinds.leases import LeaseCandidates, Leases
from .kinds.limit_ranges import LimitRanges
from .kinds.namespaces import Namespaces
from .kinds.network import NetworkPolicies
from .kinds.nodes import Nodes
from .kinds.pod_connections import connect, log, node_proxy, proxy
from .kinds.pod_groups import PodGroups, Workloads
from .kinds.pod_templates import PodTemplates
from .kinds.pods import Pods
from .kinds.policy import DisruptionBudgets, PriorityClasses
from .kinds.quota import ResourceQuotas
from .kinds.replication_controllers import ReplicationControllers
from .kinds.resource_slices import ResourceSlices
from .kinds.reviews import review_access, review_rules, review_self, review_token
from .kinds.runtime_classes import RuntimeClasses
from .kinds.scale import scale
from .kinds.service_accounts import ServiceAccounts, request_token
from .kinds.service_cidrs import ServiceCIDRs
from .kinds.services import Services
from .kinds.signing_requests import CertificateSigningRequests
from .kinds.stateful_sets import StatefulSets
from .kinds.storage_classes import StorageClasses, VolumeAttributesClasses
from .kinds.volume_claims import VolumeClaims
from .kinds.volumes import Volumes
from .kinds.webhooks import WebhookConfigurations
from .kinds.workloads import Deployments, ReplicaSets
from .strategy import Action, Guarded, Strategy

STRATEGIES: Mapping[str, Strategy] = {
    "apiservices.apiregistration.k8s.io": APIServices(),
    "certificatesigningrequests.certificates.k8s.io": CertificateSigningRequests(),
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
    "namespaces": Namespaces(),
    "networkpolicies.networking.k8s.io": NetworkPolicies(),
    "nodes": Nodes(),
    "persistentvolumeclaims": VolumeClaims(),
    "persistentvolumes": Volumes(),
    "podcertificaterequests.certificates.k8s.io": Guarded(),
    "poddisruptionbudgets.policy": DisruptionBudgets(),
    "podgroups.scheduling.k8s.io": PodGroups(),
    "pods": Pods(),
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
    ("bindings", ""): bind,
    ("deployments.apps", "scale"): scale,
    ("localsubjectaccessreviews.authorization.k8s.io", ""): review_access,
    ("nodes", "proxy"): node_proxy,
    ("pods", "attach"): connect,
    ("pods", "binding"): bind,
    ("pods", "eviction"): evict,
    ("pods", "exec"): connect,
    ("pods", "log"): log,
    ("pods", "portforward"): connect,
    ("pods", "proxy"): proxy,
    ("replicasets.apps", "scale"): scale,
    ("replicationcontrollers", "scale"): scale,
    ("selfsubjectaccessreviews.authorization.k8s.io", ""): review_access,
    ("selfsubjectreviews.authentication.k8s.io", ""): review_self,
    ("selfsubjectrulesreviews.authorization.k8s.io", ""): review_rules,
    ("serviceaccounts", "token"): request_token,
    ("statefulsets.apps", "scale"): scale,
    ("subjectaccessreviews.authorization.k8s.io", ""): review_access,
    ("tokenreviews.authentication.k8s.io", ""): review_token,
}


for version in (events.NEW, "events.k8s.io/v1beta1"):
    conversion.FROM_STORED[events.STORAGE, version] = events.to_new
    conversion.TO_STORED[events.STORAGE, version] = events.to_core
