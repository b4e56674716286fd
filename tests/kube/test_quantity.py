"""Quantities: exact numbers, and the real server's spelling of them (recorded from kube-apiserver 1.36.3)."""

from __future__ import annotations

from fractions import Fraction

import pytest

from batkube.kube.apimachinery.quantity import Quantity, QuantityError, canonical, milli


@pytest.mark.parametrize(
    ("sent", "kept"),
    [
        ("1", "1"),
        ("0", "0"),
        ("100m", "100m"),
        ("0.1", "100m"),
        (".5", "500m"),
        ("1.", "1."),
        ("+1", "+1"),
        ("1000m", "1"),
        ("1000", "1k"),
        ("1e3", "1e3"),
        ("1E3", "1E3"),
        ("1.5Gi", "1536Mi"),
        ("1024Mi", "1Gi"),
        ("1000Mi", "1000Mi"),
        ("0.5Ki", "512"),
        ("-1", "-1"),
        ("1n", "1n"),
        ("0.1n", "1n"),
        ("9999999999999999999", "9999999999999999999"),
    ],
)
def test_spelling(sent: str, kept: str) -> None:
    assert canonical(sent) == kept


@pytest.mark.parametrize(("sent", "kept"), [("0.0001", "1m"), ("1u", "1m"), ("1500m", "1500m"), ("1.0005", "1001m")])
def test_lists_of_resources_keep_thousandths_rounded_up(sent: str, kept: str) -> None:
    assert milli(sent) == kept


@pytest.mark.parametrize("text", ["", "many", "1 Gi", "1Kb", "1e", "--1", "1.2.3", "0x10"])
def test_what_is_none_is_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        Quantity.parse(text)


def test_amounts_are_exact_and_compared_by_value() -> None:
    assert Quantity.parse("100m").value == Fraction(1, 10)
    assert Quantity.parse("1.5Gi").value == 3 * 2**29
    assert Quantity.parse("1000m") == Quantity.parse("1")
    assert hash(Quantity.parse("1000m")) == hash(Quantity.parse("1"))
    assert Quantity.parse("900m") < Quantity.parse("1") < Quantity.parse("1Ki")
    assert max("1", "1500m", "1k", key=Quantity.parse) == "1k"


def test_sums_keep_the_family_of_the_first() -> None:
    assert str(Quantity.parse("1Gi") + Quantity.parse("512Mi")) == "1536Mi"
    assert str(Quantity.parse("100m") + Quantity.parse("900m")) == "1"
    assert str(Quantity.parse("1") - Quantity.parse("100m")) == "900m"
