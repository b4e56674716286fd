"""Cases run against a server, many at a time, and what of their answers differs from the record."""

import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from .cases import Case
from .comparison import Comparison, Difference, show
from .exchange import Client, ExchangeError
from .running import Outcome, run

Result = TypeVar("Result")

JOBS = 24
"""Cases at a time: most of their time they wait for a watch to end."""


def run_all(
    cases: Sequence[Case], jobs: int, server: str, token: str, one: Callable[[Case, Client], Result]
) -> list[Result]:
    """`one` of every case, `jobs` at a time; cases marked "alone" by themselves, at the end."""
    local = threading.local()

    def work(case: Case) -> Result:
        if not hasattr(local, "client"):
            local.client = Client(server, token)
        return one(case, local.client)

    results: dict[int, Result] = {}
    with ThreadPoolExecutor(jobs) as pool:
        futures = {index: pool.submit(work, case) for index, case in enumerate(cases) if not case.get("alone")}
        for index, future in futures.items():
            results[index] = future.result()
    for index, case in enumerate(cases):
        if case.get("alone"):
            results[index] = work(case)
    return [results[index] for index in range(len(cases))]


def outcome_of(case: Case, client: Client) -> Outcome | str:
    """Return what the server answered, or why the case could not be run: the other cases go on."""
    try:
        return run(case, client)
    except ExchangeError as error:
        return str(error)


def differences(case: Case, outcome: Outcome | str, *, strict: bool) -> list[Difference]:
    """Return where the answers are not as recorded."""
    if isinstance(outcome, str):
        return [Difference(0, "(the case could not be run)", "", outcome)]
    comparison = Comparison(strict, case.get("keep", []), outcome.normaliser)
    complaints = [Difference(0, "(preparation)", "to succeed", complaint) for complaint in outcome.complaints]
    comparison.differences += complaints
    for number, (step, answer) in enumerate(zip(case["steps"], outcome.answers, strict=True), 1):
        if "answer" not in step:
            continue
        try:
            comparison.answer(number, step["answer"], answer)
        except (AttributeError, KeyError, TypeError) as error:  # an answer of a shape no API object has
            strange = Difference(number, f"(not comparable: {error})", show(step["answer"]), show(answer))
            comparison.differences.append(strange)
    return comparison.differences
