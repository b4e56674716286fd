"""The status of disruption budgets: how many of their pods may be evicted now (``pkg/controller/disruption``)."""

from typing import Any

from batkube.controllers.conditions import condition
from batkube.controllers.controller import NORMAL, WARNING, Change, Controller
from batkube.controllers.deployment.limits import scaled
from batkube.controllers.owners import controller_of, key_of
from batkube.controllers.pods import is_deleted, is_ended, is_ready
from batkube.kube.apimachinery.label_selectors import matches
from batkube.kube.kinds.pods.conditions import DISRUPTION_TARGET, set_condition
from batkube.kube.storage.store import DELETED

JSON = dict[str, Any]

BUDGETS = "poddisruptionbudgets.policy"
DELETION_TIMEOUT = 120.0
"""The seconds after which a pod that was evicted and is still there counts again."""
STALE = 120.0
"""The seconds after which a pod that was to be disrupted, and is not being deleted, is told to be so no more."""
_ALLOWED = "DisruptionAllowed"
_BY_KUBELET = "TerminationByKubelet"
_SCALED = {
    "ReplicaSet": "replicasets.apps",
    "StatefulSet": "statefulsets.apps",
    "ReplicationController": "replicationcontrollers",
}
"""The controllers of pods that have a size, by kind."""
_BUDGET, _POD = "budget", "pod"
"""The kinds of things that a key stands for."""
_UNMANAGED = (
    "Pods selected by this PodDisruptionBudget (selector: {}) were found to be unmanaged. As a result, the status of "
    "the PDB cannot be calculated correctly, which may result in undefined behavior. To account for these pods please "
    'set ".spec.minAvailable" field of the PDB to an integer value.'
)


class DisruptionController(Controller):
    """Counts the pods of disruption budgets."""

    name = "disruption-controller"
    component = "controllermanager"
    wakes = (BUDGETS,)
    follows = (BUDGETS, "pods")

    def changed(self, change: Change) -> None:
        obj = change.version.obj
        if change.resource.storage == BUDGETS:
            self.queue.add((_BUDGET, *key_of(obj)))
            return
        labels = obj["metadata"].get("labels") or {}
        found = [
            budget
            for budget in self.cluster.list(BUDGETS, obj["metadata"]["namespace"])
            if matches(budget["spec"].get("selector"), labels)
        ]
        if len(found) > 1:
            names = f'"{obj["metadata"]["namespace"]}"/"{obj["metadata"]["name"]}"'
            chosen = found[0]["metadata"]["name"]
            self.queue.add(("several", *key_of(obj), f"Pod {names} matches multiple PodDisruptionBudgets.", chosen))
        if found:
            self.queue.add((_BUDGET, *key_of(found[0])))
        if change.type != DELETED and (wait := self._until_stale(obj)) is not None:
            self.queue.add_after((_POD, *key_of(obj)), wait, awaited=False)

    def sync(self, key: Any) -> None:
        kind, namespace, name, *rest = key
        if kind == _BUDGET:
            budget = self.cluster.get(BUDGETS, namespace, name)
            if budget is not None:
                self._sync_budget(budget)
        elif (pod := self.cluster.get("pods", namespace, name)) is not None:
            if kind == _POD:
                self._sync_pod(pod)
            else:
                text = f'{rest[0]}  Chose "{rest[1]}" arbitrarily.'
                self.recorder.event(pod, WARNING, "MultiplePodDisruptionBudgets", text)

    # Budgets

    def _sync_budget(self, budget: JSON) -> None:
        selector, namespace = budget["spec"].get("selector"), budget["metadata"]["namespace"]
        pods = [
            pod
            for pod in self.cluster.list("pods", namespace)
            if matches(selector, pod["metadata"].get("labels") or {})
        ]
        if not pods:
            self.recorder.event(budget, NORMAL, "NoPods", "No matching pods found")
        try:
            expected, desired = self._expected(budget, pods)
        except LookupError as error:
            text = f"Failed to calculate the number of expected pods: {error}"
            self.recorder.event(budget, WARNING, "CalculateExpectedPodCountFailed", text)
            self._fail_safe(budget, str(error))
            return
        disrupted, recheck = self._disrupted(budget, pods)
        healthy = sum(
            is_ready(pod) and not is_deleted(pod) and pod["metadata"]["name"] not in disrupted for pod in pods
        )
        self._tell_status(budget, healthy, desired, expected, disrupted)
        if recheck is not None:
            self.queue.add_after((_BUDGET, *key_of(budget)), recheck, awaited=False)

    def _expected(self, budget: JSON, pods: list[JSON]) -> tuple[int, int]:
        """Return how many pods there ought to be, and how many healthy ones. Raises LookupError."""
        spec = budget["spec"]
        if "maxUnavailable" in spec:
            expected = self._scale(budget, pods)
            return expected, max(expected - scaled(spec["maxUnavailable"], expected, up=True), 0)
        least = spec.get("minAvailable", 0)
        expected = len(pods) if isinstance(least, int) else self._scale(budget, pods)
        return expected, scaled(least, expected, up=True)

    def _scale(self, budget: JSON, pods: list[JSON]) -> int:
        """Return the size of all controllers of these pods. Raises LookupError."""
        sizes: dict[str, int] = {}
        unmanaged = False
        for pod in pods:
            reference = controller_of(pod)
            if reference is None:
                unmanaged = True
                continue
            if reference["uid"] in sizes:
                continue
            uid, size = self._size(reference, pod)
            sizes[uid] = size
        if unmanaged:
            text = _UNMANAGED.format(_go_selector(budget["spec"].get("selector") or {}))
            self.recorder.event(budget, WARNING, "UnmanagedPods", text)
        return sum(sizes.values())

    def _size(self, reference: JSON, pod: JSON) -> tuple[str, int]:
        """Return the uid and the size of a pod's controller; of a ReplicaSet of a Deployment, that one's."""
        metadata = pod["metadata"]
        resource = _SCALED.get(reference["kind"])
        found = self.cluster.owner(resource, pod) if resource is not None else None
        if found is not None and reference["kind"] == "ReplicaSet":
            found = self.cluster.owner("deployments.apps", found) or found
        if found is None:
            raise LookupError(f'found no controllers for pod "{metadata["name"]}"')
        return str(found["metadata"]["uid"]), int(found["spec"].get("replicas", 0))

    def _disrupted(self, budget: JSON, pods: list[JSON]) -> tuple[JSON, float | None]:
        """Return the pods that were evicted and are about to be deleted, and the seconds until one counts again."""
        noted = budget.get("status", {}).get("disruptedPods") or {}
        left: JSON = {}
        checks: list[float] = []
        for pod in pods:
            since = noted.get(pod["metadata"]["name"])
            if since is None or is_deleted(pod):
                continue
            wait = DELETION_TIMEOUT - self.cluster.since(since)
            if wait < 0:
                namespace = budget["metadata"]["namespace"]
                text = f"Pod was expected by PDB {namespace}/{namespace} to be deleted but it wasn't"
                self.recorder.event(pod, WARNING, "NotDeleted", text)
            else:
                left[pod["metadata"]["name"]] = since
                checks.append(wait)
        return left, min(checks, default=None)

    def _tell_status(self, budget: JSON, healthy: int, desired: int, expected: int, disrupted: JSON) -> None:
        old, generation = budget.get("status", {}), budget["metadata"]["generation"]
        allowed = max(healthy - desired, 0) if expected > 0 else 0
        counts = {
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "expectedPods": expected,
            "disruptionsAllowed": allowed,
            "observedGeneration": generation,
        }
        truth, reason = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
        told = self._condition(old, truth, reason, "", generation)
        same = all(old.get(name, 0) == count for name, count in counts.items())
        if same and (old.get("disruptedPods") or {}) == disrupted and told in (old.get("conditions") or ()):
            return
        status = {**counts, **({"disruptedPods": disrupted} if disrupted else {}), "conditions": [told]}
        self.client.update(BUDGETS, {**budget, "status": status}, "status")

    def _fail_safe(self, budget: JSON, why: str) -> None:
        """Allow no eviction while the pods cannot be counted."""
        old = budget.get("status", {})
        told = self._condition(old, "False", "SyncFailed", why, old.get("observedGeneration", 0))
        status = {**old, "disruptionsAllowed": 0, "conditions": [told]}
        if status != old:
            self.client.update(BUDGETS, {**budget, "status": status}, "status")

    def _condition(self, old: JSON, truth: str, reason: str, text: str, generation: int) -> JSON:
        before = condition(old, _ALLOWED)
        since = before["lastTransitionTime"] if before and before["status"] == truth else self.cluster.text()
        told = {"type": _ALLOWED, "status": truth, "lastTransitionTime": since, "reason": reason, "message": text}
        return {**told, "observedGeneration": generation} if generation else told

    # Pods that were to be disrupted

    def _until_stale(self, pod: JSON) -> float | None:
        """Return the seconds until the condition that the pod is to be disrupted is stale; None if it has none."""
        target = condition(pod.get("status", {}), DISRUPTION_TARGET)
        if target is None or target["status"] != "True" or target.get("reason") == _BY_KUBELET:
            return None
        if is_deleted(pod) or is_ended(pod):
            return None
        return max(STALE - self.cluster.since(target["lastTransitionTime"]), 0.0)

    def _sync_pod(self, pod: JSON) -> None:
        wait = self._until_stale(pod)
        if wait is None:
            return
        if wait > 0:
            self.queue.add_after((_POD, *key_of(pod)), wait, awaited=False)
            return

        def reset(found: JSON) -> None:
            now = self.cluster.text()
            new: JSON = {"type": DISRUPTION_TARGET, "status": "False", "lastProbeTime": None, "lastTransitionTime": now}
            set_condition(found["status"], new)

        self.client.modify("pods", *key_of(pod), reset, "status")


def _go_selector(selector: JSON) -> str:
    """Return a label selector as Go prints it."""
    labels = "".join(f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items()))
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each['key']},Operator:{each['operator']},"
        f"Values:[{' '.join(each.get('values') or ())}],}},"
        for each in selector.get("matchExpressions") or ()
    )
    return (
        f"&LabelSelector{{MatchLabels:map[string]string{{{labels}}},"
        f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}},}}"
    )
