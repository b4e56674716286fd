"""Three dozen odd values, each time the same; ``make odd-values`` tries more, from other seeds."""

from random import Random

import pytest

from tests.commands.odd_values import MAY_WAIT, WRITTEN, Ground, Trial, complaints

EACH = 3
"""The trials of a command; of those that start servers and simulations twice as many."""


@pytest.fixture(scope="module")
def ground(tmp_path_factory: pytest.TempPathFactory) -> Ground:
    return Ground(tmp_path_factory.mktemp("odd"), patience=300)


COMMANDS = ("run", "serve", "replay", "fit-startup", "compare", "check", "report", "show", "clock pace", "init ci")


@pytest.mark.parametrize("command", COMMANDS)
def test_an_odd_value_is_told_in_a_line_or_two(ground: Ground, command: str) -> None:
    trials = [trial for trial in ground.trials(command) if trial.option not in {*MAY_WAIT, *WRITTEN}]
    count = EACH * (2 if command in ("run", "serve", "replay") else 1)
    for trial in Random(command).sample(trials, count):
        ended = ground.ended(trial)
        assert complaints(trial, ended) == [], (trial, ended)


TOLD = [
    (["run", "-p", "p", "--seed", "abc"], "batkube: --seed: expected a whole number, not 'abc'"),
    (["run", "-p", "p", "--seed", ""], "batkube: --seed: expected a whole number, not ''"),
    (["serve", "--port", "65536"], "batkube: --port: expected a value less than or equal to 65535, not '65536'"),
    (["serve", "--pace", "9" * 5000], "batkube: --pace: expected a finite number, not '999"),
    (["run", "-p", "", "-w", "w"], "batkube: --platform: expected a name, not ''"),
    (["run", "--platfrom", "p"], "batkube: no such option: --platfrom"),
    (["run", "--tls=yes", "-p", "p"], "batkube: option '--tls' does not take a value"),
    (["run", "--clock", "x"], "batkube: --clock: 'x' is not one of 'auto', 'once', 'tree', 'real', 'paced'"),
    (["run", "--repeat", "0", "-p", "p"], "batkube: --repeat: expected a whole number above 0, not '0'"),
    (["replay"], "batkube: missing argument"),
    (
        ["fit-startup", "a", "-o", "b", "--process-time", "inf"],
        "batkube: --process-time: expected a finite number, not",
    ),
    (["compare", "a:b:", "c"], "batkube: a:b: holds no results of a run: it has no run.json"),
    (["show", "\x1b[31m\n"], r"batkube: \x1b[31m\n: there is no such folder"),
    (["show", "x" * 5000], f"batkube: {'x' * 466} ..."),
]


@pytest.mark.parametrize(("words", "told"), TOLD)
def test_what_is_wrong_with_a_value(ground: Ground, words: list[str], told: str) -> None:
    ended = ground.ended(Trial(f"batkube {words[0]}", "", "", "", tuple(words[1:])))
    assert ended.exit_code == 2
    lines = ended.stderr.splitlines()
    assert lines[0].startswith(told)
    assert len(lines) <= 2
    assert all(len(line) < 800 for line in lines)


@pytest.mark.parametrize("option", ["--startup", "--platform"])
def test_files_of_a_server_beside_batsim_are_read_before_it_says_that_it_is_up(ground: Ground, option: str) -> None:
    words = ("--port", "0", "--batsim", "tcp://127.0.0.1:0", "-o", "out", option, "text")
    ended = ground.ended(Trial("batkube serve", option, "", "text", words))
    assert (ended.exit_code, ended.stdout) == (2, "")
    assert ended.stderr.startswith("batkube: text: ")
