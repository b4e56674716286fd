"""Batsim's names become valid Kubernetes names, each thing another, the same each time."""

import re

from hypothesis import given
from hypothesis import strategies as st

from batkube.bridge.names import Names, dns_subdomain, label_value

SUBDOMAIN = re.compile(r"[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*")
LABEL_VALUE = re.compile(r"([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")


def test_what_users_see() -> None:
    assert dns_subdomain("Bourassa") == "bourassa"
    assert dns_subdomain("w0!12") == "w0-12"
    assert dns_subdomain("graphene-1.nancy.grid5000.fr") == "graphene-1.nancy.grid5000.fr"
    assert label_value("w0!12") == "w0-12"


@given(st.text(max_size=300))
def test_every_text_becomes_a_valid_name_and_label(text: str) -> None:
    name = dns_subdomain(text)
    assert SUBDOMAIN.fullmatch(name)
    assert len(name) <= 253
    value = label_value(text)
    assert LABEL_VALUE.fullmatch(value)
    assert len(value) <= 63


@given(st.lists(st.text(alphabet="aB-!.", max_size=4), max_size=30))
def test_no_two_things_have_the_same_name(texts: list[str]) -> None:
    names, again = Names(), Names()
    claimed = [names.claim(text) for text in texts]
    assert len(set(claimed)) == len(texts)
    assert claimed == [again.claim(text) for text in texts]
    assert all(SUBDOMAIN.fullmatch(name) for name in claimed)


def test_a_name_that_is_valid_stays_whoever_asks_first() -> None:
    hosts = ["N-1", "n-1", "n_1", "n-1-2"]
    names = Names()
    names.reserve(hosts)
    assert [names.claim(host) for host in hosts] == ["n-1-3", "n-1", "n-1-4", "n-1-2"]
