"""Regular expressions as Go reads them. What is expected was told by Go 1.26."""

import pytest

from batkube.kube.custom.expressions import ExpressionError, expression


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
        ("^[[:alpha:]_][[:^digit:]]?$", None, None),
        ("^[[:alpha:]][[:alnum:]-]*$", ["a-1"], ["1a"]),
        ("^\\x{e9}\\x41\\101$", ["éAA"], ["eAA"]),
        ("^\\Qa.b*\\E$", ["a.b*"], ["acb*"]),
        ("^a{,2}$", ["a{,2}"], ["aa"]),
        ("^a{1,2}?{$", ["a{", "aa{"], ["{"]),
        ("^(?P<n>a)(?<m>b)$", ["ab"], ["b"]),
        ("^[]a]+$", ["]a"], ["b"]),
        ("^[^\\]a]$", ["b"], ["]", "a"]),
        ("^[a&&b||c~~d]+$", ["a&b|c~d"], ["e"]),
        ("^\\p{Lu}$", None, None),
        ("(?U)a+", None, None),
    ],
)
def test_what_go_takes(text: str, matching: list[str] | None, others: list[str] | None) -> None:
    compiled = expression(text)
    if matching is None or others is None:
        assert compiled is None
        return
    assert compiled is not None
    assert [value for value in matching if not compiled.search(value)] == []
    assert [value for value in others if compiled.search(value)] == []


@pytest.mark.parametrize(
    "text",
    [
        "(", ")", "a)", "[a", "[b-a]", "a**", "a*+", "a{2}{3}", "*", "a{1001}", "a{2,1}", "(?=a)", "(?!a)", "(?<=a)b",
        "(?>a)", "(a)\\1", "\\Z", "\\e", "\\", "\\u0041", "[[:letter:]]", "(?x)a", "(?i)*", "(?P=n)", "[\\b]",
    ],
)  # fmt: skip
def test_what_go_refuses(text: str) -> None:
    with pytest.raises(ExpressionError):
        expression(text)
