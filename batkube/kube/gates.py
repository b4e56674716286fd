"""Feature gates by their names in kube-apiserver (`pkg/features/kube_features.go`): which can be set here.

The API groups of alpha features are served in any case, for a scheduler that knows them (`resources.py`). A gate is
needed where the answers to others depend on it: fields of objects that all have (`gated_fields.py`), and rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .booleans import read_booleans

OPTION = "--feature-gates"

CONTAINER_STOP_SIGNALS = "ContainerStopSignals"
"""Containers may say by which signal they are stopped."""
IMAGE_VOLUME_DIGEST = "ImageVolumeWithDigest"
"""The status of a pod may say which image a volume of images is."""
POD_CERTIFICATES = "PodCertificateRequest"
"""Volumes may be projected from certificates of the pod."""
TRUST_BUNDLES = "ClusterTrustBundleProjection"
"""Volumes may be projected from bundles of certificates that the cluster trusts."""
COMPARISON_OPERATORS = "TaintTolerationComparisonOperators"
"""Tolerations may have the operators Gt and Lt."""
LIST_ATTRIBUTES = "DRAListTypeAttributes"
"""Attributes of devices may have lists of values; what is said of them is dropped otherwise."""
NODE_ALLOCATABLE = "DRANodeAllocatableResources"
"""Devices may count as resources of their node; what is said of that is dropped otherwise."""
VOLUME_LIMIT_SCALING = "VolumeLimitScaling"
"""CSI drivers may say that pods need them on their node; dropped otherwise."""
GENERIC_WORKLOAD = "GenericWorkload"
"""New pod groups are protected (admission plugin PodGroupProtection) until a controller manager finds them unused."""

GATES = (
    GENERIC_WORKLOAD,
    COMPARISON_OPERATORS,
    CONTAINER_STOP_SIGNALS,
    IMAGE_VOLUME_DIGEST,
    LIST_ATTRIBUTES,
    NODE_ALLOCATABLE,
    POD_CERTIFICATES,
    TRUST_BUNDLES,
    VOLUME_LIMIT_SCALING,
)
"""Those that make a difference; all are off by default."""


class GateError(ValueError):
    """What was said of feature gates cannot be read. The text names the option and the words."""


def read_gates(texts: Iterable[str]) -> dict[str, bool]:
    """The gates in `A=true,B=false`. Raises GateError."""
    try:
        return read_booleans(texts)
    except ValueError as error:
        raise GateError(f"{OPTION}: {error}") from None


def enabled_gates(gates: Mapping[str, bool]) -> frozenset[str]:
    """Those of GATES that are on."""
    return frozenset(name for name, on in gates.items() if on and name in GATES)


def without_effect(gates: Mapping[str, bool]) -> Sequence[str]:
    """Names that mean nothing here: gates of what this server has not, or has always."""
    return sorted(name for name in gates if name not in GATES)
