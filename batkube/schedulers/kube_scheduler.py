"""The stock kube-scheduler: its configuration and its command line."""

import re
import subprocess
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from batkube.kube.codec.yaml_text import YamlError, dumped, first_document
from batkube.named_file import read_named

DEFAULT_NAME = "default-scheduler"
"""The name of kube-scheduler's only profile if no other is configured."""

_API_VERSION = "kubescheduler.config.k8s.io/v1"
_ALL_CANDIDATES = {"name": "DefaultPreemption", "args": {"minCandidateNodesPercentage": 100}}

POPS_FROM_BACKOFF = (1, 33)
"""The first minor version in which pods need not wait in back-off if nothing else is to be done."""
VERSION_PATIENCE = 60.0
"""Real seconds within which a binary must tell its version; it takes a fraction of one."""
_VERSION = re.compile(r"Kubernetes v(\d+)\.(\d+)\.")


class ConfigError(ValueError):
    """The user's KubeSchedulerConfiguration cannot be used. The text names the file and what is wrong."""


def read_configuration(path: Path) -> dict[str, Any]:
    """Return the user's KubeSchedulerConfiguration. Raises ConfigError."""
    try:
        loaded = first_document(read_named(path))
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except YamlError as error:
        raise ConfigError(f"{path}: line {error.line}: no YAML: {error.why}") from None
    if not isinstance(loaded, dict) or loaded.get("kind") != "KubeSchedulerConfiguration":
        raise ConfigError(f"{path}: expected one KubeSchedulerConfiguration")
    profiles = loaded.get("profiles", [])
    if not isinstance(profiles, list) or not all(isinstance(profile, dict) for profile in profiles):
        raise ConfigError(f"{path}: profiles: expected a list of profiles")
    return loaded


def configuration(
    kubeconfig: Path,
    names: Sequence[str],
    base: dict[str, Any] | None = None,
    *,
    repeatable_preemption: bool = False,
    extenders: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return ``base`` (the user's own, or a new one with a profile for each of ``names``) connected to ``kubeconfig``.

    Only the connection part is ours: the kubeconfig, client limits so high that they have no effect (the stock 50
    requests per second would throttle a simulation), and no leader election unless ``base`` asks for it. Profiles,
    plugins and all else stay the user's.

    ``extenders``: entries in place of the user's, if there are any (see ``extenders.relayed``).

    ``repeatable_preemption``: let it read JSON, which is slower than protobuf: in protobuf client-go drops the fraction
    of a second (apimachinery, meta/v1/time_proto.go), by which victims are told apart. And let it look for victims on
    all nodes, unless ``base`` says on how many: else it takes the first hundred (or tenth) that will do, in the order
    of a Go map (``NodesForStatusCode``), another one each time.
    """
    profile: dict[str, Any] = {"pluginConfig": [_ALL_CANDIDATES]} if repeatable_preemption else {}
    mine: dict[str, Any] = dict(base) if base else {"profiles": [{"schedulerName": name, **profile} for name in names]}
    return {
        "apiVersion": _API_VERSION,
        **mine,
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {
            **(mine.get("clientConnection") or {}),
            "kubeconfig": str(kubeconfig),
            "qps": 5000,
            "burst": 5000,
            **({"acceptContentTypes": "application/json"} if repeatable_preemption else {}),
        },
        "leaderElection": {"leaderElect": False, **(mine.get("leaderElection") or {})},
        **({"extenders": list(extenders)} if extenders else {}),
    }


def scheduler_names(config: dict[str, Any]) -> tuple[str, ...]:
    """Return the names of its profiles, in order."""
    profiles = config.get("profiles") or [{}]
    return tuple(profile.get("schedulerName") or DEFAULT_NAME for profile in profiles)


def version(binary: Path) -> tuple[int, int]:
    """Return major and minor version as ``--version`` tells them; (0, 0) if it tells none.

    Raises subprocess.TimeoutExpired if it says nothing for VERSION_PATIENCE: the dates at which a run stops depend on
    the version.
    """
    found = _VERSION.match(_told(binary))
    return (int(found[1]), int(found[2])) if found else (0, 0)


def version_text(binary: Path) -> str | None:
    """Return what ``--version`` tells (``Kubernetes v1.36.3``); None if that is nothing."""
    try:
        return _told(binary).strip() or None
    except subprocess.TimeoutExpired:
        return None


@cache
def _told(binary: Path) -> str:
    try:
        return subprocess.run(
            [binary, "--version"], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=VERSION_PATIENCE
        ).stdout
    except OSError:
        return ""


def command(binary: Path, config: Path) -> list[str]:
    """Return the command line. The metrics port is off: parallel runs would all want it."""
    return [str(binary), f"--config={config}", "--secure-port=0"]


def write_configuration(path: Path, config: dict[str, Any]) -> None:
    """Write the configuration as YAML. Only its owner may read it: it may hold the key of a client certificate."""
    path.unlink(missing_ok=True)
    path.touch(0o600)
    path.write_text(dumped(config, sort_keys=False))
