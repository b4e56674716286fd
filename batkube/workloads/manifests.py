"""Manifests of Kubernetes: objects that a run creates through the API, each at its date. They are no jobs."""

import re
from collections.abc import Iterator

from batkube.workloads.reader import Reader, Record
from batkube.workloads.source import Head, Source

_YAML = [re.compile(rf"^(?:- )?{field}:", re.MULTILINE) for field in ("apiVersion", "kind")]
_JSON = [re.compile(rf'"{field}"\s*:') for field in ("apiVersion", "kind")]
_BATSIM = re.compile(r'"(?:jobs|profiles|nb_res)"\s*:')


class ManifestsReader(Reader):
    """Files with objects of Kubernetes, as `kubectl create -f` takes them."""

    name = "manifests"
    title = "manifests of Kubernetes (YAML, JSON)"

    def claims(self, head: Head) -> bool:
        """Tell whether there is an object with a kind and an apiVersion."""
        text = head.text
        if text.lstrip().startswith("{"):
            return all(field.search(text) for field in _JSON) and not _BATSIM.search(text)
        return all(field.search(text) for field in _YAML)

    def records(self, source: Source) -> Iterator[Record]:
        """Refuse: a run creates the objects, and what comes of them depends on the cluster."""
        raise source.error(None, "manifests are objects, and no jobs: `batkube run -w` creates them at their dates")
