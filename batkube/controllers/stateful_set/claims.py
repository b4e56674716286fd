"""The claims of volumes of a StatefulSet's pods, and what becomes of them when the pods go."""

from typing import TYPE_CHECKING, Any

from batkube.controllers.controller import NORMAL, WARNING
from batkube.controllers.owners import key_of, reference_to
from batkube.controllers.stateful_set.identity import claims_of, in_range
from batkube.controllers.volumes.claims import CLAIMS
from batkube.kube.apimachinery.status import ApiError

if TYPE_CHECKING:
    from batkube.controllers.controller import Controller

JSON = dict[str, Any]

_RETAIN, _DELETE = "Retain", "Delete"


class Claims:
    """The claims of one StatefulSet."""

    def __init__(self, controller: "Controller", stateful_set: JSON) -> None:
        self._controller = controller
        self._set = stateful_set
        policy = stateful_set["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
        self._when_deleted = policy.get("whenDeleted", _RETAIN)
        self._when_scaled = policy.get("whenScaled", _RETAIN)

    def create_missing(self, pod: JSON) -> None:
        """Create the pod's claims that are not there. Raises ApiError."""
        name = self._set["metadata"]["name"]
        for claim in claims_of(self._set, pod).values():
            found = self._found(claim)
            what = f"Claim {claim['metadata']['name']}"
            if found is not None:
                if found["metadata"].get("deletionTimestamp"):
                    raise ApiError(500, "InternalError", f"pvc {claim['metadata']['name']} is being deleted")
                continue
            told = f"Create {what} Pod {pod['metadata']['name']} in StatefulSet {name} success"
            try:
                self._controller.client.create(CLAIMS, claim, claim["metadata"]["namespace"])
            except ApiError as error:
                told = told.replace(" Pod ", " for Pod ", 1).removesuffix("success")
                self._event(WARNING, "FailedCreate", f"{told}failed error: {error.message}")
                raise
            self._event(NORMAL, "SuccessfulCreate", told)

    def are_stale(self, pod: JSON) -> bool:
        """Tell whether a claim belongs to a pod of the same name that is gone: it is about to go as well."""
        if self._when_scaled == _RETAIN:
            return False
        uid = pod["metadata"].get("uid")
        return any(
            owner["kind"] == "Pod" and owner["name"] == pod["metadata"]["name"] and owner["uid"] != uid
            for claim in claims_of(self._set, pod).values()
            for owner in ((self._found(claim) or {"metadata": {}})["metadata"].get("ownerReferences") or ())
        )

    def own(self, pod: JSON) -> None:
        """Make the pod's claims the set's, or the pod's, or nobody's, as the retention policy says. Raises ApiError."""
        mine = {"StatefulSet": self._set, "Pod": pod}
        for claim in claims_of(self._set, pod).values():
            found = self._found(claim)
            if found is None:
                continue
            references = found["metadata"].get("ownerReferences") or []
            ours = [each for each in references if _is_ours(each, mine)]
            if any(each["uid"] != mine[each["kind"]]["metadata"].get("uid") for each in ours):
                continue  # of a set or a pod of the same name that is gone
            others = [each for each in references if not _is_ours(each, mine)]
            if any(each.get("controller") for each in others):
                continue
            wanted = [*others, *self._owners(pod)]
            if wanted != references:
                self._set_owners(found, wanted)

    def _owners(self, pod: JSON) -> list[JSON]:
        leaves = not in_range(self._set, pod)
        if self._when_scaled == _DELETE and leaves:
            return [reference_to({**pod, "apiVersion": "v1", "kind": "Pod"})] if pod["metadata"].get("uid") else []
        return [reference_to(self._set)] if self._when_deleted == _DELETE else []

    def _set_owners(self, claim: JSON, owners: list[JSON]) -> None:
        def change(found: JSON) -> None:
            if owners:
                found["metadata"]["ownerReferences"] = owners
            else:
                found["metadata"].pop("ownerReferences", None)

        self._controller.client.modify(CLAIMS, *key_of(claim), change)

    def _found(self, claim: JSON) -> JSON | None:
        return self._controller.cluster.get(CLAIMS, *key_of(claim))

    def _event(self, kind: str, reason: str, text: str) -> None:
        self._controller.recorder.event(self._set, kind, reason, text)


def _is_ours(reference: JSON, mine: dict[str, JSON]) -> bool:
    owner = mine.get(reference["kind"])
    return owner is not None and reference["name"] == owner["metadata"]["name"]
