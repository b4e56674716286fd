"""The stock kube-scheduler: its configuration and its command line."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

DEFAULT_NAME = "default-scheduler"
"""The name of kube-scheduler's only profile where no other is configured."""

_API_VERSION = "kubescheduler.config.k8s.io/v1"


class ConfigError(ValueError):
    """The user's KubeSchedulerConfiguration cannot be used. The text names the file and what is wrong."""


def read_configuration(path: Path) -> dict[str, Any]:
    """The user's KubeSchedulerConfiguration. Raises ConfigError."""
    try:
        loaded = yaml.safe_load(path.read_text())
    except OSError as error:
        raise ConfigError(f"{path}: {error.strerror}") from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: not YAML: {' '.join(str(error).split())}") from None
    if not isinstance(loaded, dict) or loaded.get("kind") != "KubeSchedulerConfiguration":
        raise ConfigError(f"{path}: expected one KubeSchedulerConfiguration")
    profiles = loaded.get("profiles", [])
    if not isinstance(profiles, list) or not all(isinstance(profile, dict) for profile in profiles):
        raise ConfigError(f"{path}: profiles: expected a list of profiles")
    return loaded


def configuration(
    kubeconfig: Path,
    name: str,
    base: dict[str, Any] | None = None,
    *,
    exact_times: bool = False,
    extenders: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """``base`` (the user's own, or a fresh one with a profile called ``name``) connected to ``kubeconfig``.

    Only the connection part is ours: the kubeconfig, client limits out of the way (the stock 50 requests a second would
    throttle a simulation), and no leader election unless ``base`` asks for it. Profiles, plugins and all else stay the
    user's.

    ``extenders``: in place of the user's, where there are any (see ``extenders.relayed``).

    ``exact_times``: let it read JSON, slower than protobuf, in which client-go drops the fraction of a second
    (apimachinery, meta/v1/time_proto.go).
    """
    mine: dict[str, Any] = dict(base) if base else {"profiles": [{"schedulerName": name}]}
    return {
        "apiVersion": _API_VERSION,
        **mine,
        "kind": "KubeSchedulerConfiguration",
        "clientConnection": {
            **(mine.get("clientConnection") or {}),
            "kubeconfig": str(kubeconfig),
            "qps": 5000,
            "burst": 5000,
            **({"acceptContentTypes": "application/json"} if exact_times else {}),
        },
        "leaderElection": {"leaderElect": False, **(mine.get("leaderElection") or {})},
        **({"extenders": list(extenders)} if extenders else {}),
    }


def scheduler_names(config: dict[str, Any]) -> tuple[str, ...]:
    """The names its profiles go by, in order."""
    profiles = config.get("profiles") or [{}]
    return tuple(profile.get("schedulerName") or DEFAULT_NAME for profile in profiles)


def command(binary: Path, config: Path) -> list[str]:
    """The command line. The metrics port is off: runs side by side would fight for it."""
    return [str(binary), f"--config={config}", "--secure-port=0"]


def write_configuration(path: Path, config: dict[str, Any]) -> None:
    """Write it as YAML. Only its owner may read it: it may hold the key of a client certificate."""
    path.unlink(missing_ok=True)
    path.touch(0o600)
    path.write_text(yaml.safe_dump(config, sort_keys=False))
