"""Recording: cases without answers, or with those of another server, become cases with those of this one."""

from collections.abc import Sequence
from pathlib import Path

from .cases import Case, chosen, load_file, write_file
from .checking import run_all
from .exchange import Client
from .running import run
from .varying import tokens


def record(files: Sequence[Path], only: Sequence[str], jobs: int, server: str, token: str) -> list[str]:
    """Ask a real server anew, and write its answers into the files. Returns complaints: a step that prepares failed, or
    an `until` was never reached, so that the case would show nothing. Raises CaseError and ExchangeError.
    """
    complaints: list[str] = []

    def one(case: Case, client: Client) -> Case:
        outcome = run(case, client)
        complaints.extend(f"{case['case']}: {complaint}" for complaint in outcome.complaints)
        steps = []
        for step, answer in zip(case["steps"], tokens(outcome.answers), strict=True):
            plain = {key: value for key, value in step.items() if key != "answer"}
            steps.append(plain if answer is None else {**plain, "answer": answer})
        return {**case, "steps": steps}

    for file in files:
        cases = load_file(file)
        wanted = chosen(cases, only)
        if wanted:
            recorded = {case["case"]: case for case in run_all(wanted, jobs, server, token, one)}
            write_file(file, [recorded.get(case["case"], case) for case in cases])
            print(f"{file.stem:24} {len(wanted):4} cases", flush=True)
    return sorted(complaints)
