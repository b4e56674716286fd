"""The restarts of containers that have ended: the kubelet's back-off (``pkg/kubelet/util/backoff``).

It begins at once, then waits 10 s, twice as long each time, 300 s at most; a process that has run for ten minutes
begins anew.
"""

FIRST_BACKOFF, LONGEST_BACKOFF = 10.0, 300.0
FORGIVEN_AFTER = 2 * LONGEST_BACKOFF
"""Simulated seconds after which a back-off is forgotten."""
MOST_RETRIES = 20
"""The runs of a pod of a Job after which nobody is expected to give it up: backoffLimit is 6 by default."""


def wait_before(run: int, ran: float, before: float) -> float:
    """Return the simulated seconds until a process is started again.

    ``run``: the number of the run that has ended, from 0; ``ran``: its length; ``before``: the wait before it.
    """
    if not run or ran >= FORGIVEN_AFTER:
        return 0.0
    return min(max(2 * before, FIRST_BACKOFF), LONGEST_BACKOFF)


def is_restarted(policy: str, *, failed: bool) -> bool:
    """Tell whether a process that has ended is started again by this restartPolicy."""
    return policy == "Always" or (policy == "OnFailure" and failed)
