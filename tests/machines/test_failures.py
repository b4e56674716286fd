"""Failures by chance: the same for the same seed, as often as was said, and never two of one host at once."""

import math
import re
from collections.abc import Iterator
from itertools import islice
from statistics import fmean

import pytest

from batkube.batsim.external_events import AVAILABLE, UNAVAILABLE, check_external_events
from batkube.batsim.machine_events import Course, MachineEvents, Span
from batkube.machines.failures import read_failures
from batkube.machines.places import Place, Places

ZONE = "topology.kubernetes.io/zone"


def cluster(count: int) -> Places:
    """Nodes in the zones a and b by turns, and one in none."""
    zoned = [Place(f"n{number}", f"n{number}", {ZONE: "ab"[number % 2]}) for number in range(count)]
    return Places([*zoned, Place("alone", "alone", {})])


def spans(text: str, host: str, *, count: int = 4, seed: int = 1, many: int = 2000) -> list[Span]:
    course = read_failures(text).courses(cluster(count), seed=seed, name="0")[host]
    assert list(islice(course(), 50)) == list(islice(course(), 50))
    return list(islice(course(), many))


@pytest.mark.parametrize("more", ["", ",dist=weibull,shape=0.7", ",dist=weibull,shape=3"])
def test_times_between_failures_and_to_repair_have_the_means_that_were_said(more: str) -> None:
    found = spans(f"mtbf=30d,mttr=2h{more}", "n0")
    ups = [begin - end for (_, end), (begin, _) in zip([(0.0, 0.0), *found], found, strict=False)]
    assert fmean(ups) == pytest.approx(30 * 86_400, rel=0.1)
    assert fmean(end - begin for begin, end in found) == pytest.approx(7200, rel=0.1)
    spread = fmean((up - fmean(ups)) ** 2 for up in ups) ** 0.5 / fmean(ups)
    shape = float(more.partition("shape=")[2] or 1)
    assert spread == pytest.approx((math.gamma(1 + 2 / shape) / math.gamma(1 + 1 / shape) ** 2 - 1) ** 0.5, rel=0.15)


def test_what_is_drawn_follows_from_the_seed_and_the_host_alone() -> None:
    text = "mtbf=1h,mttr=5m"
    assert spans(text, "n0") == spans(text, "n0", count=9)
    assert spans(text, "n0") != spans(text, "n1")
    assert spans(text, "n0") != spans(text, "n0", seed=2)
    assert spans(f"{text},seed=2", "n0") == spans(text, "n0", seed=2)


def test_a_zone_fails_as_a_whole() -> None:
    courses = read_failures("mtbf=1h,mttr=5m,per=zone").courses(cluster(4), seed=0, name="0")
    first = {host: next(course()) for host, course in courses.items()}
    assert set(first) == {"n0", "n1", "n2", "n3"}
    assert first["n0"] == first["n2"] != first["n1"] == first["n3"]
    event = next(iter(MachineEvents({number: [courses[f"n{number}"]] for number in range(4)})))
    assert event.hosts in ((0, 2), (1, 3))


def test_failures_may_begin_later_and_end() -> None:
    found = spans("mtbf=10m,mttr=1m,from=5h,for=2h", "n0")
    assert found
    assert all(5 * 3600 <= begin < 7 * 3600 for begin, _ in found)
    assert spans("mtbf=10m,mttr=1m,zone=b,for=1h", "n1")
    assert set(read_failures("mtbf=1,mttr=1,zone=b").courses(cluster(4), seed=0, name="0")) == {"n1", "n3"}


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("", "expected NAME=VALUE"),
        ("mtbf", "expected NAME=VALUE"),
        ("mtbf=1h", "mttr is missing"),
        ("mtbf=soon,mttr=1h", "mtbf: expected seconds or a length such as 1h30m"),
        ("mtbf=0,mttr=1h", "mtbf: input should be greater than"),
        ("mtbf=1h,mttr=1h,mtbf=2h", "mtbf is there twice"),
        ("mtbf=1h,mttr=1h,per=rack", "per: input should be 'host' or 'zone', not 'rack'"),
        ("mtbf=1h,mttr=1h,shape=2", "dist=weibull and shape=NUMBER go together"),
        ("mtbf=1h,mttr=1h,dist=weibull", "dist=weibull and shape=NUMBER go together"),
        ("mtbf=1h,mttr=1h,colour=red", "there is no colour: expected some of mtbf, mttr, per"),
    ],
)
def test_what_is_wrong_is_told(text: str, error: str) -> None:
    with pytest.raises(ValueError, match=re.escape(error)) as raised:
        read_failures(text)
    assert "\n" not in str(raised.value)


def course(*spans: Span) -> Course:
    def one() -> Iterator[Span]:
        return iter(spans)

    return one


def test_spans_of_one_host_that_overlap_or_touch_become_one() -> None:
    events = MachineEvents({3: [course((1, 5), (20, 30)), course((4, 8), (8, 9), (40, math.inf), (50, 60))]})
    told = [(event.timestamp, event.type) for event in events]
    assert told == [
        (1, UNAVAILABLE), (9, AVAILABLE), (20, UNAVAILABLE), (30, AVAILABLE), (40, UNAVAILABLE),
    ]  # fmt: skip


def test_events_are_those_that_batsim_takes_whatever_overlaps() -> None:
    places = cluster(8)
    texts = ["mtbf=20m,mttr=10m", "mtbf=30m,mttr=20m,per=zone", "mtbf=5m,mttr=1m,dist=weibull,shape=0.6"]
    courses: dict[int, list[Course]] = {}
    for name, text in enumerate(texts):
        found = read_failures(text).courses(places, seed=5, name=str(name))
        for number, place in enumerate(places.all):
            courses.setdefault(number, []).extend([found[place.host]] if place.host in found else [])
    events = list(islice(MachineEvents(courses), 5000))
    assert [event.timestamp for event in events] == sorted(event.timestamp for event in events)
    check_external_events(events, len(places.all))
    by_host = [event for host in courses for event in islice(MachineEvents(courses).of(host), 20)]
    assert {(e.timestamp, e.type) for e in by_host if e.timestamp < events[-1].timestamp} <= {
        (event.timestamp, event.type) for event in events
    }
