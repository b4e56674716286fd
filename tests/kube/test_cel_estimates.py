"""Estimated costs of rules, told when their definition is made, and the refusals for them.

`cel/rules.jsonl` and `cel/estimates.jsonl` have what kube-apiserver 1.36.3 estimates, recorded by `cel/record`: of the
first for a schema without bounds and for one with them, of the second for a schema of each line.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from batkube.kube import cel
from batkube.kube.custom.extents import extent, fitting
from batkube.kube.custom.schema_validation import validate_schema
from batkube.kube.custom.schema_values import declared

JSON = dict[str, Any]

RECORDED = Path(__file__).parent / "cel"
VALUES: JSON = json.loads((RECORDED / "values.json").read_text())


def lines(name: str) -> list[JSON]:
    return [json.loads(line) for line in (RECORDED / name).read_text().splitlines()]


RULES = [row for row in lines("rules.jsonl") if "estimated" in row]
SCHEMAS = lines("estimates.jsonl")


def size_of(schema: JSON) -> cel.Extent:
    found = extent(schema)
    assert found is not None
    return found


def estimated(rule: str, schema: JSON) -> int:
    """Return the highest cost of a rule of a schema, 0 if it is refused."""
    own = declared(schema)
    assert own is not None
    checked, problem = cel.compiled(rule, {"self": own, "oldSelf": own})
    if checked is None or problem or checked.type != ("bool",) or cel.instantiation_problem(rule):
        return 0
    return cel.estimated(checked, lambda steps: size_of(schema).at(steps[1:]))


@pytest.mark.parametrize("recorded", RULES, ids=[row["rule"] for row in RULES])
def test_a_rule_costs_at_most_what_the_real_server_estimates(recorded: JSON) -> None:
    costs = [estimated(recorded["rule"], VALUES[of]) for of in ("schema", "bounded")]
    assert costs == recorded["estimated"]


@pytest.mark.parametrize("recorded", SCHEMAS, ids=map(str, range(len(SCHEMAS))))
def test_rules_of_nested_lists_and_maps_cost_what_the_real_server_estimates(recorded: JSON) -> None:
    schema = recorded["schema"]
    assert [estimated(rule, schema) for rule in recorded["rules"]] == recorded["estimated"]
    assert fitting(size_of(schema)) == recorded["fitting"]


def listed(rule: str, **limits: int) -> JSON:
    """Return a schema of lists of texts in a list, with a rule for each text."""
    text = {"type": "string", "maxLength": 10, "x-kubernetes-validations": [{"rule": rule}]}
    inner = {"type": "array", "items": text, **limits}
    return {"type": "object", "properties": {"l": {"type": "array", "maxItems": 100, "items": inner}}}


def told(schema: JSON, *, unchanged: bool = False) -> list[str]:
    return [str(error) for error in validate_schema(schema, "s", has_status=False, unchanged=unchanged)]


RULE = "s.properties[l].items.items.x-kubernetes-validations[0].rule"
ADVICE = (
    " (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are "
    "declared)"
)
DEAR = "['a', 'b', 'c', 'd', 'e'].all(x, self.contains(x)) && self.matches('^[a-z]+$')"


def test_a_rule_counts_as_often_as_there_can_be_values() -> None:
    assert told(listed(DEAR, maxItems=700)) == []
    (one,) = told(listed(DEAR, maxItems=800))
    assert one == f"{RULE}: Forbidden: estimated rule cost exceeds budget by factor of 1.016000x{ADVICE}"
    (one,) = told(listed(DEAR, maxItems=7000))
    assert one == f"{RULE}: Forbidden: estimated rule cost exceeds budget by factor of 8.9x{ADVICE}"


def test_without_a_limit_a_rule_counts_as_often_as_values_fit_into_a_request() -> None:
    one, _, _ = told(listed(DEAR))
    assert one == f"{RULE}: Forbidden: estimated rule cost exceeds budget by factor of 13.3x{ADVICE}"


CONTRIBUTED = "Forbidden: contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema"
TOTAL = "s: Forbidden: x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema exceeds budget"


def test_all_rules_of_a_schema_have_a_budget_together() -> None:
    schema = listed(DEAR, maxItems=700)
    schema["properties"]["l"]["items"]["items"]["x-kubernetes-validations"] *= 12
    assert told(schema) == [
        *(f"{RULE.replace('[0]', f'[{index}]')}: {CONTRIBUTED}" for index in range(4)),
        f"{TOTAL} by factor of 1.066800x{ADVICE}",
    ]


def test_a_schema_that_was_there_before_keeps_its_rules_within_the_budget_of_all() -> None:
    assert told(listed(DEAR, maxItems=7000), unchanged=True) == []
    assert told(listed(DEAR, maxItems=8000), unchanged=True) == [
        f"{RULE}: {CONTRIBUTED}",
        f"{TOTAL} by factor of 1.016000x{ADVICE}",
    ]


def test_a_message_may_not_cost_too_much() -> None:
    text = {"type": "string", "maxLength": 100_000}
    rules = [{"rule": "true", "messageExpression": "self.s.replace('', self.s) + self.s.replace('', self.s)"}]
    schema = {"type": "object", "properties": {"s": text}, "x-kubernetes-validations": rules}
    errors = told(schema)
    assert errors[0].startswith(
        "s.x-kubernetes-validations[0].messageExpression: Forbidden: estimated messageExpression cost exceeds budget"
    )


def test_rules_beside_a_wrong_schema_are_judged_too() -> None:
    schema = listed(DEAR, maxItems=1000)
    schema["properties"]["wrong"] = {"type": "array", "uniqueItems": True, "items": {"type": "string"}}
    assert [error.partition(": ")[0] for error in told(schema)] == ["s.properties[wrong].uniqueItems", RULE]
