"""Rules of custom resources: the expressions that people write in definitions.

`cel/rules.jsonl` has what kube-apiserver 1.36.3 makes of each of several hundred, recorded by `cel/record`.
"""

from __future__ import annotations

import json
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batkube.kube import cel
from batkube.kube.apimachinery.status import FieldError
from batkube.kube.cel import CelError, CostExceeded, Program, SyntaxProblem, parse, type_problem
from batkube.kube.custom.rule_validation import Findings, RulePlace
from batkube.kube.custom.rules import BUDGET, Checking, check

JSON = dict[str, Any]

RECORDED = Path(__file__).parent / "cel"
VALUES: JSON = json.loads((RECORDED / "values.json").read_text())
RULES: list[JSON] = [json.loads(line) for line in (RECORDED / "rules.jsonl").read_text().splitlines()]
SELF: JSON = VALUES["self"]
COST_DIFFERS = {
    "self.?i.optFlatMap(x, self.?j).orValue(0) == 5",
    "self.m[?'zz'].orValue('d') == 'd' && self.l[?9].orValue(1) == 1 && self.l[?0].value() == 3",
    "self.s in ['hello-world', 'b'] && !(self.s in [])",
    "has(self.o.p) && has({'a': 1}.a) && !has({'a': 1}.b)",
}
"""By three at most."""
ERRORS_WITHIN = ("self.missing == 1", "1 / 0", "x / (x - 2)")
"""A part that has no value, where none is needed, costs less here."""


def with_rule(rule: str) -> JSON:
    return {**VALUES["schema"], "x-kubernetes-validations": [{"rule": rule}]}


def why_refused(rule: str) -> str:
    """Return what is wrong with a rule, as it is told when a definition is made."""
    found = Findings()
    RulePlace(found, root=False).validate(with_rule(rule), "schema")
    told = [error.message for error in found.errors if error.reason != "FieldValueForbidden"]
    return told[0].partition('"OptionalOldSelf":null}: ')[2] if told else ""


@pytest.mark.parametrize("recorded", RULES, ids=[row["rule"] for row in RULES])
def test_rules_mean_what_they_mean_to_the_real_server(recorded: JSON) -> None:
    rule = recorded["rule"]
    refused = why_refused(rule)
    if recorded.get("refused") == "Syntax error":
        assert "Syntax error" in refused
        return
    assert refused == recorded.get("refused", "")
    if refused:
        return
    checking = Checking()
    checking.walk(with_rule(rule), SELF, VALUES["old"], "")
    assert [str(error) for error in checking.found] == recorded["errors"]
    without_value = any("evaluating rule" in told or "overload" in told for told in recorded["errors"])
    if not (without_value or rule in COST_DIFFERS or any(part in rule for part in ERRORS_WITHIN)):
        assert checking.cost == recorded["cost"]


def evaluated(text: str, **variables: Any) -> Any:
    return Program(parse(text), tuple(variables)).value(*variables.values())


@pytest.mark.parametrize("rule", ["", "self.", "1 +", "(1", "a b", "self[", "'open", "#", "(" * 500 + ")" * 500])
def test_what_is_no_expression(rule: str) -> None:
    with pytest.raises(SyntaxProblem):
        parse(rule)


@pytest.mark.parametrize(
    "rule",
    [
        "-".join(["1"] * 300),
        "self" + ".a" * 300,
        "!" * 100_001 + "true",
        "[" * 200 + "]" * 200,
        "x ? 1 : " * 200 + "1",
    ],
)
def test_what_is_too_long_or_too_deep(rule: str) -> None:
    with pytest.raises(SyntaxProblem, match="limit"):
        parse(rule)


def test_conditions_may_be_many() -> None:
    rule = " && ".join(["self.i == 3"] * 2_000)
    assert why_refused(rule) == ""
    assert check(with_rule(rule), SELF, None, []) == []


SMALL: JSON = {
    "type": "object",
    "properties": {
        "items": {"type": "array", "items": {"type": "integer"}},
        "text": {"type": "string"},
    },
}
LARGE: JSON = {"items": list(range(20_000)), "text": "a" * 500_000}


def timed(schema: JSON, value: JSON) -> tuple[list[FieldError], float]:
    begun = time.process_time()
    errors = check(schema, value, None, [])
    return errors, time.process_time() - begun


@pytest.mark.parametrize(
    "rule",
    [
        "self.items.all(x, self.items.all(y, self.items.all(z, x + y + z >= 0)))",
        "self.items.map(x, self.items.map(y, x * y)).size() > 0",
        "self.items.map(x, self.items + self.items).size() > 0",
        "self.items.all(x, self.items == self.items)",
        "[self.items].all(a, self.items.all(x, [self.items] == [self.items]))",
        "self.items.all(x, x in self.items)",
        "self.items.exists(x, self.text.matches('^(a+)+$' + string(x)))",
        "self.items.exists(x, self.text.contains(string(x)))",
        "self.items.exists(x, [self.text, self.text].join(string(x)) == '')",
        "self.items.exists(x, self.text.replace('a', 'b').size() == 0)",
        "self.text.replace('', self.text).size() > 0",
        "lists.range(9000000000000000000).size() > 0",
        "self.items.distinct().size() > 0 && self.items.sort().size() > 0",
        "self.items.exists(x, '%s%s%s'.format([self.text, self.text, self.text]) == '')",
    ],
)
def test_a_rule_that_costs_too_much_is_stopped(rule: str) -> None:
    errors, took = timed({**SMALL, "x-kubernetes-validations": [{"rule": rule}]}, LARGE)
    (error,) = errors
    assert "no further validation rules will be run due to" in error.message or "out of cost budget" in error.message
    assert took < 5


def test_a_rule_that_costs_too_much_is_told_as_the_real_server_tells_it() -> None:
    rule = "self.items.all(x, self.items.all(y, x + y >= 0))"
    schema = {**SMALL, "x-kubernetes-validations": [{"rule": rule}, {"rule": "false"}]}
    (error,) = check(schema, LARGE, None, [])  # the second rule is not looked at
    assert str(error) == (
        "<nil>: Invalid value: \"object\": 'operation cancelled: actual cost limit exceeded': no further validation "
        f"rules will be run due to call cost exceeds limit for rule: {rule}"
    )


def test_all_rules_of_an_object_together_cost_only_so_much() -> None:
    inner = {**SMALL, "x-kubernetes-validations": [{"rule": "self.items.all(x, self.items.all(y, x + y >= 0))"}]}
    schema = {"type": "object", "properties": {"all": {"type": "array", "items": inner}}}
    errors, took = timed(schema, {"all": [{"items": list(range(300))}] * 100})
    assert [error.message for error in errors] == [
        'Invalid value: "object": validation failed due to running out of cost budget, no further validation rules '
        "will be run"
    ]
    assert took < 10


def test_a_cost_is_known() -> None:
    assert Program(parse("self.all(x, x > 0)"), ("self",)).run([[1, 2, 3]]) == (True, (1 + 3 * 5 + 1, 0))
    with pytest.raises(CostExceeded):
        Program(parse("self.all(x, x > 0)"), ("self",)).value([1, 2, 3], limit=10)


def test_a_text_may_not_have_digits_without_end() -> None:
    with pytest.raises(CelError, match="precision"):
        evaluated("'%.200000000f'.format([self])", self=0.5)


def test_a_rule_about_change_waits_for_one() -> None:
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "integer", "x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "fixed"}]}
        },
    }
    assert check(schema, {"spec": 1}, None, []) == []
    assert check(schema, {"spec": 1}, {"spec": 1}, []) == []
    (error,) = check(schema, {"spec": 2}, {"spec": 1}, [])
    assert (error.field, error.message) == ("spec", "Invalid value: 2: fixed")


def test_variables_can_be_bound_in_selectors_of_devices_only() -> None:
    variables = {"self": ("int",)}
    assert type_problem("cel.bind(x, self + 1, x * x) == 4", variables, bind=True) == (("bool",), "")
    assert "undeclared reference to 'cel'" in type_problem("cel.bind(x, 1, x) == 1", variables)[1]
    assert Program(parse("cel.bind(x, self + 1, x * x)", bind=True), ("self",)).value(2) == 9


NAMES = [
    "self",
    "self.i",
    "self.s",
    "self.l",
    "self.ls",
    "self.m",
    "self.o",
    "self.ios",
    "self.dt",
    "self.missing",
    "x",
]
LITERALS = ["1", "-1", "2u", "1.5", "''", "'a'", "b'\\xff'", "null", "true", "[]", "{}", "[1, 2]", "'%s'", "'('"]
OPERATORS = ["+", "-", "*", "/", "%", "==", "<", ">=", "in", "&&", "||"]
METHODS = [
    *("size", "matches", "split", "join", "format", "replace", "substring", "sort", "flatten", "sum", "indexOf"),
    *("getHours", "orValue", "value", "isSorted", "min", "charAt", "find", "distinct", "reverse", "slice"),
]
MACROS = ["all", "exists", "exists_one", "map", "filter", "sortBy", "optMap"]
FUNCTIONS = [
    "int",
    "string",
    "duration",
    "timestamp",
    "quantity",
    "ip",
    "cidr",
    "url",
    "semver",
    "type",
    "dyn",
    "bytes",
]


def _combined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(OPERATORS), inner),
        st.builds("{}.{}({})".format, inner, st.sampled_from(METHODS), st.lists(inner, max_size=2).map(", ".join)),
        st.builds("{}.{}(x, {})".format, inner, st.sampled_from(MACROS), inner),
        st.builds("{}({})".format, st.sampled_from(FUNCTIONS), inner),
        st.builds("dyn({})[{}]".format, inner, inner),
        st.builds("{}.?{}".format, inner, st.sampled_from(["i", "zz"])),
        st.builds("[{}, {}]".format, inner, inner),
        st.builds("({} ? {} : {})".format, inner, inner, inner),
        st.builds("dyn({})".format, inner),
        st.builds("!{}".format, inner),
    )


EXPRESSIONS = st.recursive(st.sampled_from(NAMES + LITERALS), _combined, max_leaves=12)
PIECES = [*NAMES, *LITERALS, *OPERATORS, *"()[]{}.,?:!'\"`\\", "//", "/*", "\n", "\x00", "é", "0x", "1e", "'''", 'r"']


@settings(deadline=None, max_examples=200)
@given(EXPRESSIONS | st.lists(st.sampled_from(PIECES), max_size=15).map(" ".join) | st.text(max_size=30))
def test_any_text_is_an_expression_or_refused_and_has_a_value_or_none(text: str) -> None:
    refused = why_refused(text)
    assert isinstance(refused, str)
    try:
        cel.program(text, ("self", "oldSelf"))
    except SyntaxProblem:
        return
    errors, took = timed(with_rule(text), SELF)
    assert len(errors) <= 1
    assert took < 4


@settings(deadline=None, max_examples=200)
@given(EXPRESSIONS)
def test_a_right_rule_has_no_overload_missing_but_where_anything_may_be(text: str) -> None:
    rule = f"type({text}) == int || true"
    if "dyn" in text or "ios" in text or "null" in text or why_refused(rule):
        return
    assert check(with_rule(rule), SELF, None, []) == []


def test_the_budget_is_what_kubernetes_gives() -> None:
    assert (cel.COST_LIMIT, BUDGET) == (1_000_000, 10_000_000)
