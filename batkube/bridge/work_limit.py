"""The limit to the work of schedulers on one event, in processor time of their own.

On a machine that has much else to do a scheduler may need minutes for what takes it seconds of a processor. Real time
counts only while it neither rests nor works: it is stopped, or waits for something that does not come.
"""

from collections.abc import Awaitable, Callable
from time import monotonic

from batkube.clock.verdict import Verdict

FIRST = 0.1
"""The share of the limit that passes before processor time is read, which costs more than most reactions take."""
STANDSTILL = 0.01
"""The share of real time below which a scheduler's processor time says that it does not work."""


async def wait_within(
    seconds: float, wait: Callable[[float], Awaitable[Verdict]], processor_time: Callable[[], float]
) -> Verdict:
    """Wait for rest with ``wait``, which is given real seconds, until the schedulers have worked for ``seconds``.

    ``processor_time`` returns the seconds of a processor that they have used so far. The last verdict is returned, when
    they have used up ``seconds``, or next to nothing in as much real time.
    """
    verdict = await wait(seconds * FIRST)
    if verdict.idle or verdict.gone:
        return verdict
    left = seconds * (1 - FIRST)
    used, since = processor_time(), monotonic()
    while True:
        verdict = await wait(max(left, seconds * FIRST))
        if verdict.idle or verdict.gone:
            return verdict
        worked, passed = processor_time() - used, monotonic() - since
        left -= max(worked, 0.0)  # less than before where one of several processes has ended
        if left <= 0 or 0 <= worked < STANDSTILL * passed:
            return verdict
        used, since = used + worked, since + passed
