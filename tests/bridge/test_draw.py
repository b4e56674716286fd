"""The draws of a seed: the same for the same seed, and no more than a real cluster leaves open."""

from batkube.bridge.draw import Draw

JOBS = list(range(20))


def test_without_a_seed_all_stays_as_it_is_given() -> None:
    draw = Draw()
    assert draw.order(JOBS) == JOBS
    assert draw.order_of_sending(JOBS) == JOBS


def test_a_seed_draws_the_same_each_time_and_another_one_otherwise() -> None:
    orders = {seed: (Draw(seed).order(JOBS), Draw(seed).order_of_sending(JOBS)) for seed in range(1, 6)}
    assert orders == {seed: (Draw(seed).order(JOBS), Draw(seed).order_of_sending(JOBS)) for seed in range(1, 6)}
    assert len({str(order) for order in orders.values()}) == 5
    assert all(sorted(order) == JOBS for pair in orders.values() for order in pair)


def test_what_is_sent_one_after_the_other_changes_places_with_a_neighbour_at_most() -> None:
    moved = [abs(place - job) for seed in range(1, 200) for place, job in enumerate(Draw(seed).order_of_sending(JOBS))]
    assert set(moved) == {0, 1}
