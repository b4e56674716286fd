"""Quantities are read, written, compared and added as Kubernetes does."""

from __future__ import annotations

from fractions import Fraction

import pytest

from batkube.kube.quantity import Quantity, QuantityError, canonical, milli


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("1", "1"),
        ("0.1", "100m"),
        ("1000m", "1"),
        ("1500m", "1500m"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("128974848000m", "128974848"),
        ("1e3", "1e3"),  # the family of the spelling stays
        ("1E3", "1E3"),
        ("12e-1", "1200e-3"),
        ("1k", "1k"),
        ("5Pi", "5Pi"),
        ("100Ei", "9223372036854775807"),  # cut at 2^63 - 1
        ("0.5Ki", "512"),
        ("5.", "5."),  # what the real server takes for canonical
        ("1.Gi", "1.Gi"),
        ("007", "007"),
        ("0128Mi", "128Mi"),
        ("Mi", "0"),
        ("-1", "-1"),
        ("0.00000000001", "1n"),  # never rounded to nothing
    ],
)
def test_a_quantity_is_written_as_the_real_server_writes_it(text: str, written: str) -> None:
    assert canonical(text) == written


@pytest.mark.parametrize(
    ("text", "rounded"), [("1500u", "2m"), ("1n", "1m"), ("-0.0001", "-1m"), ("0.1", "100m"), ("1e3", "1e3")]
)
def test_resources_are_rounded_up_to_thousandths(text: str, rounded: str) -> None:
    assert milli(text) == rounded


@pytest.mark.parametrize("text", ["", "abc", "1Zi", "1g", "1,5", "1 Gi", "0x10"])
def test_what_is_no_quantity_is_refused(text: str) -> None:
    with pytest.raises(QuantityError, match="quantities must match the regular expression"):
        Quantity.parse(text)


def test_an_unknown_suffix_is_named_as_such() -> None:
    with pytest.raises(QuantityError, match="unable to parse quantity's suffix"):
        Quantity.parse("1mGi")


def test_amounts_are_compared_whatever_their_spelling() -> None:
    assert Quantity.parse("1") == Quantity.parse("1000m")
    assert Quantity.parse("1Gi") > Quantity.parse("1G")
    assert max("500m", "0.25", "1", key=Quantity.parse) == "1"
    assert len({Quantity.parse("1"), Quantity.parse("1000m")}) == 1


def test_sums_are_exact_and_keep_the_family_of_the_first() -> None:
    third = sum((Quantity.parse("0.1") for _ in range(3)), Quantity(0))
    assert third.value == Fraction(3, 10)
    assert str(third) == "300m"
    assert str(Quantity.parse("1Gi") + Quantity.parse("512Mi")) == "1536Mi"
    assert str(Quantity.parse("1") - Quantity.parse("250m")) == "750m"
    assert str(Quantity.parse("250m") * 3) == "750m"


def test_exponents_beyond_reason_cost_nothing() -> None:
    assert Quantity.parse("1e999999999").value > 0
