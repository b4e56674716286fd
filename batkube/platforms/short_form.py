"""Machines in a few words: ``16 x 32cpu,128Gi,4gpu zone=a``, ``4 x 8cpu speed=0.5``."""

import re

from batkube.batsim.input_file import quote
from batkube.bridge.hosts import read_speed
from batkube.kube.apimachinery.quantity import Quantity, QuantityError
from batkube.platforms.machine import GPU, REGION, ZONE, Machine

MOST = 100_000
"""The most machines of one form."""
_FORM = re.compile(r"(?:([0-9]{1,9})\s*x\s*)?([0-9.]+m?cpu(?:,\S+)?)((?:\s+\S+)*)")
_TIMES = re.compile(r"([0-9]{1,9})\s+like\s+(\S+)")
_KEY = re.compile(r"([a-z0-9.-]+/)?[A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?")
_VALUE = re.compile(r"([A-Za-z0-9]([A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?)?")
_TAINT = re.compile(r"([^=:]+)(?:=([^:]*))?:(NoSchedule|PreferNoSchedule|NoExecute)")
_SHORT = {"zone": ZONE, "region": REGION}
EXAMPLE = "'16 x 32cpu,128Gi,4gpu zone=a'"


def is_short_form(text: str) -> bool:
    """Tell whether a text names machines, and no file."""
    return _FORM.fullmatch(text.strip()) is not None


def read_short_form(text: str) -> list[Machine]:
    """Return the machines, yet without names. Raises ValueError, in half a line."""
    found = _FORM.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"expected machines such as {EXAMPLE}, not {quote(text)}")
    times = _count(found[1] or "1")
    offers: dict[str, str] = {}
    for word in found[2].split(","):
        resource, amount = _offer(word)
        if resource in offers:
            raise ValueError(f"{quote(text)}: {resource} is named twice")
        offers[resource] = amount
    labels: dict[str, str] = {}
    taints = []
    speed = 1.0
    for word in found[3].split():
        key, equals, value = word.partition("=")
        if key == "taint" and (taint := _TAINT.fullmatch(value)):
            taints.append({"key": taint[1], "effect": taint[3], **({"value": taint[2]} if taint[2] else {})})
            continue
        if key == "speed":
            try:
                speed = read_speed(value)
            except ValueError as error:
                raise ValueError(f"{quote(text)}: speed: {error}") from None
            continue
        if not equals or key == "taint" or not _KEY.fullmatch(key) or not _VALUE.fullmatch(value):
            raise ValueError(f"{quote(text)}: expected a label such as zone=a, or taint=KEY=VALUE:EFFECT, not {word!r}")
        labels[_SHORT.get(key, key)] = value
    machine = Machine(
        "", offers.pop("cpu"), offers.pop("memory", None), offers.pop("pods", None), offers, labels, taints, speed=speed
    )
    return [machine] * times


def read_more(text: str) -> tuple[int, str]:
    """Return how many machines are to be added, and like which: ``20 like n1``. Raises ValueError."""
    found = _TIMES.fullmatch(text.strip())
    if found is None:
        raise ValueError(f"expected such as '20 like n1', not {quote(text)}")
    return _count(found[1]), found[2]


def _count(text: str) -> int:
    if not 0 < int(text) <= MOST:
        raise ValueError(f"expected from 1 to {MOST} machines, not {text}")
    return int(text)


def _offer(word: str) -> tuple[str, str]:
    """Return the resource and the amount of ``32cpu``, ``128Gi``, ``4gpu``, ``110pods`` or ``example.com/foo=2``."""
    for suffix, resource in (("cpu", "cpu"), ("gpu", GPU), ("pods", "pods")):
        if word.endswith(suffix) and "/" not in word:
            return resource, _amount(word, word.removesuffix(suffix), whole=resource != "cpu")
    if "/" in word:
        resource, _, amount = word.partition("=")
        if not _KEY.fullmatch(resource):
            raise ValueError(f"{quote(resource)} is no name of a resource")
        return resource, _amount(word, amount, whole=True)
    return "memory", _amount(word, word, whole=False)


def _amount(word: str, text: str, *, whole: bool) -> str:
    try:
        amount = Quantity.parse(text)
    except QuantityError:
        raise ValueError(
            f"expected such as 32cpu, 128Gi, 4gpu, 110pods or NAME/RESOURCE=2, not {quote(word)}"
        ) from None
    if amount < Quantity(0) or (whole and amount.value.denominator != 1):
        raise ValueError(f"{quote(word)}: expected a {'whole ' if whole else ''}number that is not negative")
    return str(int(amount.value)) if whole else str(amount)
