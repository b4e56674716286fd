"""The restarts of containers that have ended; ``back_off`` says when."""

MOST_RETRIES = 20
"""The runs of a pod of a Job after which nobody is expected to give it up: backoffLimit is 6 by default."""


def is_restarted(policy: str, *, failed: bool) -> bool:
    """Tell whether a process that has ended is started again by this restartPolicy."""
    return policy == "Always" or (policy == "OnFailure" and failed)
