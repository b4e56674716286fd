"""The metrics for Prometheus: requests and watches by resource, in the names of the real server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from ..storage.watch import Watcher


def exposition(
    requests: Mapping[tuple[str, str], int], watchers: Iterable[Watcher], terminated: Mapping[str, int]
) -> str:
    """Return the metrics in Prometheus' text format.

    `requests` are by verb and storage key, `terminated` watches by storage key.
    """
    lines = ["# TYPE apiserver_request_total counter"]
    for (verb, storage), count in sorted(requests.items()):
        lines.append(f'apiserver_request_total{{{_labels(storage)},verb="{verb.upper()}"}} {count}')
    lines.append("# TYPE apiserver_longrunning_requests gauge")
    for storage, count in sorted(Counter(watcher.storage for watcher in watchers).items()):
        lines.append(f'apiserver_longrunning_requests{{{_labels(storage)},verb="WATCH"}} {count}')
    lines.append("# TYPE apiserver_terminated_watchers_total counter")
    for storage, count in sorted(terminated.items()):
        lines.append(f"apiserver_terminated_watchers_total{{{_labels(storage)}}} {count}")
    return "\n".join(lines) + "\n"


def _labels(storage: str) -> str:
    plural, _, group = storage.partition(".")
    return f'group="{group}",resource="{plural}"'
