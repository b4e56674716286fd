"""Objects as rows of a table, as kubectl prints them."""

from __future__ import annotations

from collections.abc import Callable

from .forms import Form
from .resources import ResourceType
from .status import ApiError


def table_form(resource: ResourceType, version: str, include: str, now: Callable[[], float]) -> Form:
    """The form of a Table of meta.k8s.io/`version`; `include` is the query's includeObject."""
    raise ApiError(406, "NotAcceptable", "tables are not served")
