"""Selectors, by examples of the documentation of Kubernetes and of what the real server refuses."""

from __future__ import annotations

import pytest

from batkube.kube.apimachinery.status import ApiError
from batkube.kube.storage.selectors import parse_field_selector, parse_label_selector

LABELS = {"env": "prod", "tier": "web", "count": "7", "empty": ""}


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("", True),
        ("env=prod", True),
        ("env==prod", True),
        ("env = prod", True),
        ("env!=prod", False),
        ("other!=x", True),  # absent is not equal
        ("env in (prod, test)", True),
        ("env in (test)", False),
        ("env notin (test)", True),
        ("env notin (prod,test)", False),
        ("other notin (x)", True),
        ("env", True),
        ("!env", False),
        ("!other", True),
        ("env,!other", True),
        ("env=prod,tier=db", False),
        ("env in (prod),tier notin (db),count", True),
        ("count>6", True),
        ("count>7", False),
        ("count<10", True),
        ("env>1", False),  # no number
        ("empty=", True),
        ("empty in ()", True),
        ("env=", False),
        ("example.com/name=x", False),
    ],
)
def test_labels(text: str, taken: bool) -> None:
    assert parse_label_selector(text).matches(LABELS) is taken


def test_no_labels_at_all() -> None:
    assert not parse_label_selector("a").matches(None)
    assert parse_label_selector("!a").matches(None)


@pytest.mark.parametrize(
    "text",
    [
        "env=!=prod",
        "env,,tier",
        "env=prod,",
        "env in",
        "env in (a",
        "env in a",
        "bad key=x",
        "env=a b",
        "-env=x",
        "env=-x",
        "env=" + "x" * 64,
        "count>many",
        "=x",
        "(a)",
        "UPPER.example.com/Name/x=1",
    ],
)
def test_what_is_no_label_selector_is_a_bad_request(text: str) -> None:
    with pytest.raises(ApiError) as refused:
        parse_label_selector(text)
    assert refused.value.code == 400


@pytest.mark.parametrize(
    ("text", "taken"),
    [
        ("", True),
        ("status.phase=Running", True),
        ("status.phase==Running", True),
        ("status.phase!=Running", False),
        ("status.phase!=Succeeded,status.phase!=Failed", True),
        ("spec.nodeName=", True),
        ("spec.nodeName!=", False),
        ("metadata.name=a,spec.nodeName=n1", False),
        (r"metadata.name=a\,b", False),
    ],
)
def test_fields(text: str, taken: bool) -> None:
    fields = {"metadata.name": "a", "status.phase": "Running", "spec.nodeName": ""}
    assert parse_field_selector(text).matches(fields) is taken


def test_escapes_in_field_values() -> None:
    assert parse_field_selector(r"metadata.name=a\,b\=c\\d").matches({"metadata.name": r"a,b=c\d"})


@pytest.mark.parametrize("text", ["metadata.name", "metadata.name in (a)", r"metadata.name=a\x", "a=b=c"])
def test_what_is_no_field_selector_is_a_bad_request(text: str) -> None:
    with pytest.raises(ApiError) as refused:
        parse_field_selector(text)
    assert refused.value.code == 400


def test_an_exact_name_is_found() -> None:
    selector = parse_field_selector("metadata.name=a,spec.nodeName!=b")
    assert selector.exact("metadata.name") == "a"
    assert selector.exact("spec.nodeName") is None
