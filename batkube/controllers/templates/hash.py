"""The hash of a pod template, and of a revision's data: that of kube-controller-manager, to the letter."""

from typing import Any

from batkube.controllers.templates.go_dump import dump

JSON = dict[str, Any]

POD_TEMPLATE_HASH = "pod-template-hash"
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"
_OFFSET, _PRIME, _BITS = 2166136261, 16777619, 0xFFFFFFFF


def template_hash(template: JSON, collisions: int | None = None) -> str:
    """Return the hash of a PodTemplateSpec (`controller.ComputeHash`). ``collisions``: the owner's collisionCount."""
    more = b"" if collisions is None else collisions.to_bytes(4, "little") + bytes(4)
    return _encoded(_fnv32a(dump(template).encode() + more))


def data_hash(data: bytes, probe: int | None = None) -> str:
    """Return the hash of a ControllerRevision's data (`history.HashControllerRevision`)."""
    return _encoded(_fnv32(data + (b"" if probe is None else str(probe).encode())))


def _fnv32a(data: bytes) -> int:
    value = _OFFSET
    for byte in data:
        value = ((value ^ byte) * _PRIME) & _BITS
    return value


def _fnv32(data: bytes) -> int:
    value = _OFFSET
    for byte in data:
        value = ((value * _PRIME) & _BITS) ^ byte
    return value


def _encoded(number: int) -> str:
    """Return the number in letters that make no words (`rand.SafeEncodeString`)."""
    return "".join(_LETTERS[ord(digit) % len(_LETTERS)] for digit in str(number))
