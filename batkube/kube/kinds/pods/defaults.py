"""The defaults that the API server sets in pods and pod templates (`pkg/apis/core/v1/defaults.go` of Kubernetes).

`default_pod_template` serves all kinds with a pod spec; `default_pod` adds what only a pod gets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

from ...apimachinery.quantity import Quantity
from ..resource_lists import round_up
from .image_names import parse_image_name

JSON = dict[str, Any]

_FILE_MODE = 0o644
_TOKEN_SECONDS = 3600
_CONTAINER_LISTS = ("containers", "initContainers", "ephemeralContainers")
# Sources of volumes whose files have a mode.
_WITH_MODE = ("secret", "configMap", "downwardAPI", "projected")
VOLUME_DEFAULTS: dict[str, JSON] = {
    "hostPath": {"type": ""},
    "iscsi": {"iscsiInterface": "default"},
    "rbd": {"pool": "rbd", "user": "admin", "keyring": "/etc/ceph/keyring"},
    "azureDisk": {"cachingMode": "ReadWrite", "kind": "Shared", "fsType": "ext4", "readOnly": False},
    "scaleIO": {"storageMode": "ThinProvisioned", "fsType": "xfs"},
}
# Resources that a pod as a whole can ask for.
POD_LEVEL_RESOURCES = ("cpu", "memory")


def default_pod(pod: JSON) -> None:
    """Fill in a pod."""
    spec = pod["spec"]
    default_pod_spec(spec)
    if spec["terminationGracePeriodSeconds"] < 0:
        spec["terminationGracePeriodSeconds"] = 1
    for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
        resources = container.get("resources")
        if resources and (limits := resources.get("limits")):
            requests = resources.setdefault("requests", {})
            for name, quantity in limits.items():
                requests.setdefault(name, quantity)
    if "resources" in spec:
        _default_pod_resources(spec)
    spec.setdefault("enableServiceLinks", True)
    if spec.get("hostNetwork"):
        for container in (*(spec.get("containers") or ()), *(spec.get("initContainers") or ())):
            for port in container.get("ports") or ():
                if not port.get("hostPort"):
                    port["hostPort"] = port.get("containerPort", 0)


def default_pod_template(template: JSON) -> None:
    """Fill in a pod template."""
    default_pod_spec(template.setdefault("spec", {}))


def default_pod_spec(spec: JSON) -> None:
    """Set the defaults that pods and templates share."""
    for name in _CONTAINER_LISTS:
        for container in spec.get(name) or ():
            _default_container(container)
    for volume in spec.get("volumes") or ():
        default_volume(volume)
    if spec.get("overhead"):
        round_up(spec["overhead"])
    if resources := spec.get("resources"):
        for name in ("limits", "requests"):
            round_up(resources.get(name))
    spec["dnsPolicy"] = spec.get("dnsPolicy") or "ClusterFirst"
    spec["restartPolicy"] = spec.get("restartPolicy") or "Always"
    if spec.get("securityContext") is None:
        spec["securityContext"] = {}
    if spec.get("terminationGracePeriodSeconds") is None:
        spec["terminationGracePeriodSeconds"] = 30
    spec["schedulerName"] = spec.get("schedulerName") or "default-scheduler"
    account = spec.get("serviceAccountName") or spec.get("serviceAccount")
    if account:
        spec["serviceAccountName"] = spec["serviceAccount"] = account


def _default_container(container: JSON) -> None:
    if not container.get("imagePullPolicy"):
        container["imagePullPolicy"] = _pull_policy(container.get("image", ""))
    container["terminationMessagePath"] = container.get("terminationMessagePath") or "/dev/termination-log"
    container["terminationMessagePolicy"] = container.get("terminationMessagePolicy") or "File"
    resources = container.get("resources")
    if resources is None:
        container["resources"] = {}
    else:
        round_up(resources.get("limits"))
        round_up(resources.get("requests"))
    for port in container.get("ports") or ():
        port["protocol"] = port.get("protocol") or "TCP"
    for variable in container.get("env") or ():
        if reference := (variable.get("valueFrom") or {}).get("fieldRef"):
            reference["apiVersion"] = reference.get("apiVersion") or "v1"
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if (probe := container.get(name)) is not None:
            _default_probe(probe)
    for handler in (container.get("lifecycle") or {}).values():
        if isinstance(handler, dict):
            _default_http_get(handler)


@lru_cache(maxsize=4096)
def _pull_policy(image: str) -> str:
    try:
        return "Always" if parse_image_name(image).tag == "latest" else "IfNotPresent"
    except ValueError:
        return "IfNotPresent"


def _default_probe(probe: JSON) -> None:
    probe["timeoutSeconds"] = probe.get("timeoutSeconds") or 1
    probe["periodSeconds"] = probe.get("periodSeconds") or 10
    probe["successThreshold"] = probe.get("successThreshold") or 1
    probe["failureThreshold"] = probe.get("failureThreshold") or 3
    _default_http_get(probe)
    if (grpc := probe.get("grpc")) is not None:
        grpc.setdefault("service", "")


def _default_http_get(handler: JSON) -> None:
    if (action := handler.get("httpGet")) is not None:
        action["path"] = action.get("path") or "/"
        action["scheme"] = action.get("scheme") or "HTTP"


def volume_sources(volume: JSON) -> list[str]:
    """Return the names of the sources that a volume has. There should be one."""
    return [key for key, value in volume.items() if key != "name" and value is not None]


def default_volume(volume: JSON) -> None:
    """Set the defaults of a volume of a pod, or of the source of a persistent volume."""
    sources = volume_sources(volume)
    if not sources:
        volume["emptyDir"] = {}
        return
    for name in sources:
        source = volume[name]
        if not isinstance(source, dict):
            continue
        if name in _WITH_MODE and source.get("defaultMode") is None:
            source["defaultMode"] = _FILE_MODE
        for key, value in VOLUME_DEFAULTS.get(name, {}).items():
            if source.get(key) is None:
                source[key] = value
        if name == "downwardAPI":
            _default_field_references(source.get("items"))
        elif name == "projected":
            for projection in source.get("sources") or ():
                _default_projection(projection)
        elif name == "ephemeral":
            template = (source.get("volumeClaimTemplate") or {}).get("spec")
            if template is not None:
                template["volumeMode"] = template.get("volumeMode") or "Filesystem"
                for which in ("limits", "requests"):
                    round_up((template.get("resources") or {}).get(which))
        elif name == "image" and not source.get("pullPolicy"):
            source["pullPolicy"] = _pull_policy(source.get("reference", ""))


def _default_projection(projection: JSON) -> None:
    if (token := projection.get("serviceAccountToken")) is not None and token.get("expirationSeconds") is None:
        token["expirationSeconds"] = _TOKEN_SECONDS
    if (downward := projection.get("downwardAPI")) is not None:
        _default_field_references(downward.get("items"))


def _default_field_references(items: Iterable[JSON] | None) -> None:
    for item in items or ():
        if (reference := item.get("fieldRef")) is not None:
            reference["apiVersion"] = reference.get("apiVersion") or "v1"


def _default_pod_resources(spec: JSON) -> None:
    """Set the requests of the pod as a whole: those of its containers if they have any, or else its limits."""
    resources = spec["resources"]
    if resources.get("limits") or resources.get("requests"):
        _default_huge_pages(spec, resources)
    limits = resources.get("limits")
    if not limits:
        return
    requests = resources.setdefault("requests", {})
    for name, quantity in containers_total(spec, "requests").items():
        if name in POD_LEVEL_RESOURCES:
            requests.setdefault(name, str(quantity))
    for name, quantity in limits.items():
        if name in POD_LEVEL_RESOURCES or name.startswith("hugepages-"):
            requests.setdefault(name, quantity)
    if not requests:
        del resources["requests"]


def pod_requests(spec: JSON) -> dict[str, Quantity]:
    """Return the requests of a pod: its own, or else the total of its containers.

    The total is that of the containers that run at the same time, or the largest init container if that is more.
    """
    return _total(spec, "requests")


def pod_limits(spec: JSON) -> dict[str, Quantity]:
    """Return the limits of a pod, by the rule of `pod_requests`."""
    return _total(spec, "limits")


def _total(spec: JSON, which: str) -> dict[str, Quantity]:
    total = containers_total(spec, which)
    for name, text in ((spec.get("resources") or {}).get(which) or {}).items():
        total[name] = Quantity.parse(text)
    return total


def containers_total(spec: JSON, which: str) -> dict[str, Quantity]:
    """Return the total `requests` or `limits` of the containers of a pod. Those of the pod itself do not count."""
    total: dict[str, Quantity] = {}
    for name, quantity in _amounts(spec.get("containers"), which):
        total[name] = total[name] + quantity if name in total else quantity
    sidecars: dict[str, Quantity] = {}
    peak: dict[str, Quantity] = {}
    for container in spec.get("initContainers") or ():
        own = dict(_amounts([container], which))
        if container.get("restartPolicy") == "Always":
            for name, quantity in own.items():
                sidecars[name] = sidecars[name] + quantity if name in sidecars else quantity
                total[name] = total[name] + quantity if name in total else quantity
            own = dict(sidecars)
        else:
            own = {name: own[name] + sidecars[name] if name in sidecars else own[name] for name in own}
        for name, quantity in own.items():
            peak[name] = max(peak[name], quantity) if name in peak else quantity
    for name, quantity in peak.items():
        total[name] = max(total[name], quantity) if name in total else quantity
    return total


def _default_huge_pages(spec: JSON, resources: JSON) -> None:
    """Set the limit of huge pages to that of the containers, unless the pod requests huge pages itself."""
    limits = dict(resources.get("limits") or {})
    for name, quantity in containers_total(spec, "limits").items():
        if name.startswith("hugepages-") and name not in (resources.get("requests") or {}):
            limits.setdefault(name, str(quantity))
    if limits:
        resources["limits"] = limits


def _amounts(containers: list[JSON] | None, which: str) -> Iterator[tuple[str, Quantity]]:
    for container in containers or ():
        for name, text in ((container.get("resources") or {}).get(which) or {}).items():
            yield name, Quantity.parse(text)
