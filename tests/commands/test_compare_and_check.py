"""``batkube compare`` and ``batkube check``: their exit codes and what they print."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from batkube.commands import check, compare
from batkube.comparison.settings import CheckSettings, CompareSettings, Format
from tests.comparison.made import queue, write_results

JOBS = queue(30)


@pytest.fixture
def folders(tmp_path: Path) -> tuple[Path, Path, Path]:
    """Return three folders of results: two that are the same, and one with a job that waits longer."""
    late = [replace(job, started=job.started + 99, ended=job.ended + 99) if job.name == "j7" else job for job in JOBS]
    return (
        write_results(tmp_path / "a", JOBS),
        write_results(tmp_path / "b", JOBS),
        write_results(tmp_path / "c", late),
    )


@pytest.fixture(autouse=True)
def nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let it be no step of a workflow, whatever these tests run in."""
    monkeypatch.delenv("GITHUB_ACTIONS", raising=False)
    monkeypatch.delenv("GITHUB_STEP_SUMMARY", raising=False)


def test_the_exit_code_says_whether_all_is_the_same(folders: tuple[Path, Path, Path]) -> None:
    a, b, c = folders
    assert compare.main(CompareSettings(folders=(a, b))) == 0
    assert compare.main(CompareSettings(folders=(a, b, c))) == 1


@pytest.mark.parametrize(
    ("condition", "exit_code"),
    [("mean_wait > +5%", 3), ("mean_wait > +50%", 0), ("max_wait > 112", 3), ("fairness < 1", 3), ("rejected > 0", 0)],
)
def test_conditions_to_fail_by(
    folders: tuple[Path, Path, Path], condition: str, exit_code: int, capsys: pytest.CaptureFixture[str]
) -> None:
    a, _, c = folders
    assert compare.main(CompareSettings(folders=(a, c), fail_if=("rejected > 3", condition))) == exit_code
    assert (condition in capsys.readouterr().err) == (exit_code == 3)


def test_mistakes_in_conditions_are_named(folders: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    assert compare.main(CompareSettings(folders=folders[:2], fail_if=("mean_wiat > +5%",))) == 2
    said = capsys.readouterr().err
    assert said == "batkube: --fail-if: 'mean_wiat > +5%': there is no figure mean_wiat; did you mean mean_wait?\n"


def test_words_are_whole_in_a_terminal_of_80_columns(
    folders: tuple[Path, Path, Path], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    slow = [replace(job, started=job.started + 12_345.678, ended=job.ended + 12_345.678) for job in JOBS]
    other = write_results(folders[0].with_name("slow"), slow)
    assert compare.main(CompareSettings(folders=(folders[0], other))) == 1
    table = capsys.readouterr().out.partition("\nFigures\n")[2].splitlines()[:20]
    assert max(map(len, table)) <= 80
    mean_wait = next(line for line in table if line.lstrip().startswith("mean_wait"))
    assert mean_wait.split()[-1] == "worse"
    assert "+12,345.678" in mean_wait.split()


@pytest.mark.parametrize("form", list(Format))
def test_each_form_tells_what_changed(folders: tuple[Path, Path, Path], form: Format, tmp_path: Path) -> None:
    a, _, c = folders
    path = tmp_path / "told"
    given = CompareSettings(folders=(a, c), format=form, out=path, fail_if=("max_wait > +1",))
    assert compare.main(given) == 3
    text = path.read_text()
    assert "j7" in text
    assert compare.main(given) == 3
    assert path.read_text() == text
    if form is Format.JSON:
        (found,) = json.loads(text)["comparisons"]
        assert found["pods"][0]["pod"] == "j7"
        assert found["pairs"][0]["parting"]["number"] == 8
        assert json.loads(text)["fail_if"][0]["fails"] is True


def test_checks_of_a_step_are_shown_where_the_workflow_shows_them(
    folders: tuple[Path, Path, Path],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    a, b, c = folders
    summary = tmp_path / "summary.md"
    summary.write_text("before\n")
    monkeypatch.setenv("GITHUB_ACTIONS", "true")
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(summary))
    rules = tmp_path / "rules.yaml"
    rules.write_text("rules:\n- max_wait <= baseline\n")
    assert check.main(CheckSettings(out=b, against=a, rules=rules)) == 0
    assert "::error" not in capsys.readouterr().out
    assert check.main(CheckSettings(out=c, against=a, rules=rules, junit=tmp_path / "junit.xml")) == 3
    printed = capsys.readouterr().out
    assert "::error title=batkube check::max_wait <= baseline: 113 <= 58" in printed
    assert "worse for  pod j7: waits 113 s (no capacity), +99 s" in printed
    text = summary.read_text()
    assert text.startswith("before\n")
    assert "pod j7: waits 113 s" in text
    assert "<failure" in (tmp_path / "junit.xml").read_text()


def test_a_rule_without_its_baseline_is_bad_input(
    folders: tuple[Path, Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rules = tmp_path / "rules.yaml"
    rules.write_text("rules:\n- mean_wait <= baseline\n")
    assert check.main(CheckSettings(out=folders[0], rules=rules)) == 2
    assert capsys.readouterr().err == f"batkube: {rules}: 'mean_wait <= baseline' needs a baseline (--against)\n"
    assert check.main(CheckSettings(out=folders[0], against=tmp_path / "nowhere")) == 2
    assert "nowhere holds no results of a run" in capsys.readouterr().err


def test_a_file_of_jobs_is_checked(folders: tuple[Path, Path, Path], tmp_path: Path) -> None:
    good, bad = folders[0] / "jobs.csv", tmp_path / "bad.csv"
    lines = good.read_text().splitlines(keepends=True)
    bad.write_text("".join([*lines, lines[-1].replace("j29", "k29")]))
    assert check.main(CheckSettings(out=good)) == 0
    assert check.main(CheckSettings(out=bad)) == 3
    assert check.main(CheckSettings(out=bad, shared_hosts=True)) == 0
