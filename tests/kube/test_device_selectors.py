"""Selectors of devices: expressions about a device, refused as kube-apiserver 1.36.3's compiler does."""

import pytest

from batkube.kube.kinds.resource.devices import validate_selectors

NOT_BOOL = "must evaluate to bool or the unknown type, not "


def why_refused(expression: str) -> str:
    errors = validate_selectors([{"cel": {"expression": expression}}], "selectors")
    return errors[0].message.removeprefix(f"Invalid value: {quoted(expression)}: ") if errors else ""


def quoted(text: str) -> str:
    return '"' + text.replace('"', '\\"') + '"'


@pytest.mark.parametrize(
    "expression",
    [
        'device.driver == "dra.example.com"',
        'device.attributes["dra.example.com"].model == "a"',
        'device.attributes["dra.example.com"].enabled',
        'device.attributes["dra.example.com"].index > 3 && device.attributes["dra.example.com"].name.startsWith("x")',
        'device.capacity["dra.example.com"].memory.isGreaterThan(quantity("1Gi"))',
        'cel.bind(dra, device.attributes["dra.example.com"], dra.a && dra.b)',
        "device.allowMultipleAllocations == true",
        'device.attributes["a"].b.isGreaterThan(semver("1.0.0"))',
        '"x" in device.attributes["a"]',
        'device.attributes["a"].exists(k, k == "b")',
        'has(device.attributes["a"].b) && device.attributes["a"].b == "c"',
        "size(device.attributes) > 0",
        'device.attributes["a"].?b.orValue(true)',
    ],
)
def test_what_may_be_asked_of_a_device(expression: str) -> None:
    assert why_refused(expression) == ""


@pytest.mark.parametrize(
    ("expression", "why"),
    [
        (
            'device.capacity["dra.example.com"].memory > quantity("1Gi")',
            "1:43: found no matching overload for '_>_' applied to '(kubernetes.Quantity, kubernetes.Quantity)'",
        ),
        ("device.foo == 1", "1:7: undefined field 'foo'"),
        ("device.driver == 1", "1:15: found no matching overload for '_==_' applied to '(string, int)'"),
        ("device.driver", "must evaluate to bool or the unknown type, not string"),
        (
            "device.attributes",
            "must evaluate to bool or the unknown type, not map(string, map(string, google.protobuf.Any))",
        ),
        ('device.attributes["a"].b + 1', "must evaluate to bool or the unknown type, not int"),
        ('int("x") == 1', "program instantiation failed: type conversion error from 'string' to 'int'"),
        ("noSuch == 1", "1:1: undeclared reference to 'noSuch' (in container '')"),
        ('device.attributes["a"].b.c', "must evaluate to bool or the unknown type, not dyn"),
        ("1", "must evaluate to bool or the unknown type, not int"),
    ],
)
def test_what_may_not(expression: str, why: str) -> None:
    told = why_refused(expression).removeprefix("compilation failed: ERROR: <input>:")
    assert told.partition("\n | ")[0] == why


def test_a_selector_that_may_cost_too_much_is_refused() -> None:
    of_each = "device.attributes.all(k, device.attributes.all(l, {}))"
    assert why_refused(of_each.format("k != l || device.driver != k")) == ""
    all_names = "device.attributes[k].all(m, device.attributes[l].all(n, m != n))"
    assert why_refused(of_each.format(all_names)) == "Forbidden: too complex, exceeds cost limit"
