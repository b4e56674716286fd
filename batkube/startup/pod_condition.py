"""The conditions by which a rule is for some pods and not for others."""

from collections.abc import Mapping
from typing import NamedTuple

from pydantic import BaseModel

from batkube.kube.storage.selectors import EVERYTHING
from batkube.startup.delays import STRICT
from batkube.startup.selector import Selector


class PodFacts(NamedTuple):
    """The properties of a pod by which rules choose."""

    namespace: str
    labels: Mapping[str, str]
    owner: str = ""
    """The kind of its controller; empty for none."""


class PodCondition(BaseModel):
    """The conditions, of which all must hold."""

    model_config = STRICT

    selector: Selector = EVERYTHING
    namespace: str | None = None
    owner: str | None = None
    """The kind of the pod's controller."""

    def matches(self, pod: PodFacts) -> bool:
        """Tell whether the rule is for such a pod."""
        here = self.namespace in (None, pod.namespace) and self.owner in (None, pod.owner)
        return here and self.selector.matches(pod.labels)
