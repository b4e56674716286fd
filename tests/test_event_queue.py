"""The queue of events by date: the order of entries, and those that are cancelled."""

from functools import partial

from batkube.event_queue import Entry, EventQueue


def test_entries_go_by_date_then_rank_then_in_the_order_they_came() -> None:
    queue = EventQueue[int, Entry]()
    done: list[str] = []
    early = queue.ticket()
    for name, date, rank, ticket in (
        ("late", 9, 0, None),
        ("second", 5, 1, None),
        ("third", 5, 1, None),
        ("put off", 5, 1, early),
        ("first", 5, 0, None),
    ):
        queue.push(date, Entry(partial(done.append, name)), rank, ticket)
    while due := queue.pop_until(5):
        assert due[0] == 5
        due[1]()
    assert done == ["first", "put off", "second", "third"]
    assert queue.next_date == 9


def test_a_cancelled_entry_does_not_happen() -> None:
    queue = EventQueue[float, Entry]()
    gone, kept = Entry(lambda: None), Entry(lambda: None)
    queue.push(1.0, gone)
    queue.push(2.0, kept)
    gone.cancel()
    assert (queue.first, queue.next_date) == (kept, 2.0)
    assert queue.pop_until(1.5) is None
    assert queue.pop_until(2.0) is not None
    assert (queue.first, queue.next_date) == (None, None)
