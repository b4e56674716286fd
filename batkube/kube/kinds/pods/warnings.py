"""The warnings of the API server about a new pod: it is valid, but hardly intended (`pkg/api/pod/warnings.go`)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...apimachinery.names import dns_label
from ...apimachinery.quantity import Quantity
from ..core.volume_claims import claim_warnings
from ..node_labels import DEPRECATED, warnings_of_expressions
from .annotations import APP_ARMOR, SECCOMP, SECCOMP_OF_POD, app_armor_profile, containers_of, deprecated_app_armor
from .volume_warnings import overlaps_in

JSON = dict[str, Any]

_DEAD_VOLUMES = {
    "photonPersistentDisk": "deprecated in v1.11, non-functional in v1.16+",
    "gitRepo": "deprecated in v1.11, and disabled by default in v1.33+",
    "scaleIO": "deprecated in v1.16, non-functional in v1.22+",
    "flocker": "deprecated in v1.22, non-functional in v1.25+",
    "storageos": "deprecated in v1.22, non-functional in v1.25+",
    "quobyte": "deprecated in v1.22, non-functional in v1.25+",
    "glusterfs": "deprecated in v1.25, non-functional in v1.26+",
    "cephfs": "deprecated in v1.28, non-functional in v1.31+",
    "rbd": "deprecated in v1.28, non-functional in v1.31+",
}
_DEAD_ANNOTATIONS = {
    "scheduler.alpha.kubernetes.io/critical-pod": 'non-functional in v1.16+; use the "priorityClassName" field instead',
    "security.alpha.kubernetes.io/sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
    "security.alpha.kubernetes.io/unsafe-sysctls": 'non-functional in v1.11+; use the "sysctls" field instead',
}
_NO_SECCOMP = 'non-functional in v1.27+; use the "seccompProfile" field instead'
_BYTES = ("memory", "ephemeral-storage")
_NULL_SELECTOR = "a null labelSelector results in matching no pod"
_REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
_PREFERRED = "preferredDuringSchedulingIgnoredDuringExecution"


def warnings_of(pod: JSON) -> list[str]:
    """Return the warnings of a new pod, in the real server's order."""
    name = pod["metadata"]["name"]
    warnings = []
    wrong = dns_label(name)
    if wrong:
        warnings.append(
            "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS label "
            f"is recommended: [{' '.join(wrong)}]"
        )
    warnings.extend(warnings_of_spec(pod["spec"], pod["metadata"], ""))
    return warnings


def warnings_of_spec(spec: JSON, metadata: JSON, path: str) -> Iterator[str]:
    """Yield the warnings of a pod's spec, or of a template's spec (`path` then ends with a dot)."""
    for key in spec.get("nodeSelector") or ():
        if key in DEPRECATED:
            yield f"{path}spec.nodeSelector[{key}]: {DEPRECATED[key]}"
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    at = f"{path}spec.affinity.nodeAffinity"
    for index, term in enumerate((affinity.get(_REQUIRED) or {}).get("nodeSelectorTerms") or ()):
        yield from warnings_of_expressions(
            term.get("matchExpressions") or [], f"{at}.{_REQUIRED}.nodeSelectorTerms[{index}]"
        )
    for index, weighted in enumerate(affinity.get(_PREFERRED) or ()):
        preference = weighted.get("preference") or {}
        yield from warnings_of_expressions(
            preference.get("matchExpressions") or [], f"{at}.{_PREFERRED}[{index}].preference", values=True
        )
    for index, constraint in enumerate(spec.get("topologySpreadConstraints") or ()):
        at, topology = f"{path}spec.topologySpreadConstraints[{index}]", constraint.get("topologyKey", "")
        if topology in DEPRECATED:
            yield f"{at}.topologyKey: {topology} is {DEPRECATED[topology]}"
        if constraint.get("labelSelector") is None:
            yield f"{at}.labelSelector: {_NULL_SELECTOR}"
    for key, why in _DEAD_ANNOTATIONS.items():
        if key in (metadata.get("annotations") or {}):
            yield f"{path}metadata.annotations[{key}]: {why}"
    for index, volume in enumerate(spec.get("volumes") or ()):
        for source in volume:
            if source in _DEAD_VOLUMES:
                yield f"{path}spec.volumes[{index}].{source}: {_DEAD_VOLUMES[source]}"
        if template := (volume.get("ephemeral") or {}).get("volumeClaimTemplate"):
            at = f"{path}spec.volumes[{index}].ephemeral.volumeClaimTemplate.spec"
            yield from claim_warnings(template.get("spec") or {}, at)
    yield from overlaps_in(spec.get("volumes") or ())
    for list_name, key, what in (("hostAliases", "ip", "ip"), ("imagePullSecrets", "name", "name")):
        yield from _duplicates(spec.get(list_name) or (), f"{path}spec.{list_name}", key, what)
    for index, secret in enumerate(spec.get("imagePullSecrets") or ()):
        if not secret.get("name"):
            yield f'{path}spec.imagePullSecrets[{index}].name: invalid empty name ""'
    for name in _BYTES:
        yield from _of_bytes((spec.get("overhead") or {}).get(name), f"{path}spec.overhead[{name}]")
    annotations, context = metadata.get("annotations") or {}, spec.get("securityContext") or {}
    if context.get("seccompProfile") is None and SECCOMP_OF_POD in annotations:
        yield f"{path}metadata.annotations[{SECCOMP_OF_POD}]: {_NO_SECCOMP}"
    containers = list(containers_of(spec, f"{path}spec"))
    for container, at in containers:
        if annotations:
            yield from _of_profiles(container, annotations, context.get("appArmorProfile"), path)
        yield from _of_container(container, at)
    yield from _of_ports(containers)
    grace = spec.get("terminationGracePeriodSeconds")
    if grace is not None and grace < 0:
        why = "must be >= 0; negative values are invalid and will be treated as 1"
        yield f"{path}spec.terminationGracePeriodSeconds: {why}"
    for kind in ("podAffinity", "podAntiAffinity"):
        affinity = (spec.get("affinity") or {}).get(kind) or {}
        for index, term in enumerate(affinity.get(_REQUIRED) or ()):
            if term.get("labelSelector") is None:
                yield f"{path}spec.affinity.{kind}.{_REQUIRED}[{index}].labelSelector: {_NULL_SELECTOR}"
        for index, weighted in enumerate(affinity.get(_PREFERRED) or ()):
            if (weighted.get("podAffinityTerm") or {}).get("labelSelector") is None:
                at = f"{path}spec.affinity.{kind}.{_PREFERRED}[{index}].podAffinityTerm.labelSelector"
                yield f"{at}: {_NULL_SELECTOR}"


def _of_profiles(container: JSON, annotations: JSON, shared: JSON | None, path: str) -> Iterator[str]:
    """Yield the warnings of profiles in annotations. AppArmor profiles of a pod move into fields when it is created."""
    context, name = container.get("securityContext") or {}, container.get("name", "")
    if context.get("seccompProfile") is None and SECCOMP + name in annotations:
        yield f"{path}metadata.annotations[{SECCOMP}{name}]: {_NO_SECCOMP}"
    profile = annotations.get(APP_ARMOR + name)
    if not path or profile is None or context.get("appArmorProfile") is not None:
        return
    if shared is None or shared != app_armor_profile(profile):
        yield deprecated_app_armor(APP_ARMOR + name, path)


def _duplicates(items: Any, path: str, key: str, what: str) -> Iterator[str]:
    seen = set()
    for index, item in enumerate(items):
        value = item.get(key, "")
        if value in seen:
            yield f'{path}[{index}].{key}: duplicate {what} "{value}"'
        seen.add(value)


def _of_container(container: JSON, path: str) -> Iterator[str]:
    resources = container.get("resources") or {}
    for name in _BYTES:
        for which in ("limits", "requests"):
            yield from _of_bytes((resources.get(which) or {}).get(name), f"{path}.resources.{which}[{name}]")
    seen = set()
    for index, variable in enumerate(container.get("env") or ()):
        name, value = variable.get("name", ""), variable.get("value", "")
        reference = f"$({name})"
        if name in seen:
            if variable.get("valueFrom") or value == reference or reference not in value:
                why = f'hides previous definition of "{name}", which may be dropped when using apply'
                yield f"{path}.env[{index}]: {why}"
        else:
            seen.add(name)


def _of_bytes(amount: str | None, path: str) -> Iterator[str]:
    if amount is not None and _fractional(amount):
        yield f'{path}: fractional byte value "{amount}" is invalid, must be an integer'


def _fractional(text: str) -> bool:
    """Return True if the quantity is not a whole number of bytes, in the real server's arithmetic.

    The real server counts thousandths in 64 bits, which wrap around.
    """
    amount = Quantity.parse(text).value
    if amount.denominator == 1 and abs(amount) >= (1 << 63) - 1:  # cut to what 64 bits hold, and whole
        return False
    thousandths = -(-amount.numerator * 1000 // amount.denominator)
    if abs(thousandths) >= 1 << 63:
        thousandths = (1 << 63) - 1
    return thousandths % 1000 != 0


def _of_ports(containers: list[tuple[JSON, str]]) -> Iterator[str]:
    seen: dict[tuple[int, str], list[tuple[str, str, int]]] = {}
    names: dict[str, str] = {}
    second: list[str] = []
    for container, path in containers:
        for index, port in enumerate(container.get("ports") or ()):
            at, address, host = f"{path}.ports[{index}]", port.get("hostIP", ""), port.get("hostPort", 0)
            if address and not host:
                yield f"{at}: hostIP set without hostPort: {port}"
            others = seen.setdefault((port.get("containerPort", 0), port.get("protocol", "")), [])
            for other, other_address, other_host in others:
                if (address, host) == (other_address, other_host):
                    yield f"{at}: duplicate port definition with {other}"
                elif not host or not other_host:
                    yield f"{at}: overlapping port definition with {other}"
                elif host == other_host and bool(address) != bool(other_address):
                    yield f"{at}: dangerously ambiguous port definition with {other}"
            others.append((at, address, host))
            name = port.get("name", "")
            if name and name in names:
                first = names[name]
                second.append(
                    f'{at}: duplicate port name "{name}" with {first}, services and probes that select ports by name '
                    f"will use {first}"
                )
            elif name:
                names[name] = at
    yield from second
