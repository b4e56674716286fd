"""The table of admission plugins: all of kube-apiserver's in its order (`AllOrderedPlugins` in
`pkg/kubeapiserver/options/plugins.go`).

It says which plugins exist, which are at work by default, and which can be turned off or on here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .always_admit import AlwaysAdmit
from .certificate_subject_restriction import CertificateSubjectRestriction
from .chain import Admission
from .default_storage_class import DefaultStorageClass
from .default_toleration_seconds import DefaultTolerationSeconds
from .extended_resource_toleration import ExtendedResourceToleration
from .limit_pod_hard_anti_affinity_topology import LimitPodHardAntiAffinityTopology
from .limit_ranger import LimitRanger
from .namespace_lifecycle import NamespaceLifecycle
from .node_declared_feature_validator import NodeDeclaredFeatureValidator
from .persistent_volume_claim_resize import PersistentVolumeClaimResize
from .plugin import Elsewhere, Plugin
from .pod_group_protection import PodGroupProtection
from .pod_group_workload_exists import PodGroupWorkloadExists
from .pod_resize_validator import PodResizeValidator
from .pod_toleration_restriction import PodTolerationRestriction
from .pod_topology_labels import PodTopologyLabels
from .priority import Priority
from .resource_quota import ResourceQuota
from .runtime_class import RuntimeClass
from .storage_object_in_use_protection import StorageObjectInUseProtection
from .taint_nodes_by_condition import TaintNodesByCondition

PLUGINS: tuple[Plugin, ...] = (
    AlwaysAdmit(),
    Elsewhere("NamespaceAutoProvision", by_default=False),
    NamespaceLifecycle(),
    Elsewhere("NamespaceExists", by_default=False),
    LimitPodHardAntiAffinityTopology(),
    LimitRanger(),
    Elsewhere("ServiceAccount"),
    Elsewhere("NodeRestriction", by_default=False),
    TaintNodesByCondition(),
    Elsewhere("AlwaysPullImages", by_default=False),
    Elsewhere("ImagePolicyWebhook", by_default=False),
    Elsewhere("PodSecurity"),
    Elsewhere("PodNodeSelector", by_default=False),
    Priority(),
    DefaultTolerationSeconds(),
    PodTolerationRestriction(),
    Elsewhere("EventRateLimit", by_default=False),
    ExtendedResourceToleration(),
    DefaultStorageClass(),
    StorageObjectInUseProtection(),
    PodGroupProtection(),
    Elsewhere("OwnerReferencesPermissionEnforcement", by_default=False),
    PersistentVolumeClaimResize(),
    RuntimeClass(),
    Elsewhere("CertificateApproval"),
    Elsewhere("CertificateSigning"),
    Elsewhere("ClusterTrustBundleAttest"),
    CertificateSubjectRestriction(),
    Elsewhere("DefaultIngressClass"),
    Elsewhere("DenyServiceExternalIPs", by_default=False),
    PodTopologyLabels(),
    PodGroupWorkloadExists(),
    NodeDeclaredFeatureValidator(),
    Elsewhere("JobValidation"),
    PodResizeValidator(),
    Elsewhere("MutatingAdmissionPolicy"),
    Elsewhere("MutatingAdmissionWebhook"),
    Elsewhere("ValidatingAdmissionPolicy"),
    Elsewhere("ValidatingAdmissionWebhook"),
    ResourceQuota(),
    Elsewhere("AlwaysDeny", by_default=False),
)

ON = tuple(plugin.name for plugin in PLUGINS if plugin.by_default)
"""The plugins that are at work in kube-apiserver by default."""

OFF = tuple(plugin.name for plugin in PLUGINS if not plugin.by_default)
"""The plugins that are off by default."""

OPTIONAL = tuple(sorted(plugin.name for plugin in PLUGINS if not plugin.by_default and type(plugin) is not Elsewhere))
"""The plugins of OFF that can be turned on here."""


class AdmissionError(ValueError):
    """A choice of plugins that is impossible. The text names the option and the plugin."""


def disabled_plugins(
    enable: Sequence[str] = (), disable: Sequence[str] = (), *, by_default: Iterable[str] = OFF
) -> frozenset[str]:
    """Return the plugins that are not at work with these `--enable-admission-plugins` and
    `--disable-admission-plugins`.

    Raise AdmissionError if a plugin is unknown, cannot be enabled here, or is named in both.
    """
    for option, names in (("--enable-admission-plugins", enable), ("--disable-admission-plugins", disable)):
        for name in names:
            if name not in ON and name not in OFF:
                raise AdmissionError(f"{option}: kube-apiserver has no plugin {name!r}; it has {', '.join(ON + OFF)}")
    for name in enable:
        if name in disable:
            raise AdmissionError(f"--enable-admission-plugins: {name} is to be disabled as well")
        if name in OFF and name not in OPTIONAL:
            raise AdmissionError(
                f"--enable-admission-plugins: {name} is not there; beside those at work by default there are "
                f"{', '.join(OPTIONAL)}"
            )
    return (frozenset(by_default) | frozenset(disable)) - frozenset(enable)


def admission(disabled: frozenset[str] = frozenset(OFF)) -> Admission:
    """Return the chain of the plugins that are at work."""
    return Admission(plugin for plugin in PLUGINS if plugin.name not in disabled)
