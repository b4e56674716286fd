"""How tasks share hosts and links."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batkube.simulator.bottleneck import fair_rates
from batkube.simulator.parallel_task import Demand


def task(limit: float = float("inf"), **uses: float) -> Demand:
    """A task that uses so much of resources that have 1 a second each."""
    demand = Demand(rate_limit=limit)
    for name, amount in uses.items():
        demand.use(name, amount, 1.0)
    return demand


@pytest.mark.parametrize(
    ("demands", "rates"),
    [
        ([task(a=2)], [0.5]),
        ([task(a=1), task(a=1)], [0.5, 0.5]),
        ([task(a=1), task(a=3)], [0.5, 1 / 6]),
        ([task(0.1, a=1), task(a=1)], [0.1, 0.9]),
        ([task(a=1), task(a=1, b=4), task(b=1)], [0.875, 0.125, 0.5]),
        ([task(0.25)], [0.25]),
        ([task(a=1), task(b=1)], [1.0, 1.0]),
    ],
)
def test_shares(demands: list[Demand], rates: list[float]) -> None:
    assert fair_rates(demands) == pytest.approx(rates)


amounts = st.dictionaries(st.sampled_from("abcde"), st.floats(1e-3, 1e3), min_size=1)
limits = st.just(float("inf")) | st.floats(1e-3, 1e3)


@given(st.lists(st.tuples(limits, amounts), min_size=1, max_size=8))
def test_no_resource_is_overbooked_and_every_task_is_held_back_by_something(
    given_tasks: list[tuple[float, dict[str, float]]],
) -> None:
    demands = [task(limit, **uses) for limit, uses in given_tasks]
    rates = fair_rates(demands)
    used = {name: 0.0 for demand in demands for name in demand.uses}
    for demand, rate in zip(demands, rates, strict=True):
        for name, amount in demand.uses.items():
            used[name] += amount * rate
    assert all(amount <= 1.0 + 1e-6 for amount in used.values())
    for demand, rate in zip(demands, rates, strict=True):
        exhausted = any(used[name] >= 1.0 - 1e-6 for name in demand.uses)
        assert rate > 0
        assert exhausted or rate >= demand.rate_limit * (1 - 1e-9)
