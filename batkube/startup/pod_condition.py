"""The conditions by which a rule is for some pods and not for others."""

from collections.abc import Mapping

from pydantic import BaseModel

from batkube.kube.storage.selectors import EVERYTHING
from batkube.startup.delays import STRICT
from batkube.startup.selector import Selector


class PodCondition(BaseModel):
    """The conditions, of which all must hold."""

    model_config = STRICT

    selector: Selector = EVERYTHING
    namespace: str | None = None
    owner: str | None = None
    """The kind of the pod's controller."""

    def matches(self, namespace: str, labels: Mapping[str, str], owner: str) -> bool:
        """Tell whether the rule is for such a pod."""
        return self.namespace in (None, namespace) and self.owner in (None, owner) and self.selector.matches(labels)
