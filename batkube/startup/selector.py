"""Label selectors in files of users, as kubectl's ``-l`` has them."""

from typing import Annotated, Any

from pydantic import PlainValidator

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.storage.selectors import LabelSelector, parse_label_selector


def read_selector(text: Any) -> LabelSelector:
    """Return the selector that a text stands for. Raises ValueError."""
    if not isinstance(text, str):
        raise ValueError("expected labels such as app=web")
    try:
        return parse_label_selector(text)
    except ApiError as error:
        raise ValueError(error.message) from None


Selector = Annotated[LabelSelector, PlainValidator(read_selector)]
