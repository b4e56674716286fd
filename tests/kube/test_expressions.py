"""Regular expressions as Go reads them. What is expected was told by Go 1.26."""

import subprocess
import sys
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from batkube.kube.apimachinery.expressions import ExpressionError, expression


@pytest.mark.parametrize(
    ("text", "matching", "others"),
    [
        ("^(?i)[a-z]([-a-z0-9]*[a-z0-9])?$", ["Job", "a-B"], ["1a", "a-", "job\n"]),
        ("a(?i)b|c", ["aB", "C"], ["AB", "b"]),
        ("(a(?i)b)c", ["aBc"], ["aBC", "ABc"]),
        ("^(?i:a)(?-i)b$", ["Ab"], ["AB"]),
        ("(?m)^a$", ["b\na\nc"], ["ba"]),
        ("^a$", ["a"], ["a\n"]),
        ("^a\\z", ["a"], ["a\n"]),
        ("^\\d\\w\\s$", ["1a "], ["٣a ", "1é "]),
        ("^[[:alpha:]_][[:^digit:]]?$", ["a", "_é"], ["é", "_1"]),
        ("^[[:alpha:]][[:alnum:]-]*$", ["a-1"], ["1a"]),
        ("^\\x{e9}\\x41\\101$", ["éAA"], ["eAA"]),
        ("^\\Qa.b*\\E$", ["a.b*"], ["acb*"]),
        ("^a{,2}$", ["a{,2}"], ["aa"]),
        ("^a{1,2}?{$", ["a{", "aa{"], ["{"]),
        ("^(?P<n>a)(?<m>b)$", ["ab"], ["b"]),
        ("^[]a]+$", ["]a"], ["b"]),
        ("^[^\\]a]$", ["b"], ["]", "a"]),
        ("^[a&&b||c~~d]+$", ["a&b|c~d"], ["e"]),
        ("^\\p{Lu}+$", ["ÄB"], ["äB", "1", ""]),
        ("^\\pN\\P{Greek}\\p{^Lu}$", ["٣bc"], ["3βc", "3bC"]),
        ("(?U)^a+$", ["aa"], ["ab"]),
        ("(?i)^ßk$", ["ẞ\u212a"], ["ssk"]),  # the sign of kelvin is a k
        ("a\x00b", ["a\x00b"], ["ab"]),
        ("^(?P<n>a)(?P<n>b)[[=c=]]$", ["abc]"], ["abc"]),
    ],
)
def test_what_go_takes(text: str, matching: list[str], others: list[str]) -> None:
    compiled = expression(text)
    assert [value for value in matching if not compiled.search(value)] == []
    assert [value for value in others if compiled.search(value)] == []


@pytest.mark.parametrize(
    "text",
    [
        "(", ")", "a)", "[a", "[b-a]", "a**", "a*+", "a{2}{3}", "*", "a{1001}", "a{2,1}", "(?=a)", "(?!a)", "(?<=a)b",
        "(?>a)", "(a)\\1", "\\Z", "\\e", "\\", "\\u0041", "[[:letter:]]", "(?x)a", "(?i)*", "(?P=n)", "[\\b]",
        "\\C", "(?P<é>a)", "\\p{Foo}", "(a{100}){100}",
    ],
)  # fmt: skip
def test_what_go_refuses(text: str) -> None:
    with pytest.raises(ExpressionError):
        expression(text)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("(a", "missing closing ): `(a`"),
        ("[a", "missing closing ]: `[a`"),
        ("a)", "unexpected ): `a)`"),
        ("a**", "invalid nested repetition operator: `**`"),
        ("*", "missing argument to repetition operator: `*`"),
        ("a{1001}", "invalid repeat count: `{1001}`"),
        ("(?=a)", "invalid or unsupported Perl syntax: `(?=`"),
        ("\\Z", "invalid escape sequence: `\\Z`"),
        ("a\\C", "invalid escape sequence: `\\C`"),
        ("\\", "trailing backslash at end of expression: ``"),
        ("[z-a]", "invalid character class range: `z-a`"),
        ("(?P<é>a)", "invalid named capture: `(?P<é>`"),
    ],
)
def test_refusals_say_what_go_says(text: str, why: str) -> None:
    with pytest.raises(ExpressionError) as refused:
        expression(text)
    assert str(refused.value) == f"error parsing regexp: {why}"


def test_what_an_expression_matches() -> None:
    assert expression("é*").matches("éaéé") == ["é", "", "éé", ""]
    assert expression("(a)(b)?").matches("abaab", 2) == ["ab", "a"]
    assert expression("a").matches("aa", 0) == []


@pytest.mark.parametrize("text", ["^(a+)+$", "^(a|a)*$", "^(a|aa)+$", "(.*)(.*)(.*)(.*)(.*)x", "(a?){500}a{500}$"])
def test_matching_takes_linear_time(text: str) -> None:
    compiled = expression(text)
    begun = time.process_time()
    assert not compiled.search("a" * 200_000 + "b")
    assert time.process_time() - begun < 2


_PARTS = ("a", "é", ".", "^", "$", "*", "+", "?", "{2}", "{1,", "|", "(", "(?:", "(?i)", "(?P<n>", ")", "[", "]", "-")
_ESCAPES = ("\\", "\\d", "\\p{Lu}", "\\pN", "\\Q", "\\E", "\\z", "\\b", "\\x{e9}", "\\C", "[:alpha:]", "\x00", "\ud800")


@settings(deadline=None)
@given(st.lists(st.sampled_from(_PARTS + _ESCAPES), max_size=12).map("".join) | st.text(max_size=20), st.text())
def test_any_text_is_an_expression_or_refused(text: str, value: str) -> None:
    try:
        compiled = expression(text)
    except ExpressionError:
        return
    assert compiled.search(value) == bool(compiled.matches(value, 1))


def test_the_library_is_loaded_when_an_expression_is_needed() -> None:
    code = "import sys; import batkube.kube.server; sys.exit('re2' in sys.modules)"
    subprocess.run([sys.executable, "-c", code], check=True)
