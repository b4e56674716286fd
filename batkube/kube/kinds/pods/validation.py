"""The rules for a pod that the API server accepts (`ValidatePodSpec` in `pkg/apis/core/validation/validation.go`)."""

from __future__ import annotations

from typing import Any

from ...apimachinery.metadata import Errors, problems, validate_labels
from ...apimachinery.names import dns_label, dns_subdomain, ip_address, qualified_name, underscored_subdomain
from ...apimachinery.status import FieldError
from ..resource_validation import validate_pod_requirements, validate_requirements
from .annotations import containers_of, validate_pod_annotations, validate_profiles
from .container_validation import validate_containers, validate_ephemeral
from .scheduling_validation import (
    validate_affinity,
    validate_claims,
    validate_gates,
    validate_spread,
    validate_tolerations,
)
from .security_validation import validate_pod_security
from .systems import validate_host_process, validate_system
from .volume_validation import validate_tokens, validate_volumes

JSON = dict[str, Any]

_RESTART_POLICIES = ("Always", "OnFailure", "Never")
_DNS_POLICIES = ("ClusterFirstWithHostNet", "ClusterFirst", "Default", "None")
_PREEMPTION_POLICIES = ("PreemptLowerPriority", "Never")
_MAX_DEADLINE = (1 << 31) - 1
_MAX_HOSTNAME = 64
_MAX_NAMESERVERS, _MAX_SEARCHES, _MAX_SEARCH_CHARACTERS = 3, 32, 2048


def validate_pod(pod: JSON, *, comparing: bool = False) -> Errors:
    """Return the errors in a pod that a new and a changed one can have."""
    spec, metadata = pod["spec"], pod["metadata"]
    errors: Errors = []
    if annotations := metadata.get("annotations"):
        errors += validate_pod_annotations(annotations, spec, "metadata.annotations", comparing=comparing)
    errors += validate_pod_spec(spec, "spec", metadata.get("name", ""), comparing=comparing)
    if spec.get("volumes") and not spec.get("serviceAccountName"):
        errors.extend(validate_tokens(spec["volumes"], "spec.volumes"))
    for key in ("containers", "initContainers"):
        for index, container in enumerate(spec.get(key) or ()):
            image = container.get("image", "")
            if image != image.strip():
                why = "must not have leading or trailing whitespace"
                errors.append(FieldError.invalid(f"spec.{key}[{index}].image", image, why))
    return errors


def validate_new_pod(pod: JSON, *, comparing: bool = False) -> Errors:
    """Return the errors in a new pod."""
    spec, errors = pod["spec"], validate_pod(pod, comparing=comparing)
    if spec.get("ephemeralContainers"):
        errors.append(FieldError.forbidden("spec.ephemeralContainers", "cannot be set on create"))
    if spec.get("nodeName") and spec.get("schedulingGates"):
        why = "cannot be set until all schedulingGates have been cleared"
        errors.append(FieldError.forbidden("spec.nodeName", why))
    return [*errors, *validate_profiles(pod["metadata"].get("annotations") or {}, spec, "spec")]


def validate_pod_spec(spec: JSON, path: str, pod_name: str = "", *, comparing: bool = False) -> Errors:
    """Check the spec of a pod (`pod_name` given) or of a template. `comparing`: its tolerations may compare numbers."""
    errors: Errors = []
    volumes: dict[str, JSON] = {}
    if spec.get("volumes"):
        wrong, volumes = validate_volumes(spec["volumes"], f"{path}.volumes", pod_name)
        errors.extend(wrong)
    if claims := spec.get("resourceClaims"):
        errors.extend(validate_claims(claims, f"{path}.resourceClaims"))
    errors.extend(validate_containers(spec, path, volumes))
    if spec.get("ephemeralContainers"):
        errors.extend(validate_ephemeral(spec, path, volumes))
    if spec.get("resources") and (spec.get("os") or {}).get("name") == "windows":
        errors.append(FieldError.forbidden(f"{path}.resources", "may not be set for a windows pod"))
    elif spec.get("resources"):
        errors.extend(validate_pod_requirements(spec, f"{path}.resources"))
    if spec.get("hostNetwork"):
        errors.extend(_validate_host_ports(spec, path))
    errors.extend(_validate_word(spec.get("restartPolicy", ""), _RESTART_POLICIES, f"{path}.restartPolicy"))
    errors.extend(_validate_word(spec.get("dnsPolicy", ""), _DNS_POLICIES, f"{path}.dnsPolicy"))
    if selector := spec.get("nodeSelector"):
        errors.extend(validate_labels(selector, f"{path}.nodeSelector"))
    if (context := spec.get("securityContext")) is not None:
        errors.extend(validate_pod_security(context, spec, f"{path}.securityContext"))
    if affinity := spec.get("affinity"):
        errors.extend(validate_affinity(affinity, f"{path}.affinity"))
    errors.extend(_validate_dns(spec, f"{path}.dnsConfig"))
    for index, gate in enumerate(spec.get("readinessGates") or ()):
        kind = gate.get("conditionType", "")
        errors.extend(problems(f"{path}.readinessGates[{index}].conditionType", kind, qualified_name(kind)))
    if gates := spec.get("schedulingGates"):
        errors.extend(validate_gates(gates, f"{path}.schedulingGates"))
    if spread := spec.get("topologySpreadConstraints"):
        errors.extend(validate_spread(spread, f"{path}.topologySpreadConstraints"))
    errors.extend(validate_host_process(spec, path))
    if spec.get("hostUsers") is False:
        errors.extend(_validate_own_users(spec, path))
    errors.extend(_validate_override(spec, path))
    errors.extend(_validate_names(spec, path, ("serviceAccountName", "nodeName")))
    deadline = spec.get("activeDeadlineSeconds")
    if deadline is not None and not 1 <= deadline <= _MAX_DEADLINE:
        why = f"must be between 1 and {_MAX_DEADLINE}, inclusive"
        errors.append(FieldError.invalid(f"{path}.activeDeadlineSeconds", deadline, why))
    for field in ("hostname", "subdomain"):
        if name := spec.get(field):
            errors.extend(problems(f"{path}.{field}", name, dns_label(name)))
    if tolerations := spec.get("tolerations"):
        errors.extend(validate_tolerations(tolerations, f"{path}.tolerations", comparing=comparing))
    if aliases := spec.get("hostAliases"):
        errors.extend(_validate_aliases(aliases, f"{path}.hostAliases"))
    errors.extend(_validate_names(spec, path, ("priorityClassName", "runtimeClassName")))
    if (policy := spec.get("preemptionPolicy")) is not None:
        errors.extend(_validate_word(policy, _PREEMPTION_POLICIES, f"{path}.preemptionPolicy"))
    if overhead := spec.get("overhead"):
        errors.extend(validate_requirements({"limits": overhead}, f"{path}.overhead"))
    errors.extend(validate_system(spec, path))
    if (group := spec.get("schedulingGroup")) is not None:
        errors.extend(_validate_group(group, f"{path}.schedulingGroup"))
    return [*errors, *_validate_file_references(spec, path)]


def _validate_group(group: JSON, path: str) -> Errors:
    name = group.get("podGroupName")
    if name is None:
        return [FieldError.invalid(f"{path}.podGroupName", None, "must specify one of: `podGroupName`")]
    return problems(f"{path}.podGroupName", name, dns_subdomain(name))


def _validate_file_references(spec: JSON, path: str) -> Errors:
    """Check the variables whose values are in a file of an emptyDir."""
    errors: Errors = []
    volumes = {volume.get("name", ""): volume for volume in spec.get("volumes") or ()}
    for key in ("initContainers", "containers"):
        for index, container in enumerate(spec.get(key) or ()):
            for at, variable in enumerate(container.get("env") or ()):
                reference = (variable.get("valueFrom") or {}).get("fileKeyRef")
                if reference is None:
                    continue
                where = f"{path}.{key}[{index}].env[{at}].valueFrom.fileKeyRef.volumeName"
                name = reference.get("volumeName", "")
                if name not in volumes:
                    errors.append(FieldError.not_found(where, name))
                elif volumes[name].get("emptyDir") is None:
                    errors.append(FieldError.invalid(where, name, "referenced volume must be of type emptyDir"))
    return errors


def _validate_host_ports(spec: JSON, path: str) -> Errors:
    """Check that in the host's network a host port is the container's port. (In templates it may be absent.)"""
    return [
        FieldError.invalid(
            f"{path}.containers[{index}].ports[{at}].hostPort",
            port["hostPort"],
            "must match `containerPort` when `hostNetwork` is true",
        )
        for index, container in enumerate(spec.get("containers") or ())
        for at, port in enumerate(container.get("ports") or ())
        if port.get("hostPort") and port["hostPort"] != port.get("containerPort", 0)
    ]


def _validate_word(word: str, allowed: tuple[str, ...], path: str) -> Errors:
    """Check a field that allows only these words, in the order in which the error has them."""
    if word in allowed:
        return []
    return [FieldError.not_supported(path, word, allowed) if word else FieldError.required(path)]


def _validate_names(spec: JSON, path: str, fields: tuple[str, ...]) -> Errors:
    """Check the names of other objects."""
    errors: Errors = []
    for field in fields:
        name = spec.get(field)
        if name or (name is not None and field == "runtimeClassName"):
            errors.extend(problems(f"{path}.{field}", name, dns_subdomain(name)))
    return errors


def _validate_override(spec: JSON, path: str) -> Errors:
    """Check the name that the pod has in the network in place of its own."""
    override, where = spec.get("hostnameOverride"), f"{path}.hostnameOverride"
    if override is None:
        return []
    errors: Errors = []
    if spec.get("setHostnameAsFQDN"):
        errors.append(FieldError.forbidden(where, "may not be specified when setHostnameAsFQDN is true"))
    if spec.get("hostNetwork"):
        errors.append(FieldError.forbidden(where, "may not be specified when hostNetwork is true"))
    if len(override.encode()) > _MAX_HOSTNAME:
        errors.append(FieldError.too_long(where, _MAX_HOSTNAME))
    return errors + problems(where, override, dns_subdomain(override))


def _validate_dns(spec: JSON, path: str) -> Errors:
    config = spec.get("dnsConfig")
    if spec.get("dnsPolicy") == "None":
        if config is None:
            return [FieldError.required(path, "must provide `dnsConfig` when `dnsPolicy` is None")]
        if not config.get("nameservers"):
            why = "must provide at least one DNS nameserver when `dnsPolicy` is None"
            return [FieldError.required(f"{path}.nameservers", why)]
    if not config:
        return []
    errors: Errors = []
    servers, searches = config.get("nameservers") or [], config.get("searches") or []
    if len(servers) > _MAX_NAMESERVERS:
        why = f"must not have more than {_MAX_NAMESERVERS} nameservers"
        errors.append(FieldError.invalid(f"{path}.nameservers", servers, why))
    for index, server in enumerate(servers):
        errors.extend(problems(f"{path}.nameservers[{index}]", server, ip_address(server)))
    if len(searches) > _MAX_SEARCHES:
        why = f"must not have more than {_MAX_SEARCHES} search paths"
        errors.append(FieldError.invalid(f"{path}.searches", searches, why))
    if len(" ".join(searches)) > _MAX_SEARCH_CHARACTERS:
        why = f"must not have more than {_MAX_SEARCH_CHARACTERS} characters (including spaces) in the search list"
        errors.append(FieldError.invalid(f"{path}.searches", searches, why))
    for index, search in enumerate(searches):
        if search != ".":
            name = search.removesuffix(".")
            errors.extend(problems(f"{path}.searches[{index}]", name, underscored_subdomain(name)))
    for index, option in enumerate(config.get("options") or ()):
        if not option.get("name"):
            errors.append(FieldError.required(f"{path}.options[{index}]", "must not be empty"))
    return errors


def _validate_own_users(spec: JSON, path: str) -> Errors:
    """Check that a pod with its own user namespace shares nothing with the host."""
    why = "when `hostUsers` is false"
    shared = (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC"))
    errors = [FieldError.forbidden(f"{path}.{shown}", why) for key, shown in shared if spec.get(key)]
    devices = [at for container, at in containers_of(spec, path) if container.get("volumeDevices")]
    return [*errors, *(FieldError.forbidden(f"{at}.volumeDevices", why) for at in devices)]


def _validate_aliases(aliases: list[JSON], path: str) -> Errors:
    errors: Errors = []
    for index, alias in enumerate(aliases):
        address = alias.get("ip", "")
        errors.extend(problems(f"{path}[{index}].ip", address, ip_address(address)))
        for at, hostname in enumerate(alias.get("hostnames") or ()):
            errors.extend(problems(f"{path}[{index}].hostnames[{at}]", hostname, dns_subdomain(hostname)))
    return errors
