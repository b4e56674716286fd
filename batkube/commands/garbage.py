"""The garbage collector in the commands: seldom, as hardly any garbage is cyclic.

A cluster is hundreds of thousands of small dictionaries that stay. By default the garbage collector would spend a tenth
of the processor time on looking at them again and again, and as much on a last look when the process ends.
"""

import gc

YOUNG_OBJECTS = 20_000
"""The objects more than before that make the garbage collector look; Python's default is 700."""


def seldom() -> None:
    """Let the garbage collector look seldom."""
    gc.set_threshold(YOUNG_OBJECTS, 50, 100)


def keep() -> None:
    """Let the garbage collector never look at what there is now: it stays to the end of the process."""
    gc.freeze()
