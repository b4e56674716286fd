"""The objects of a cluster: from what kubectl wrote, or from the cluster itself."""

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from batkube.kube.apimachinery.lists import members
from batkube.kube.codec.yaml_text import YamlError, documents
from batkube.named_file import read_named

JSON = dict[str, Any]

PAGE = 500
"""The objects that are asked for at once."""


class SnapshotError(ValueError):
    """The cluster, or a file, cannot be read. The text says which and why."""


def from_files(paths: Iterable[Path]) -> Iterator[JSON]:
    """Yield the objects of dumps. Raises SnapshotError."""
    for path in paths:
        try:
            for line, document in documents(read_named(path)):
                for obj in members(document) if isinstance(document, dict) else (document,):
                    if not isinstance(obj, dict) or not isinstance(obj.get("kind"), str):
                        raise SnapshotError(f"{path}, line {line}: expected objects as kubectl get -o yaml writes them")
                    yield obj
        except YamlError as error:
            raise SnapshotError(f"{path}, line {error.line}: no YAML: {error.why}") from None
        except OSError as error:
            raise SnapshotError(f"{path}: {error.strerror}") from None


def from_cluster(kubeconfig: Path | None, context: str | None) -> Iterator[JSON]:
    """Yield nodes and pods of a cluster that goes on. Raises SnapshotError."""
    from kubernetes import client, config  # it takes a while to load
    from urllib3.exceptions import HTTPError

    try:
        api = config.new_client_from_config(str(kubeconfig) if kubeconfig else None, context)
    except (config.ConfigException, OSError, ValueError, KeyError) as error:
        raise SnapshotError(f"{kubeconfig or 'kubeconfig'}: {error}") from None
    core = client.CoreV1Api(api)
    try:
        for kind, ask in (("Node", core.list_node), ("Pod", core.list_pod_for_all_namespaces)):
            following: str | None = None
            while following is None or following:
                answer: Any = ask(limit=PAGE, _continue=following, _preload_content=False)
                page = json.loads(answer.data)
                yield from ({**item, "kind": kind} for item in page.get("items") or ())
                following = page.get("metadata", {}).get("continue") or ""
    except client.ApiException as error:
        raise SnapshotError(f"{api.configuration.host}: {error.status} {error.reason}") from None
    except (HTTPError, OSError, ValueError) as error:
        raise SnapshotError(f"{api.configuration.host}: {error}") from None
    finally:
        api.close()
