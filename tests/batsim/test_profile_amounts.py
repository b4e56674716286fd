"""The amounts of work for each executor of a homogeneous task, in Batsim 4 and in Batsim 5, whose words look alike."""

from typing import Any

import pytest

from batkube.batsim.profiles import HomogeneousProfile, PfsProfile, parse_profile

EACH, SPREAD = "DefinedAmountsUsedForEachValue", "DefinedAmountsSpreadUniformly"


@pytest.mark.parametrize(
    ("kind", "strategy", "expected"),
    [
        ("parallel_homogeneous", None, (12.0, 24.0)),
        ("parallel_homogeneous_total", None, (3.0, 6.0)),
        ("ParallelTaskHomogeneousProfile", None, (12.0, 24.0)),
        ("ParallelTaskHomogeneousProfile", EACH, (12.0, 24.0)),
        # Batsim 5.0.0-rc2 ran 4e8 bytes over four hosts in 1.6004 s, where Batsim 4's total takes 4.8004 s.
        ("ParallelTaskHomogeneousProfile", SPREAD, (3.0, 2.0)),
    ],
)
def test_flops_and_bytes(kind: str, strategy: str | None, expected: tuple[float, float]) -> None:
    raw: dict[str, Any] = {"type": kind, "cpu": 12, "com": 24}
    if strategy:
        raw["generation_strategy"] = strategy
    profile = parse_profile("p", raw)
    assert isinstance(profile, HomogeneousProfile)
    assert profile.amounts(4) == expected


def test_one_executor_alone_has_no_pairs() -> None:
    raw = {"type": "ParallelTaskHomogeneousProfile", "cpu": 12, "com": 24, "generation_strategy": SPREAD}
    profile = parse_profile("p", raw)
    assert isinstance(profile, HomogeneousProfile)
    assert profile.amounts(1) == (12.0, 24.0)


@pytest.mark.parametrize(("strategy", "expected"), [(EACH, (8.0, 4.0)), (SPREAD, (2.0, 1.0))])
def test_bytes_from_and_to_a_storage(strategy: str, expected: tuple[float, float]) -> None:
    raw = {
        "type": "ParallelTaskOnStorageHomogeneousProfile",
        "bytes_to_read": 8,
        "bytes_to_write": 4,
        "generation_strategy": strategy,
    }
    profile = parse_profile("p", raw)
    assert isinstance(profile, PfsProfile)
    assert profile.amounts(4) == expected
