"""Go's words for texts that are no JSON."""

import json

import pytest

from batkube.kube.codec.go_json import MAX_DEPTH, problem


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "unexpected end of JSON input"),
        ('{"a": ', "unexpected end of JSON input"),
        ('{"a', "unexpected end of JSON input"),
        ("[1,]", "invalid character ']' looking for beginning of value"),
        ('{"a":1,}', "invalid character '}' looking for beginning of object key string"),
        ('{"a" 1}', "invalid character '1' after object key"),
        ('{"a":1 "b"}', "invalid character '\"' after object key:value pair"),
        ("[1 2]", "invalid character '2' after array element"),
        ("{} x", "invalid character 'x' after top-level value"),
        ("01", "invalid character '1' after top-level value"),
        ("-x", "invalid character 'x' in numeric literal"),
        ("1.x", "invalid character 'x' after decimal point in numeric literal"),
        ("1e+", "unexpected end of JSON input"),
        ("1ex", "invalid character 'x' in exponent of numeric literal"),
        ("nul!", "invalid character '!' in literal null (expecting 'l')"),
        ('"a\nb"', "invalid character '\\n' in string literal"),
        ('"\\x"', "invalid character 'x' in string escape code"),
        ('"\\u12g4"', "invalid character 'g' in \\u hexadecimal character escape"),
        ("\x1f", "invalid character '\\x1f' looking for beginning of value"),
        ("'a'", "invalid character '\\'' looking for beginning of value"),
        ("[" * (MAX_DEPTH + 1), "invalid character '[' exceeded max depth"),
    ],
)
def test_what_is_wrong(text: str, said: str) -> None:
    assert problem(text.encode()) == said


@pytest.mark.parametrize(
    "text",
    [
        "null",
        " [] ",
        '{"a": [1, -0.5e+7, {"b": "\\u00e9\\n"}, {}], "c": true}',
        '"\xff"',
        json.dumps(list(range(99))),
        "[" * MAX_DEPTH + "]" * MAX_DEPTH,
    ],
)
def test_what_is_json(text: str) -> None:
    assert problem(text.encode("latin-1")) is None
