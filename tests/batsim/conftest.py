"""What these tests share."""

from tests.batsim import hypothesis_profile as hypothesis_profile
