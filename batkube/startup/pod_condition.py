"""The conditions by which a rule is for some pods and not for others."""

from collections.abc import Mapping

from pydantic import BaseModel, PrivateAttr, model_validator

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.storage.selectors import EVERYTHING, LabelSelector, parse_label_selector
from batkube.startup.delays import STRICT


class PodCondition(BaseModel):
    """The conditions, of which all must hold."""

    model_config = STRICT

    selector: str = ""
    """As kubectl's ``-l`` has it."""
    namespace: str | None = None
    owner: str | None = None
    """The kind of the pod's controller."""

    _selector: LabelSelector = PrivateAttr(default=EVERYTHING)

    @model_validator(mode="after")
    def _parsed(self) -> "PodCondition":
        try:
            self._selector = parse_label_selector(self.selector)
        except ApiError as error:
            raise ValueError(f"selector: {error.message}") from None
        return self

    def matches(self, namespace: str, labels: Mapping[str, str], owner: str) -> bool:
        """Tell whether the rule is for such a pod."""
        return self.namespace in (None, namespace) and self.owner in (None, owner) and self._selector.matches(labels)
