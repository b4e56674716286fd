"""Fixtures of these tests."""

from tests.batsim import hypothesis_profile as hypothesis_profile
