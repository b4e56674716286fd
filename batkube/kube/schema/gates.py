"""The feature gates that can be set here, by their names in kube-apiserver (`pkg/features/kube_features.go`).

The API groups of alpha features are always served, for schedulers that know them (`resources.py`). A gate is needed if
the answers to other clients depend on it: for fields of objects that all clients use (`gated_fields.py`), and for
rules.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from .booleans import read_booleans

OPTION = "--feature-gates"

CONTAINER_STOP_SIGNALS = "ContainerStopSignals"
"""The gate that lets containers name the signal by which they are stopped."""
IMAGE_VOLUME_DIGEST = "ImageVolumeWithDigest"
"""The gate that lets the status of a pod name the image of an image volume."""
POD_CERTIFICATES = "PodCertificateRequest"
"""The gate that lets volumes be projected from certificates of the pod."""
TRUST_BUNDLES = "ClusterTrustBundleProjection"
"""The gate that lets volumes be projected from bundles of certificates that the cluster trusts."""
COMPARISON_OPERATORS = "TaintTolerationComparisonOperators"
"""The gate that lets tolerations have the operators Gt and Lt."""
LIST_ATTRIBUTES = "DRAListTypeAttributes"
"""The gate that lets attributes of devices have lists of values. The fields are dropped if it is off."""
NODE_ALLOCATABLE = "DRANodeAllocatableResources"
"""The gate that lets devices count as resources of their node. The fields are dropped if it is off."""
VOLUME_LIMIT_SCALING = "VolumeLimitScaling"
"""The gate that lets CSI drivers say that pods need them on their node. The field is dropped if it is off."""
GENERIC_WORKLOAD = "GenericWorkload"
"""The gate that protects new pod groups (admission plugin PodGroupProtection) until a controller manager finds them
unused.
"""

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
"""The gates that make a difference here. All are off by default."""


class GateError(ValueError):
    """Feature gates that cannot be read. The text names the option and the words."""


def read_gates(texts: Iterable[str]) -> dict[str, bool]:
    """Return the gates in `A=true,B=false`. Raise GateError if the text is malformed."""
    try:
        return read_booleans(texts)
    except ValueError as error:
        raise GateError(f"{OPTION}: {error}") from None


def enabled_gates(gates: Mapping[str, bool]) -> frozenset[str]:
    """Return those of GATES that are on."""
    return frozenset(name for name, on in gates.items() if on and name in GATES)


def without_effect(gates: Mapping[str, bool]) -> Sequence[str]:
    """Return the gates that have no effect here: of features that this server does not have, or always has."""
    return sorted(name for name in gates if name not in GATES)
