"""The choice of the controllers that are played here."""

from enum import StrEnum


class Which(StrEnum):
    """The controllers of a simulated cluster."""

    AUTO = "auto"
    """The built-in ones, until a kube-controller-manager calls."""
    BUILTIN = "builtin"
    """The same, whoever calls."""
    NONE = "none"
