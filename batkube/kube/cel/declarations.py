"""The declarations of functions: the types of their arguments and results, and the cost of a call."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from .types import Type
from .values import size

Cost = Callable[..., int]
"""The cost of a call, from its arguments and its result, which comes last."""

_WORD = re.compile(r"\s*([A-Za-z_.0-9]+|[(),])")


@dataclass(frozen=True, slots=True)
class Overload:
    """A function for values of certain types.

    `costs` are Kubernetes' (`k8s.io/apiserver/pkg/cel/library/cost.go`), 1 if there are none. A `watched` function gets
    the evaluation as its first argument, to count work that its costs do not show.
    """

    name: str
    params: tuple[Type, ...]
    result: Type
    call: Callable[..., Any]
    costs: Cost | None = None
    method: bool = False
    watched: bool = False


def overloads(
    name: str,
    signatures: Iterable[str],
    call: Callable[..., Any],
    costs: Cost | None = None,
    *,
    method: bool = False,
    watched: bool = False,
) -> list[Overload]:
    """Declare a function: `signatures` are its parameters and its result, `string, int: string`."""
    found = []
    for signature in signatures:
        params, _, result = signature.rpartition(":")
        found.append(Overload(name, types_of(params), types_of(result)[0], call, costs, method, watched))
    return found


def methods(
    name: str, signatures: Iterable[str], call: Callable[..., Any], costs: Cost | None = None, *, watched: bool = False
) -> list[Overload]:
    """Declare a function that is called on its first argument."""
    return overloads(name, signatures, call, costs, method=True, watched=watched)


@lru_cache(maxsize=512)
def types_of(text: str) -> tuple[Type, ...]:
    """Return the types in a text: `list(A), int`. A single letter is a parameter, any type."""
    words = _WORD.findall(text)

    def read() -> Type:
        name = words.pop(0)
        inner = []
        if words and words[0] == "(":
            while words.pop(0) != ")":
                inner.append(read())
        return ("param", name) if len(name) == 1 else (name, *inner)

    found = []
    while words:
        found.append(read())
        if words:
            words.pop(0)
    return tuple(found)


def by_size(factor: float) -> Cost:
    """Return the cost of going through the first argument."""
    return lambda first, *rest: math.ceil(size(first) * factor)
