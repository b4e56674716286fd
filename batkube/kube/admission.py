"""The admission plugins of kube-apiserver by name (`pkg/kubeapiserver/options/plugins.go`): which there are, which are
at work unless told otherwise, and which can be turned off or on here.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

ON = (
    "NamespaceLifecycle",
    "LimitRanger",
    "ServiceAccount",
    "TaintNodesByCondition",
    "PodSecurity",
    "Priority",
    "DefaultTolerationSeconds",
    "DefaultStorageClass",
    "StorageObjectInUseProtection",
    "PodGroupProtection",
    "PersistentVolumeClaimResize",
    "RuntimeClass",
    "CertificateApproval",
    "CertificateSigning",
    "ClusterTrustBundleAttest",
    "CertificateSubjectRestriction",
    "DefaultIngressClass",
    "PodTopologyLabels",
    "PodGroupWorkloadExists",
    "NodeDeclaredFeatureValidator",
    "JobValidation",
    "PodResizeValidator",
    "MutatingAdmissionPolicy",
    "MutatingAdmissionWebhook",
    "ValidatingAdmissionPolicy",
    "ValidatingAdmissionWebhook",
    "ResourceQuota",
)
"""At work in kube-apiserver by default."""

OFF = (
    "AlwaysAdmit",
    "NamespaceAutoProvision",
    "NamespaceExists",
    "LimitPodHardAntiAffinityTopology",
    "NodeRestriction",
    "AlwaysPullImages",
    "ImagePolicyWebhook",
    "PodNodeSelector",
    "PodTolerationRestriction",
    "EventRateLimit",
    "ExtendedResourceToleration",
    "OwnerReferencesPermissionEnforcement",
    "DenyServiceExternalIPs",
    "AlwaysDeny",
)
"""Off by default."""

OPTIONAL = ("AlwaysAdmit", "ExtendedResourceToleration", "LimitPodHardAntiAffinityTopology", "PodTolerationRestriction")
"""Those of OFF that can be turned on here."""


class AdmissionError(ValueError):
    """Plugins that cannot be chosen so. The text names the option and the plugin."""


def disabled_plugins(
    enable: Sequence[str] = (), disable: Sequence[str] = (), *, by_default: Iterable[str] = OFF
) -> frozenset[str]:
    """The plugins that are not at work, given what `--enable-admission-plugins` and `--disable-admission-plugins` say.
    Raises AdmissionError.
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
