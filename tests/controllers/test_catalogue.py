"""The list of controllers that are built in, which are loaded when they are needed."""

import subprocess
import sys

import pytest

from batkube.controllers.catalogue import BUILT_IN, Listed


@pytest.mark.parametrize("listed", BUILT_IN, ids=lambda listed: listed.place)
def test_it_is_listed_by_what_wakes_it(listed: Listed) -> None:
    assert listed.load().wakes == listed.wakes


def test_a_run_without_their_objects_loads_none_of_them() -> None:
    code = "import sys, batkube.session.composition; print([name for name in sys.modules if 'controllers.job' in name])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
