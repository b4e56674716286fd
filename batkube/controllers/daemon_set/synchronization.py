"""One look at a DaemonSet: the pods that nodes are to have, and those that are replaced by newer ones."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from batkube.controllers.controller import NORMAL, WARNING
from batkube.controllers.daemon_set.placing import HASH, is_updated, new_pod, oldest_first, should_run, target
from batkube.controllers.deployment.limits import scaled
from batkube.controllers.owners import key_of
from batkube.controllers.pods import is_deleted, is_ended, is_ready, phase
from batkube.controllers.replicas import create_pods, delete_pods, is_available

if TYPE_CHECKING:
    from batkube.controllers.daemon_set.controller import DaemonSetController

JSON = dict[str, Any]

DAEMON_SETS = "daemonsets.apps"
MOST_AT_ONCE = 250
"""The most pods that are made or deleted at a time."""


class DaemonSetSync:
    """Brings one DaemonSet, with these pods, to where it should be. ``code``: the hash of its template."""

    def __init__(self, controller: "DaemonSetController", daemon_set: JSON, code: str) -> None:
        self._controller = controller
        self._cluster = controller.cluster
        self._set = daemon_set
        self._code = code
        self._fits = {node["metadata"]["name"]: should_run(daemon_set, node) for node in self._cluster.list("nodes")}
        """Of each node: whether a pod is to be there, and whether one may stay."""
        self._min_ready = daemon_set["spec"].get("minReadySeconds", 0)
        strategy = daemon_set["spec"].get("updateStrategy") or {}
        self._rolling = (strategy.get("rollingUpdate") or {}) if strategy.get("type") == "RollingUpdate" else None

    def run(self, pods: Iterable[JSON]) -> None:
        """Make and delete pods on nodes; or, where nothing is to be done for them, go on with an update.

        Raises ApiError.
        """
        by_node = self._by_node(pods)
        if not self._manage(by_node) and self._rolling is not None:
            self._roll(by_node)

    def _by_node(self, pods: Iterable[JSON]) -> dict[str, list[JSON]]:
        found: dict[str, list[JSON]] = {}
        for pod in pods:
            if not (is_ended(pod) and is_deleted(pod)) and (node := target(pod)) is not None:
                found.setdefault(node, []).append(pod)
        return dict(sorted(found.items()))

    def _surge(self, nodes: int) -> int:
        return scaled((self._rolling or {}).get("maxSurge", 0), nodes, up=True)

    def _is_available(self, pod: JSON) -> bool:
        return is_available(self._cluster, pod, self._min_ready)

    # The pods that nodes are to have

    def _manage(self, by_node: dict[str, list[JSON]]) -> bool:
        """Make pods that are missing, delete those that are too many; tell whether there were any."""
        missing: list[str] = []
        surplus: list[JSON] = []
        for name, (runs, stays) in self._fits.items():
            if runs and name not in by_node:
                missing.append(name)
            elif stays:
                needs, gone = self._on_node(name, by_node.get(name, []), runs=runs)
                missing += [name] if needs else []
                surplus += gone
            elif name in by_node:
                surplus += [pod for pod in by_node[name] if not is_deleted(pod)]
        for name, pods in by_node.items():
            if name not in self._fits:
                surplus += [pod for pod in pods if not pod["spec"].get("nodeName")]
        self._sync_nodes(surplus, missing)
        return bool(missing or surplus)

    def _on_node(self, node: str, pods: list[JSON], *, runs: bool) -> tuple[bool, list[JSON]]:
        """Return whether a node that may have a pod needs one, and which pods are too many."""
        running: list[JSON] = []
        gone: list[JSON] = []
        for pod in pods:
            if is_deleted(pod):
                continue
            if phase(pod) == "Failed":
                gone += [pod] if self._may_kill_failed(node, pod) else []
            elif phase(pod) == "Succeeded":
                self._tell(NORMAL, "SucceededDaemonPod", f"Found succeeded daemon pod {_named(pod, node)}delete it")
                gone.append(pod)
            else:
                running.append(pod)
        running = oldest_first(running)
        if not self._surge(1):
            return False, [*gone, *running[1:]]
        if len(running) <= 1:
            return not running and runs, gone
        return False, [*gone, *self._outnumbered(running)]

    def _outnumbered(self, running: list[JSON]) -> list[JSON]:
        """Return which of several pods on a node go: a new and an old one stay until the new one is available."""
        new = [pod for pod in running if pod["metadata"]["labels"].get(HASH) == self._code]
        old = [pod for pod in running if pod["metadata"]["labels"].get(HASH) != self._code]
        gone = [*new[1:], *old[1:]]
        if new and old and (not is_ready(old[0]) or self._is_available(new[0])):
            gone.append(old[0])
        return gone

    def _may_kill_failed(self, node: str, pod: JSON) -> bool:
        """Tell whether a failed pod goes now; if not, look again when it may: the kubelet may refuse pods for ever."""
        generation = self._set.get("status", {}).get("observedGeneration", 0)
        key = (self._set["metadata"]["uid"], generation, node)
        wait = self._controller.failures.wait(key)
        if wait > 0:
            self._controller.queue.add_after(key_of(self._set), wait)
            return False
        self._tell(WARNING, "FailedDaemonPod", f"Found failed daemon pod {_named(pod, node)}kill it")
        return True

    def _tell(self, kind: str, reason: str, text: str) -> None:
        self._controller.recorder.event(self._set, kind, reason, text)

    def _sync_nodes(self, surplus: list[JSON], missing: list[str]) -> None:
        pods = (new_pod(self._set, node, self._code) for node in missing)
        refused = create_pods(self._controller, pods, min(len(missing), MOST_AT_ONCE), self._set)
        failed = delete_pods(self._controller, surplus[:MOST_AT_ONCE], self._set)
        failed = refused or failed
        if failed is not None:
            raise failed

    # Updates

    def _roll(self, by_node: dict[str, list[JSON]]) -> None:
        """Replace pods of older templates, as many at a time as may be."""
        runs = {name: does for name, (does, _) in self._fits.items()}
        wanted = [name for name, does in runs.items() if does]
        for name in wanted:
            by_node.setdefault(name, [])
        surge = self._surge(len(wanted))
        if surge:
            self._roll_with_surge(by_node, runs, surge)
            return
        unavailable = scaled((self._rolling or {}).get("maxUnavailable", 1), len(wanted), up=True)
        self._roll_in_place(by_node, max(unavailable, 1))

    def _pair(self, pods: list[JSON]) -> tuple[JSON | None, JSON | None] | None:
        """Return the new pod and the old one of a node; None if there are several of a kind."""
        alive = [pod for pod in pods if not is_deleted(pod)]
        new = [pod for pod in alive if is_updated(self._set, pod, self._code)]
        old = [pod for pod in alive if not is_updated(self._set, pod, self._code)]
        if len(new) > 1 or len(old) > 1:
            return None
        return next(iter(new), None), next(iter(old), None)

    def _roll_in_place(self, by_node: dict[str, list[JSON]], most: int) -> None:
        """Delete old pods; others come in their place. ``most``: how many nodes may have none that is available."""
        unavailable = 0
        replaced: list[JSON] = []
        candidates: list[JSON] = []
        for pods in by_node.values():
            new, old = self._pair(pods) or (None, None)
            if old is not None and new is None:
                if not self._is_available(old):
                    replaced.append(old)
                    unavailable += 1
                elif unavailable < most:
                    candidates.append(old)
            elif new is None or old is not None or not self._is_available(new):
                unavailable += 1
        self._sync_nodes([*replaced, *candidates[: max(most - unavailable, 0)]], [])

    def _roll_with_surge(self, by_node: dict[str, list[JSON]], runs: dict[str, bool], most: int) -> None:
        """Make new pods beside old ones, and delete these when the new ones are available."""
        surging = available = 0
        gone: list[JSON] = []
        leaving: list[JSON] = []
        allowed: list[str] = []
        candidates: list[str] = []
        for name, pods in by_node.items():
            pair = self._pair(pods)
            if pair is None:
                surging += 1
                continue
            new, old = pair
            if (counted := old or new) is not None and self._is_available(counted):
                available += 1
            if old is None:
                continue
            if new is not None:
                if self._is_available(new):
                    gone.append(old)
                else:
                    surging += 1
            elif not runs.get(name, False):
                (leaving if self._is_available(old) else gone).append(old)
            elif not self._is_available(old):
                allowed.append(name)
            elif surging < most:
                candidates.append(name)
        spare = max(available - sum(runs.values()), 0)
        self._sync_nodes([*gone, *leaving[:spare]], [*allowed, *candidates[: max(most - surging, 0)]])

    # Status

    def tell_status(self, pods: Iterable[JSON]) -> None:
        """Count the pods, and write the status if it has changed. Raises ApiError."""
        by_node = self._by_node(pods)
        counts = dict.fromkeys(
            ("currentNumberScheduled", "numberMisscheduled", "desiredNumberScheduled", "numberReady"), 0
        )
        more = dict.fromkeys(("updatedNumberScheduled", "numberAvailable"), 0)
        for name, (runs, _) in self._fits.items():
            there = by_node.get(name)
            if not runs:
                counts["numberMisscheduled"] += bool(there)
                continue
            counts["desiredNumberScheduled"] += 1
            if there:
                pod = oldest_first(there)[0]
                counts["currentNumberScheduled"] += 1
                counts["numberReady"] += is_ready(pod)
                more["numberAvailable"] += self._is_available(pod)
                more["updatedNumberScheduled"] += is_updated(self._set, pod, self._code)
        more["numberUnavailable"] = counts["desiredNumberScheduled"] - more["numberAvailable"]
        self._write_status(counts, more)
        if self._min_ready and counts["numberReady"] != more["numberAvailable"]:
            self._controller.queue.add_after(key_of(self._set), self._min_ready)

    def _write_status(self, counts: dict[str, int], more: dict[str, int]) -> None:
        old, generation = self._set.get("status", {}), self._set["metadata"]["generation"]
        same = all(old.get(name, 0) == count for name, count in (counts | more).items())
        if same and old.get("observedGeneration", 0) >= generation:
            return
        status = {**counts, "observedGeneration": generation, **{name: count for name, count in more.items() if count}}
        if "collisionCount" in old:
            status["collisionCount"] = old["collisionCount"]
        self._controller.client.modify(
            DAEMON_SETS, *key_of(self._set), lambda found: {**found, "status": status}, "status"
        )


def _named(pod: JSON, node: str) -> str:
    metadata = pod["metadata"]
    return f"{metadata['namespace']}/{metadata['name']} on node {node}, will try to "
