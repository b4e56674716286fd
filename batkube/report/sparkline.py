"""A line of blocks that shows how a value went over time, for terminals and Markdown."""

import math
from collections.abc import Sequence

BLOCKS = "▁▂▃▄▅▆▇█"


def means(times: Sequence[float], values: Sequence[float], end: float, buckets: int) -> list[float]:
    """Return the means of a step function over equal spans of time, from its first time to ``end``."""
    if not times or end <= times[0]:
        return list(values[-1:])
    width = (end - times[0]) / buckets
    sums = [0.0] * buckets
    for index, (begin, value) in enumerate(zip(times, values, strict=True)):
        until = times[index + 1] if index + 1 < len(times) else end
        first = int((begin - times[0]) / width)
        for bucket in range(first, min(buckets, math.ceil((until - times[0]) / width))):
            left = times[0] + bucket * width
            sums[bucket] += value * max(0.0, min(until, left + width) - max(begin, left))
    return [total / width for total in sums]


def sparkline(values: Sequence[float], top: float | None = None) -> str:
    """Return a block for each value, a blank for none; the highest stands for ``top``, else for the largest value."""
    highest = max(values, default=0.0) if top is None else top
    most = len(BLOCKS) - 1
    return "".join(
        BLOCKS[max(0, min(most, round(value / highest * most)))] if value > 0 and highest > 0 else " "
        for value in values
    )
