"""Uids, names and times come from the seed and the simulated clock, whatever the order of requests."""

from __future__ import annotations

import re
import uuid

from batkube.kube.storage.identity import Clock, Identities


def test_uids_depend_on_what_the_object_is_not_on_order() -> None:
    one, other = Identities(7), Identities(7)
    a, b = one.uid("pods", "default", "a"), one.uid("pods", "default", "b")
    assert [other.uid("pods", "default", "b"), other.uid("pods", "default", "a")] == [b, a]
    assert (
        len({a, b, one.uid("pods", "other", "a"), one.uid("nodes", "", "a"), Identities(8).uid("pods", "default", "a")})
        == 5
    )


def test_a_uid_is_a_uuid() -> None:
    assert uuid.UUID(Identities(0).uid("pods", "default", "a")).version == 4


def test_the_next_object_of_a_name_has_another_uid() -> None:
    identities = Identities(7)
    first = identities.uid("pods", "default", "a")
    identities.ended("pods", "default", "a")
    second = identities.uid("pods", "default", "a")
    assert first != second
    assert second == identities.uid("pods", "default", "a")


def test_generated_names() -> None:
    identities = Identities(7)
    first = identities.name("pods", "default", "web-", lambda name: False)
    second = identities.name("pods", "default", "web-", lambda name: False)
    assert re.fullmatch("web-[bcdfghjklmnpqrstvwxz2456789]{5}", first)
    assert first != second
    assert Identities(7).name("pods", "default", "web-", lambda name: False) == first
    assert Identities(7).name("pods", "default", "web-", lambda name: name == first) == second


def test_a_generated_name_fits_into_a_label() -> None:
    assert len(Identities(0).name("pods", "default", "x" * 80, lambda name: False)) == 63


def test_times() -> None:
    now = 1_767_225_600.25
    clock = Clock(lambda: now)
    assert clock.seconds() == "2026-01-01T00:00:00Z"
    assert clock.seconds(30) == "2026-01-01T00:00:30Z"
    assert clock.micros() == "2026-01-01T00:00:00.250000Z"
    now = 1_767_225_601.0
    assert (clock.seconds(), clock.micros()) == ("2026-01-01T00:00:01Z", "2026-01-01T00:00:01.000000Z")
