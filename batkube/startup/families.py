"""What a fit may take recorded delays for."""

from enum import StrEnum


class Family(StrEnum):
    """What the delays of a stage are taken for."""

    QUANTILES = "quantiles"
    """Nothing: they are repeated as they were measured."""
    LOGNORMAL = "lognormal"
    EXPONENTIAL = "exponential"
