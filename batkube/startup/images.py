"""The images of containers, as a start-up model has them: how large they are, how fast they come, which never do. ::

images:
  sizes: {app:1: 500Mi, 'registry.example.com/*': 2Gi}
  rate: 50Mi                                     # bytes a second
  failures:
  - {image: 'bad:*'}                             # cannot be pulled
  - {selector: app=web, fail: 20%}               # of the tries
  - {node: n3, times: 2}                         # the first two tries of each pod there
  - {image: 'registry.example.com/*', from: 1h, until: 2h}
"""

import math
from collections.abc import Iterator
from fnmatch import fnmatchcase
from random import Random
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, model_validator

from batkube.kube.apimachinery.quantity import Quantity, QuantityError
from batkube.startup.delays import STRICT
from batkube.startup.lengths import LONGEST, read_length_if_text
from batkube.startup.pod_condition import PodCondition, PodFacts
from batkube.startup.shares import share_if_percent

MOST_BYTES = 1 << 60
"""The most bytes of an image, and a second."""


def _bytes(value: Any) -> Any:
    """Return the bytes of a quantity."""
    try:
        size = Quantity.parse(str(value))
    except QuantityError:
        raise ValueError(f"expected a size such as 500Mi, not {value!r}") from None
    return int(size.value)


Bytes = Annotated[Annotated[int, Field(ge=0, le=MOST_BYTES)], BeforeValidator(_bytes)]
Date = Annotated[Annotated[float, Field(ge=0, le=LONGEST)], BeforeValidator(read_length_if_text)]


class PullFailure(PodCondition):
    """Pulls that fail: all of those that it is about, unless it says which."""

    image: str = "*"
    """The image as the pod names it; ``*`` and ``?`` stand for any text, and any character."""
    node: str = "*"
    fail: Annotated[Annotated[float, Field(gt=0, le=1)], BeforeValidator(share_if_percent)] = 1.0
    """The share of the tries that fail."""
    times: Annotated[int, Field(ge=1)] | None = None
    """The number of tries of each container that fail, the first ones."""
    since: Annotated[Date, Field(alias="from")] = 0.0
    until: Date = math.inf
    message: str = ""
    """The words of the container runtime; empty for those on an image that there is not."""

    @model_validator(mode="before")
    @classmethod
    def _mapping(cls, value: Any) -> Any:
        if not isinstance(value, dict):
            raise ValueError("expected a failure such as {image: 'bad:*'}")
        return value

    @property
    def endless(self) -> bool:
        """True if what fails once fails for ever."""
        return self.fail == 1.0 and self.times is None and self.until == math.inf

    def fails(self, tries: int, date: float, luck: float) -> bool:
        """Tell whether a try fails, after so many ``tries`` before it. ``luck``: a number drawn for it."""
        return self.since <= date < self.until and (self.times is None or tries < self.times) and luck < self.fail


class Images(BaseModel):
    """All that is said of images."""

    model_config = STRICT

    sizes: dict[str, Bytes] = Field(default_factory=dict)
    """The bytes of images, by name: the first that fits counts."""
    rate: Annotated[Bytes, Field(gt=0)] | None = None
    """The bytes a second at which a node pulls; None: their size takes no time."""
    failures: list[PullFailure] = Field(default_factory=list)

    def size(self, image: str) -> int:
        """Return the bytes of an image; 0 if nothing is known of it."""
        return next((size for name, size in self.sizes.items() if fnmatchcase(image, name)), 0)

    def seconds(self, image: str) -> float:
        """Return how long the bytes of an image take."""
        return 0.0 if self.rate is None else self.size(image) / self.rate

    def about(self, image: str, node: str, pod: PodFacts) -> Iterator[PullFailure]:
        """Yield what is said of pulls of an image on a node for a pod."""
        for failure in self.failures:
            there = fnmatchcase(image, failure.image) and fnmatchcase(node, failure.node)
            if there and failure.matches(pod):
                yield failure


def luck(seed: int, namespace: str, pod: str, container: str, tries: int, rule: int) -> float:
    """Return the number from which it follows whether a try fails, whatever other pods do."""
    return Random(f"{seed} {namespace}/{pod} {container} pull {tries} {rule}").random()
