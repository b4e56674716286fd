"""The comparison itself: what it takes for equal, and what it notices."""

from typing import Any

import pytest

from .comparison import Comparison, Difference
from .levels import client_view
from .varying import Normaliser, tokens

JSON = dict[str, Any]

UIDS = ("11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222")


def answer(uid: str, version: str, **more: Any) -> JSON:
    metadata = {"name": "a", "uid": uid, "resourceVersion": version}
    return {"status": 200, "headers": {}, "body": {"kind": "Pod", "metadata": metadata, **more}}


def compared(recorded: list[JSON], got: list[JSON], *, strict: bool = False) -> list[Difference]:
    """Record some answers, and compare others with them."""

    def normal(answers: list[JSON]) -> list[JSON]:
        normaliser = Normaliser([], {}, [])
        return [{**each, "body": normaliser.body(each["body"])} for each in answers]

    comparison = Comparison(strict, [], Normaliser([], {}, []))
    for step, (expected, given) in enumerate(zip(tokens(normal(recorded)), normal(got), strict=True), 1):
        comparison.answer(step, expected, given)
    return comparison.differences


def test_other_uids_and_versions_of_the_same_order_are_equal() -> None:
    recorded = [answer(UIDS[0], "5"), answer(UIDS[0], "9")]
    assert compared(recorded, [answer(UIDS[1], "70"), answer(UIDS[1], "71")], strict=True) == []


@pytest.mark.parametrize(
    ("got", "path"),
    [
        ([answer(UIDS[0], "5"), answer(UIDS[1], "9")], "body.metadata.uid"),
        ([answer(UIDS[0], "5"), answer(UIDS[0], "5")], "body.metadata.resourceVersion"),
        ([answer(UIDS[0], "5"), answer(UIDS[0], "9", spec={})], "body.spec"),
        ([answer(UIDS[0], "5"), {**answer(UIDS[0], "9"), "status": 409}], "status"),
    ],
)
def test_what_clients_rely_on_is_noticed(got: list[JSON], path: str) -> None:
    assert [difference.path for difference in compared([answer(UIDS[0], "5"), answer(UIDS[0], "9")], got)] == [path]


def test_texts_differ_at_the_strict_level_alone() -> None:
    def refusal(message: str) -> list[JSON]:
        body = {"kind": "Status", "status": "Failure", "reason": "Invalid", "code": 422, "message": message}
        return [{"status": 422, "headers": {}, "body": body}]

    assert compared(refusal("one"), refusal("other")) == []
    assert [difference.path for difference in compared(refusal("one"), refusal("other"), strict=True)] == [
        "body.message"
    ]


def test_a_server_may_leave_out_what_a_simulator_does_not_need() -> None:
    default = {"key": "node.kubernetes.io/not-ready", "operator": "Exists", "tolerationSeconds": 300}
    full = {"status": 200, "body": {"kind": "Pod", "spec": {"tolerations": [default], "clusterIP": "1.2.3.4"}}}
    assert client_view(full, []) == client_view({"status": 200, "body": {"kind": "Pod", "spec": {}}}, [])
