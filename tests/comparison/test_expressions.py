"""The language of conditions: what it means, and what it says of mistakes."""

from pathlib import Path

import pytest

from batkube.comparison.expressions import ExpressionError, Figure, NoValue, read_condition, value
from batkube.comparison.figure_names import NAMES, STATISTICS
from batkube.results.figures import Figures

DOCS = Path(__file__).parents[2] / "docs"

RUN = {"mean_wait": 110.0, "wait_NodeAffinity": 6.0, "p99_slowdown": 40.0, "rejected": 0.0, "makespan": 1000.0}
BASELINE = {"mean_wait": 100.0, "p99_slowdown": 50.0, "rejected": 0.0, "makespan": 1000.0}


def lookup(figure: Figure) -> float:
    if figure.group is not None:
        return 7.0
    return (BASELINE if figure.baseline else RUN)[figure.name]


def true(text: str) -> bool:
    condition = read_condition(text)
    return condition.holds(value(condition.left, lookup), value(condition.right, lookup))


@pytest.mark.parametrize(
    "text",
    [
        "mean_wait > +5%",
        "mean_wait > +9.9 %".replace(" %", "%"),
        "mean_wait <= +10",
        "p99_slowdown < -5",
        "p99_slowdown <= -20%",
        "mean_wait <= 1.1 * baseline",
        "mean_wait == baseline + 10",
        "mean_wait - baseline.mean_wait == 10",
        "mean_wait / makespan > baseline.mean_wait / baseline.makespan",
        "waiting_time.mean < 2min",
        "mean_waiting_time < 1h",
        "bounded_slowdown.p99 != 50",
        "wait_NodeAffinity == figures.constraints.NodeAffinity",
        "rejected == 0",
        "rejected <= +0%",
        "2 + 3 * 4 == 14 * (makespan / 1000)",
        "10 - 4 - 3 == rejected + 3",
        "mean_wait[queue=batch] == 7",
        "mean_wait[user='a b'] < baseline.mean_wait[user=a] + 1",
        "1.2e2 > mean_wait",
        "50% < p99_slowdown",
    ],
)
def test_conditions_that_are_true(text: str) -> None:
    assert true(text)


@pytest.mark.parametrize("text", ["mean_wait > +10%", "p99_slowdown > baseline", "rejected > 0", "makespan != +0"])
def test_conditions_that_are_not(text: str) -> None:
    assert not true(text)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("mean_wiat < 3", "there is no figure mean_wiat; did you mean mean_wait?"),
        ("mean_wait", "expected one of < <= > >= == !=, at its end"),
        ("mean_wait < ", "expected a number, a figure or (, at its end"),
        ("mean_wait < 3 4", "expected the end, at '4' (character 15)"),
        ("mean_wait < (3", "expected ), at its end"),
        ("mean_wait < baseline.qqqqqq", "there is no figure qqqqqq; docs/comparing.md has the names"),
        ("mean_wait + makespan < baseline", "of which figure? Write baseline.NAME"),
        ("mean_wait + makespan > +5%", "of which figure? Write baseline.NAME"),
        ("baseline < mean_wait", "baseline alone stands at the right"),
        ("mean_wait > +x", "expected a number after the sign, as in +5%, at 'x' (character 14)"),
        ("mean_wait[size] < 3", "expected one of [user=...], [queue=...], [priority=...], [size=...]"),
        ("3 < 4", "there is no figure in it"),
        ("mean_wait < 3; import os", "';' (character 14) means nothing here"),
        ("__import__('os') < 3", "means nothing here"),
        ("mean_wait < " + "(" * 60 + "1" + ")" * 60, "more than 50 parentheses"),
        ("", "expected a number, a figure or (, at its end"),
    ],
)
def test_mistakes_are_named(text: str, said: str) -> None:
    with pytest.raises(ExpressionError) as error:
        read_condition(text)
    assert said in str(error.value)
    assert repr(text) in str(error.value)
    assert "\n" not in str(error.value)


def test_a_division_by_nothing_is_told() -> None:
    condition = read_condition("mean_wait / rejected < 3")
    with pytest.raises(NoValue, match="a division by rejected, which is 0"):
        value(condition.left, lookup)


def test_what_needs_a_baseline() -> None:
    needs = {
        text: read_condition(text).needs_baseline for text in ("makespan < 3", "makespan < +3", "makespan < baseline")
    }
    assert list(needs.values()) == [False, True, True]


def test_the_documents_have_all_figures() -> None:
    of_jobs = tuple(f"{statistic}_" for statistic in STATISTICS)  # described together
    names, fields = (DOCS / "comparing.md").read_text(), (DOCS / "results.md").read_text()
    assert [name for name in NAMES if not name.startswith(of_jobs) and f"`{name}`" not in names] == []
    assert [name for name in Figures.model_fields if f"`{name}`" not in fields] == []
