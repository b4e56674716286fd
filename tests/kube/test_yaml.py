"""YAML is read as Go programs of Kubernetes read it. What is expected here was asked of sigs.k8s.io/yaml 1.6."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from batkube.kube.codec import go_yaml
from batkube.kube.codec.yaml_scalars import YamlError
from batkube.kube.codec.yaml_text import documents, dumped, first_document
from batkube.schedulers.kube_scheduler import read_configuration, write_configuration


@pytest.fixture(params=["CBaseLoader", "BaseLoader"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both of PyYAML's parsers: the one in C is not everywhere."""
    if not hasattr(yaml, request.param):
        pytest.skip("PyYAML has no parser in C here")
    monkeypatch.setattr(go_yaml, "_Parser", getattr(yaml, request.param))


def read(text: str) -> Any:
    return first_document(text.encode())


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("22:22", "22:22"),
        ("190:20:30.15", "190:20:30.15"),
        ("1e3", 1000),
        ("1.5e2", 150),
        ("12e03", 12000),
        ("1.25", 1.25),
        (".5", 0.5),
        (".5_0", 0.5),
        ("._5", "._5"),
        ("1.", 1),
        ("1e400", "1e400"),
        ("0o14", 12),
        ("014", 12),
        ("08", 8),
        ("0x1F", 31),
        ("-0b11", -3),
        ("+1", 1),
        ("1_000", 1000),
        ("_1", "_1"),
        ("0o8", "0o8"),
        ("9223372036854775807", (1 << 63) - 1),
        ("9223372036854775808", float(1 << 63)),
        ("=", "="),
        ("<<", "<<"),
        ("y", True),
        ("Off", False),
        ("tRue", "tRue"),
        ("~", None),
        ("nUll", "nUll"),
        ("2001-01-01", "2001-01-01"),
        ("2001-12-14t21:59:43.10-05:00", "2001-12-14t21:59:43.10-05:00"),
        ("'12'", "12"),
        ("!!str 12", "12"),
        ('!!int "12"', 12),
        ("!!float 1", 1),
        ("!!bool on", True),
        ("!!binary eA==", "x"),
        ("!!binary /w==", "\ufffd"),
        ("!foo bar", "bar"),
        ("! '12'", "12"),
        ("!!set {a, b}", {"a": None, "b": None}),
        ("!!timestamp 2001-01-01", "2001-01-01"),
    ],
)
def test_scalars(text: str, value: Any) -> None:
    found = read(f"a: {text}")["a"]
    assert found == value
    assert type(found) is type(value)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("1", "1"),
        ("0x10", "16"),
        ("1e3", "1000"),
        ("1e6", "1e+06"),
        ("1.5", "1.5"),
        ("0.0001", "0.0001"),
        ("1e-5", "1e-05"),
        ("123456789.5", "1.2345679e+08"),
        ("yes", "true"),
        (".inf", ".inf"),
        ("2001-01-01", "2001-01-01"),
        ("22:22", "22:22"),
        ("!!binary eA==", "x"),
    ],
)
def test_keys_become_texts(key: str, name: str) -> None:
    assert read(f"{key}: a") == {name: "a"}


def test_maps_are_merged_in_the_order_in_which_they_stand() -> None:
    base = "base: &base {a: 1, b: 2}\nother: &other {b: 3, c: 4}\n"
    assert read(f"{base}x: {{<<: *base, b: 5}}")["x"] == {"a": 1, "b": 5}
    assert read(f"{base}x: {{b: 5, <<: *base}}")["x"] == {"a": 1, "b": 2}
    assert read(f"{base}x: {{<<: [*base, *other]}}")["x"] == {"a": 1, "b": 2, "c": 4}
    assert read('x: {"<<": 1}')["x"] == {"<<": 1}


def test_an_anchor_may_be_given_again_and_its_copies_are_apart() -> None:
    found = read("a: &x {k: 1}\nb: *x\nc: &x [2]\nd: *x\n")
    assert found == {"a": {"k": 1}, "b": {"k": 1}, "c": [2], "d": [2]}
    assert found["a"] is not found["b"]


@pytest.mark.parametrize(
    ("text", "error", "line"),
    [
        ("a: 1\nb: .nan", "json: unsupported value: NaN", 2),
        ("? ~\n: b", 'unsupported map key of type: %!s(<nil>), key: <nil>, value: "b"', 1),
        ("18446744073709551615: a", 'unsupported map key of type: uint64, key: 0xffffffffffffffff, value: "a"', 1),
        ("a: !!int b", "yaml: cannot decode !!str `b` as a !!int", 1),
        ("a: !!int ~", "yaml: cannot decode !!null `~` as a !!int", 1),
        ("a: !!binary b", "yaml: !!binary value contains invalid base64 data", 1),
        ("a: 1\nb: *x", "yaml: unknown anchor 'x' referenced", 2),
        ("a: &x [*x]", "yaml: anchor 'x' value contains itself", 1),
        ("a: 1\n<<: 1", "yaml: map merge requires map or sequence of maps as the value", 2),
        ("? [a]\n: b", 'yaml: invalid map key: []interface {}{"a"}', 1),
    ],
)
def test_what_is_no_yaml_or_cannot_be_said_in_json(text: str, error: str, line: int) -> None:
    with pytest.raises(YamlError) as refused:
        read(text)
    assert (str(refused.value), refused.value.line) == (error, line)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("a: 1\nb: [", "did not find expected"),
        ("a: 1\nb: ]", "did not find expected"),
        ("a: " + "[" * 1500 + "]" * 1500, "depth"),
        ("a: \x01", "(?i)control characters|special characters"),
    ],
)
def test_what_has_no_structure(text: str, error: str) -> None:
    with pytest.raises(YamlError, match=error):
        read(text)


def test_what_is_replaced_need_not_be_sayable() -> None:
    assert read("a: .nan\na: 1") == {"a": 1}


def test_aliases_may_not_blow_up_a_document() -> None:
    bomb = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
        f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 9)
    )
    with pytest.raises(YamlError, match="document contains excessive aliasing"):
        read(bomb)
    assert len(read("a: &a [1, 2]\n" + "".join(f"k{number}: *a\n" for number in range(300)))) == 301


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("a: 1\na:\n  2", 'line 3: key "a" already set in map'),
        ("yes: 1\ntrue: 2", "line 2: key true already set in map"),
        ("1: a\n0x1: b", "line 2: key 1 already set in map"),
        ("x: {<<: {a: 1}, a: 2}", 'line 1: key "a" already set in map'),
    ],
)
def test_a_key_that_stands_twice_is_told(text: str, told: str) -> None:
    twice: list[str] = []
    first_document(text.encode(), twice)
    assert twice == [told]


def test_files_have_documents_of_yaml_or_are_json() -> None:
    found = list(documents(b"# nothing\n---\na: 1\n---\n---\nb: 22:22\n"))
    assert [value for _, value in found] == [{"a": 1}, None, {"b": "22:22"}]
    assert list(documents(b'\n{"a": "\\ud83d\\ude00"}')) == [(1, {"a": "\U0001f600"})]


def test_what_is_written_is_read_as_it_was_meant() -> None:
    texts = [
        "22:22",
        "1e3",
        "0o14",
        "08",
        "y",
        "on",
        "=",
        "<<",
        "1_000",
        "2001-01-01",
        "~",
        "",
        "null",
        ".inf",
        "x: y",
        "a\nb",
    ]
    assert read(dumped({"texts": texts, "number": 1000, "flag": True})) == {
        "texts": texts,
        "number": 1000,
        "flag": True,
    }


def test_a_schedulers_configuration_is_read_and_written_so(tmp_path: Path) -> None:
    path = tmp_path / "config.yaml"
    path.write_text(
        "kind: KubeSchedulerConfiguration\npodMaxBackoffSeconds: 1e1\nprofiles:\n"
        "- schedulerName: 22:22\n  pluginConfig: &p []\n- schedulerName: '1e3'\n  pluginConfig: *p\n"
    )
    config = read_configuration(path)
    assert [profile["schedulerName"] for profile in config["profiles"]] == ["22:22", "1e3"]
    assert config["podMaxBackoffSeconds"] == 10
    write_configuration(path, config)
    assert read_configuration(path) == config
