"""Hypothesis, the same at every run, and patient with a machine that is busy with other tests."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "batkube", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], database=None
)
settings.load_profile("batkube")
