"""No step costs more than it did, in counts that do not hang on the machine. `make costs` stores them anew."""

from collections.abc import Callable
from pathlib import Path

import pytest
from costs import SMALL, costs_of, differences, stored
from profile_run import KUBE_SCHEDULER


@pytest.mark.parametrize("name", list(SMALL))
def test_a_case_costs_no_more_than_it_did(name: str, built_tool: Callable[[str], Path]) -> None:
    case = SMALL[name]
    if case.scheduler == "kube-scheduler":
        built_tool(KUBE_SCHEDULER)
    worse = [str(each) for each in differences(name, costs_of(case), stored()[name]) if each.is_worse]
    assert not worse
