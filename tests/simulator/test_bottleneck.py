"""The sharing of hosts and links between tasks."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from batkube.simulator.sharing.bottleneck import Shared, Uses, fair_rates

Task = tuple[Uses, float]


class Plant:
    """Resources by name, each with so much a second."""

    def __init__(self, *fatpipes: str, **capacities: float) -> None:
        self._capacities = capacities
        self._fatpipes = fatpipes
        self._made: dict[str, Shared] = {}

    def task(self, limit: float = math.inf, **amounts: float | tuple[float, ...]) -> Task:
        """A task that uses so much; several amounts of one resource are several executors on a host."""
        uses = [
            (self._resource(name), amount)
            for name, given in amounts.items()
            for amount in (given if isinstance(given, tuple) else (given,))
        ]
        return uses, limit

    def _resource(self, name: str) -> Shared:
        capacity = self._capacities.get(name, 1.0)
        return self._made.setdefault(name, Shared(capacity, fatpipe=name in self._fatpipes))


GIGA = 1e9
plain = Plant(a=GIGA, b=GIGA, c=GIGA)


@pytest.mark.parametrize(
    ("tasks", "rates"),
    [
        ([plain.task(a=2 * GIGA)], [0.5]),
        ([plain.task(a=GIGA), plain.task(a=GIGA)], [0.5, 0.5]),
        ([plain.task(a=GIGA), plain.task(a=3 * GIGA)], [0.5, 1 / 6]),
        ([plain.task(a=GIGA), plain.task(b=GIGA)], [1.0, 1.0]),
        ([plain.task(a=(GIGA, GIGA))], [0.5]),
    ],
)
def test_shares(tasks: list[Task], rates: list[float]) -> None:
    assert fair_rates(tasks) == pytest.approx(rates)


def test_a_task_with_two_executors_on_a_host_counts_as_two_users_of_it() -> None:
    assert fair_rates([plain.task(a=(GIGA, GIGA)), plain.task(a=GIGA)]) == pytest.approx([1 / 3, 1 / 3])


def test_a_task_that_reached_its_limit_is_charged_its_last_step_again_and_again() -> None:
    # Round 1 gives 0.1, 1/3 and 1/3, of 1. Round 2 gives 0.067 and 0.117 of what is left, and takes 0.1 once more.
    rates = fair_rates([plain.task(0.1, a=GIGA), plain.task(0.4, a=GIGA), plain.task(a=GIGA)])
    assert rates == pytest.approx([0.1, 0.4, 0.45])


def test_a_fatpipe_gives_each_task_its_whole_bandwidth() -> None:
    pipe = Plant("a", a=GIGA)
    assert fair_rates([pipe.task(a=GIGA), pipe.task(a=GIGA)]) == pytest.approx([1.0, 1.0])


def test_a_fatpipe_gives_more_than_its_bandwidth_where_another_flow_is_held_back_elsewhere() -> None:
    pipe = Plant("a", a=GIGA, b=GIGA)
    fast, slow = fair_rates([pipe.task(a=GIGA), pipe.task(0.25, a=GIGA)])
    assert slow == 0.25
    assert fast == pytest.approx(1.0 + 0.75 + 0.5 + 0.25)


amounts = st.dictionaries(st.sampled_from("abcde"), st.floats(1e3, 1e9), min_size=1)
limits = st.just(math.inf) | st.floats(1e-3, 1e3)


@given(st.lists(st.tuples(limits, amounts), min_size=1, max_size=8))
def test_no_resource_is_overbooked_and_every_task_goes_on(given_tasks: list[tuple[float, dict[str, float]]]) -> None:
    plant = Plant(**dict.fromkeys("abcde", GIGA))
    rates = fair_rates([plant.task(limit, **uses) for limit, uses in given_tasks])
    used = dict.fromkeys("abcde", 0.0)
    for (limit, uses), rate in zip(given_tasks, rates, strict=True):
        assert 0 < rate <= limit
        for name, amount in uses.items():
            used[name] += amount * rate
    assert all(amount <= GIGA * (1 + 1e-9) for amount in used.values())
