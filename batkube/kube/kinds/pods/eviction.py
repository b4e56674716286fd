"""Evictions: `POST pods/NAME/eviction` (`pkg/registry/core/pod/storage/eviction.go`)."""

from __future__ import annotations

from typing import Any

from ...apimachinery.label_selectors import matches
from ...apimachinery.status import ApiError, FieldError, success
from ..action import Action, ActionAnswer, ActionRequest, ObjectOperations
from ..strategy import Context
from .conditions import evicted_condition, is_ready, set_condition

JSON = dict[str, Any]

BUDGETS = "poddisruptionbudgets.policy"
_MAX_DISRUPTED = 2000
_TOO_MANY = "Cannot evict pod as it would violate the pod's disruption budget."
_PROCESSING_SECONDS = 10


class Evictions(Action):
    """The action `pods/NAME/eviction`."""

    def write(self, request: ActionRequest, server: ObjectOperations) -> ActionAnswer:
        """Delete a pod. Raise 429 if its budget forbids it."""
        eviction = request.body or {}
        ctx = request.ctx
        if ((eviction.get("metadata") or {}).get("name") or "") != ctx.name:
            raise ApiError.bad_request("name in URL does not match name in Eviction object")
        options = dict(eviction.get("deleteOptions") or {})
        if options.get("ignoreStoreReadErrorWithClusterBreakingPotential"):
            path = "deleteOptions.ignoreStoreReadErrorWithClusterBreakingPotential"
            unfit = FieldError.invalid(path, True, "can not be set for pod eviction, try after removing the option")
            raise ApiError.invalid("Eviction.policy", ctx.name, [unfit])
        dry_run = _propagate_dry_run(options, ["All"] if ctx.dry_run else [])
        pod = ctx.store.get("pods", ctx.namespace, ctx.name)
        if pod is None:
            raise ApiError.not_found("pods", ctx.name)
        if not _needs_no_budget(pod):
            budgets = _budgets_of(pod, ctx)
            if len(budgets) > 1:
                message = (
                    "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."
                )
                raise ApiError.unforeseen(message)
            if budgets and not _is_free(pod, budgets[0]):
                _take_disruption(ctx, server, budgets[0], dry_run)
        if not dry_run:
            _check_preconditions(pod, options.get("preconditions") or {})
            server.write(lambda pod: _mark(pod, ctx.now))
            if (options.get("preconditions") or {}).get("resourceVersion"):
                options = {**options, "preconditions": {"uid": pod["metadata"]["uid"]}}
        server.delete(options)
        return ActionAnswer(201, success(code=201))


def _mark(pod: JSON, now: str) -> None:
    set_condition(pod["status"], evicted_condition(now))


def _needs_no_budget(pod: JSON) -> bool:
    over = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed", "Pending")
    return over or pod["metadata"].get("deletionTimestamp") is not None


def _budgets_of(pod: JSON, ctx: Context) -> list[JSON]:
    labels = pod["metadata"].get("labels") or {}
    budgets = ctx.store.list(BUDGETS, ctx.namespace)
    return [budget for budget in budgets if matches(budget["spec"].get("selector"), labels)]


def _is_free(pod: JSON, budget: JSON) -> bool:
    """Return True if the pod may go without a disruption: it is unready, and either the rest is healthy or the budget
    allows it.
    """
    if is_ready(pod):
        return False
    if budget["spec"].get("unhealthyPodEvictionPolicy") == "AlwaysAllow":
        return True
    status = budget.get("status") or {}
    desired = status.get("desiredHealthy", 0)
    return bool(status.get("currentHealthy", 0) >= desired > 0)


def _propagate_dry_run(options: JSON, asked: list[str]) -> bool:
    """Return True if an eviction is a dry run, by the request or by its options. Raise an error if the two differ."""
    said = options.get("dryRun") or []
    if said and asked and said != asked:
        shown = " and ".join(f"[{' '.join(each)}]" for each in (asked, said))
        raise ApiError.unforeseen(f"Non-matching dry-run options in request and content: {shown}")
    options["dryRun"] = said or asked
    return bool(said or asked)


def _take_disruption(ctx: Context, server: ObjectOperations, budget: JSON, dry_run: bool) -> None:
    name, status = budget["metadata"]["name"], budget.get("status") or {}
    if status.get("observedGeneration", 0) < budget["metadata"].get("generation", 0):
        message = f"The disruption budget {name} is still being processed by the server."
        cause = {"reason": "DisruptionBudget", "message": message}
        raise ApiError.too_many_requests(_TOO_MANY, [cause], _PROCESSING_SECONDS)
    allowed = status.get("disruptionsAllowed", 0)
    if allowed < 0:
        raise ApiError.forbidden("poddisruptionbudget.policy", name, "pdb disruptions allowed is negative")
    if len(status.get("disruptedPods") or ()) > _MAX_DISRUPTED:
        why = "DisruptedPods map too big - too many evictions not confirmed by PDB controller"
        raise ApiError.forbidden("poddisruptionbudget.policy", name, why)
    if allowed == 0:
        raise ApiError.too_many_requests(_TOO_MANY, [{"reason": "DisruptionBudget", "message": _refusal(name, status)}])
    if dry_run:
        return
    pod, now = ctx.name, ctx.now

    def taken(budget: JSON) -> None:
        status = budget["status"]
        status["disruptionsAllowed"] = allowed - 1
        status["disruptedPods"] = {**(status.get("disruptedPods") or {}), pod: now}
        if allowed == 1:
            condition = {
                "type": "DisruptionAllowed",
                "status": "False",
                "observedGeneration": status.get("observedGeneration", 0),
                "lastTransitionTime": now,
                "reason": "InsufficientPods",
                "message": "",
            }
            set_condition(status, condition)

    server.write_other(BUDGETS, name, taken)


def _refusal(name: str, status: JSON) -> str:
    needed, present = status.get("desiredHealthy", 0), status.get("currentHealthy", 0)
    if present <= needed:
        return f"The disruption budget {name} needs {needed} healthy pods and has {present} currently"
    return f"The disruption budget {name} does not allow evicting pods currently"


def _check_preconditions(pod: JSON, preconditions: JSON) -> None:
    for field, what, happened in (
        ("uid", "UID", "deleted and then recreated"),
        ("resourceVersion", "ResourceVersion", "modified"),
    ):
        asked, found = preconditions.get(field), pod["metadata"].get(field)
        if asked and asked != found:
            why = (
                f"the {what} in the precondition ({asked}) does not match the {what} in record ({found}). "
                f"The object might have been {happened}"
            )
            raise ApiError.conflict("Pod", pod["metadata"]["name"], why)
