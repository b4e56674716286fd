"""No test hangs on how fast or busy the machine is: what is written in tests is held to a few rules that tell."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent

SHORTEST = 30
"""Real seconds: no deadline of a test is shorter, unless it is to pass."""
CLIENTS = {"get", "post", "put", "patch", "delete", "Client", "AsyncClient"}
"""Functions of httpx whose own deadline is five seconds."""
DEADLINES = {"run", "communicate", "wait", "wait_for", "timeout", "result", "Popen"}
"""Functions after whose deadline a test fails, or a program is ended."""
CLOCKS = {"monotonic", "perf_counter", "time"}
MEANT = "# to pass"
"""A comment for a deadline that is to pass, and is short for that reason."""


def faults(text: str) -> Iterator[str]:
    """Yield line and fault for each deadline that a slow machine may miss."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call | ast.Compare):
            continue
        fault = _of_call(node) if isinstance(node, ast.Call) else _of_comparison(node)
        if fault and MEANT not in lines[node.lineno - 1]:
            yield f"line {node.lineno}: {fault}"


def _of_call(call: ast.Call) -> str:
    words = {keyword.arg: keyword.value for keyword in call.keywords}
    name = call.func.attr if isinstance(call.func, ast.Attribute) else ""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    if isinstance(owner, ast.Name) and owner.id == "httpx" and name in CLIENTS:
        if not words.keys() & {"timeout", "transport", None}:
            return "httpx gives up after five seconds: say timeout="
        name = "timeout"
    if name not in DEADLINES:
        return ""
    given = words.get("timeout")
    if given is None and name in ("wait_for", "timeout") and call.args:
        given = call.args[-1]
    if isinstance(given, ast.Constant) and isinstance(given.value, int | float) and given.value < SHORTEST:
        return f"a deadline of {given.value} s"
    return ""


def _of_comparison(comparison: ast.Compare) -> str:
    left = comparison.left
    if not isinstance(comparison.ops[0], ast.Lt | ast.LtE):
        return ""
    if isinstance(left, ast.BinOp) and isinstance(left.op, ast.Sub) and isinstance(left.left, ast.Call):
        function = left.left.func
        if isinstance(function, ast.Attribute) and function.attr in CLOCKS:
            return "what passes in real time has no upper bound"
    return ""


@pytest.mark.parametrize(
    "text",
    [
        "httpx.get(url)",
        "process.communicate(timeout=10)",
        "await asyncio.wait_for(answer, 5)",
        "asyncio.timeout(20)",
        "assert time.monotonic() - began < 2",
        "assert loop.time() - began <= 2",
    ],
)
def test_a_deadline_that_a_slow_machine_may_miss_is_found(text: str) -> None:
    assert len(list(faults(text))) == 1
    assert not list(faults(f"{text}  {MEANT}"))


def test_no_test_has_one() -> None:
    found = {path.relative_to(TESTS): list(faults(path.read_text())) for path in sorted(TESTS.rglob("*.py"))}
    assert [f"{path}, {fault}" for path, told in found.items() for fault in told] == []
