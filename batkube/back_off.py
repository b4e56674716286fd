"""The back-off before what has ended is started again: the kubelet's with containers (``pkg/kubelet/util/backoff``).

It begins at once, then waits 10 s, twice as long each time, 300 s at most; what has run for ten minutes begins anew.
"""

FIRST, LONGEST = 10.0, 300.0
FORGIVEN_AFTER = 2 * LONGEST
"""Simulated seconds after which a back-off is forgotten."""


def wait_before(run: int, ran: float, before: float) -> float:
    """Return the simulated seconds until a process is started again.

    ``run``: the number of the run that has ended, from 0; ``ran``: its length; ``before``: the wait before it.
    """
    if not run or ran >= FORGIVEN_AFTER:
        return 0.0
    return min(max(2 * before, FIRST), LONGEST)
