"""Workflows read from Pegasus DAX files."""

from pathlib import Path

import pytest

from batkube.batsim.workflow import Workflow, WorkflowError, read_workflow


def read(path: Path, content: str) -> Workflow:
    file = path / "flow.dax"
    file.write_text(content)
    return read_workflow(file, "wf0")


def test_tasks_come_in_order_of_their_ids_with_what_they_depend_on(tmp_path: Path) -> None:
    workflow = read(
        tmp_path,
        """<?xml version="1.0"?>
        <adag xmlns="http://pegasus.isi.edu/schema/DAX">
          <job id="B" runtime="2.5" num_procs="3"><uses file="f" link="input"/></job>
          <job id="A" runtime="1" num_procs="0"/>
          <child ref="B"><parent ref="A"/><parent ref="A"/></child>
        </adag>""",
    )
    first, second = workflow.tasks
    assert (first.id, first.runtime, first.processors, first.parents) == ("A", 1.0, 1, [])
    assert (second.id, second.runtime, second.processors, second.parents) == ("B", 2.5, 3, [first])
    assert first.children == [second]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("<dag/>", "expected an <adag>, found a <dag>"),
        ("no", "not XML"),
        ('<adag><job runtime="1"/></adag>', "job: id: missing"),
        ('<adag><job id="a" runtime="long"/></adag>', "job 'a': runtime: expected seconds, not 'long'"),
        ('<adag><job id="a"/><child ref="a"><parent ref="b"/></child></adag>', "parent: ref: there is no job 'b'"),
    ],
)
def test_what_is_no_workflow_is_refused_with_file_and_element(content: str, message: str, tmp_path: Path) -> None:
    with pytest.raises(WorkflowError) as refused:
        read(tmp_path, content)
    assert str(refused.value).startswith(f"{tmp_path / 'flow.dax'}: ")
    assert message in str(refused.value)
