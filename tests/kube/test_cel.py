"""Rules of custom resources: the expressions that people write in definitions."""

from __future__ import annotations

from typing import Any

import pytest

from batkube.kube.custom.cel import CelError, SyntaxProblem, evaluate, parse
from batkube.kube.custom.rules import check

SELF: dict[str, Any] = {
    "replicas": 3,
    "max": 5,
    "name": "web-1",
    "ratio": 0.5,
    "on": True,
    "tags": ["a", "b"],
    "ports": [{"name": "http", "port": 80}, {"name": "tls", "port": 443}],
    "labels": {"x/y": "z"},
}


@pytest.mark.parametrize(
    ("rule", "value"),
    [
        ("self.replicas <= self.max", True),
        ("self.replicas + 2 * 3 == 9", True),
        ("(self.replicas + 2) * 3 == 15", True),
        ("-7 / 2 == -3 && -7 % 2 == -1", True),
        ("self.ratio * 2.0 == 1.0", True),
        ("has(self.name) && !has(self.missing)", True),
        ("self.on ? self.replicas : self.max", 3),
        ("self.on || self.missing == 1", True),  # one side that decides is enough
        ("self.missing == 1 || self.on", True),
        ("'a' in self.tags && !('c' in self.tags)", True),
        ("self.tags[1]", "b"),
        ("self.labels['x/y'] == 'z'", True),
        ("self.ports.all(p, p.port > 0)", True),
        ("self.ports.exists(p, p.name == 'tls')", True),
        ("self.ports.exists_one(p, p.port > 100)", True),
        ("self.ports.map(p, p.port)", [80, 443]),
        ("self.ports.filter(p, p.port > 100).size() == 1", True),
        ("size(self.tags) == 2", True),
        ("self.name.startsWith('web') && self.name.endsWith('1') && self.name.contains('-')", True),
        ("self.name.matches('^[a-z]+-[0-9]$')", True),
        (r"'a\n\'b\'' == \"a\n'b'\"".replace('\\"', '"'), True),
        ("[1, 2] + [3] == [1, 2, 3]", True),
        ("{'a': 1}.a == 1", True),
        ("1 == 1.0 && true != false", True),
        ("duration('1h30m') > duration('60m')", True),
        ("quantity('1Gi').isGreaterThan(quantity('1G'))", True),
        ("string(5) + 's'", "5s"),
    ],
)
def test_expressions(rule: str, value: Any) -> None:
    assert evaluate(parse(rule), {"self": SELF}) == value


@pytest.mark.parametrize(
    "rule", ["self.missing", "self.replicas.deeper", "self.tags[9]", "1 / 0", "1 + 'a'", "other", "1 && true", "f(1)"]
)
def test_what_has_no_value(rule: str) -> None:
    with pytest.raises(CelError):
        evaluate(parse(rule), {"self": SELF})


@pytest.mark.parametrize("rule", ["", "self.", "1 +", "(1", "a b", "self[", "'open", "#", "(" * 500 + ")" * 500])
def test_what_is_no_expression(rule: str) -> None:
    with pytest.raises(SyntaxProblem):
        parse(rule)


def test_a_rule_may_not_work_for_ever() -> None:
    many = {"self": list(range(400))}
    with pytest.raises(CelError, match="cost limit"):
        evaluate(parse("self.all(a, self.all(b, self.all(c, a + b + c >= 0)))"), many)


def test_a_text_may_not_have_digits_without_end() -> None:
    with pytest.raises(CelError, match="precision"):
        evaluate(parse("'%.200000000f'.format([self.ratio])"), {"self": SELF})


def test_a_rule_about_change_waits_for_one() -> None:
    schema = {"properties": {"spec": {"x-kubernetes-validations": [{"rule": "self == oldSelf", "message": "fixed"}]}}}
    assert check(schema, {"spec": 1}, None, []) == []
    assert check(schema, {"spec": 1}, {"spec": 1}, []) == []
    (error,) = check(schema, {"spec": 2}, {"spec": 1}, [])
    assert (error.field, error.message) == ("spec", "Invalid value: 2: fixed")
