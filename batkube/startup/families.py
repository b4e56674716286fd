"""The families of distributions that can be fitted to recorded delays."""

from enum import StrEnum


class Family(StrEnum):
    """The distribution that is fitted to the delays of a stage."""

    QUANTILES = "quantiles"
    """No distribution: the delays are repeated as they were measured."""
    LOGNORMAL = "lognormal"
    EXPONENTIAL = "exponential"
