"""The command line: the options of each command, and a help that can be read on a terminal of 80 columns."""

import contextlib
import io
import re
from pathlib import Path

import pytest
import typer

from batkube.commands.cli import app
from batkube.kube.schema.gates import GATES
from batkube.schedulers.policies.loading import BUILT_IN
from tests.commands.options import LIST, commands, lines

SCREEN = 45
"""Lines."""
NAMES = [name for name, _ in commands()]


def shown(name: str, monkeypatch: pytest.MonkeyPatch) -> str:
    """The help of a command, as a terminal of 80 columns shows it."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setenv("NO_COLOR", "1")
    text = io.StringIO()
    with contextlib.redirect_stdout(text), contextlib.suppress(SystemExit):
        typer.main.get_command(app)([*name.split()[1:], "--help"], prog_name="batkube")
    return text.getvalue()


def test_the_options_and_their_defaults_are_those_of_the_list() -> None:
    assert sorted(lines()) == LIST.read_text().splitlines()


@pytest.mark.parametrize("name", NAMES)
def test_no_name_of_an_option_is_cut_off(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    text = shown(name, monkeypatch)
    assert "…" not in text
    command = dict(commands())[name]
    options = {option for parameter in command.params for option in parameter.opts if option.startswith("-")}
    assert options <= set(re.findall(r"(?<![\w-])--?\w[\w-]*", text))


@pytest.mark.parametrize("name", NAMES)
def test_each_part_of_the_help_fits_a_screen(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    heights = {}
    for panel in re.findall(r"^╭.*?^╰", shown(name, monkeypatch), re.DOTALL | re.MULTILINE):
        heights[panel.splitlines()[0].strip("╭─╮ ")] = len(panel.splitlines())
    assert heights
    assert {title for title, height in heights.items() if height > SCREEN} == set()


def test_the_document_that_the_help_names_has_all_feature_gates() -> None:
    text = (Path(__file__).parent.parent.parent / "docs" / "conformance.md").read_text()
    assert [gate for gate in GATES if f"`{gate}`" not in text] == []


def test_the_help_and_the_document_have_all_policies(monkeypatch: pytest.MonkeyPatch) -> None:
    document = (Path(__file__).parents[2] / "docs" / "policies.md").read_text()
    assert f" {', '.join(BUILT_IN)}, a policy of your own" in shown("batkube run", monkeypatch)
    assert [name for name in BUILT_IN if f"| `{name}`" not in document] == []
