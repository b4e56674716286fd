"""``python -m batkube.simulator``: the stand-in for the program ``batsim``, of version 4 or (``--protocol 5``) 5."""

import sys

arguments = sys.argv[1:]
# Only the stand-in that is asked for is imported: protocol 5 needs libraries that take longer than a short simulation.
if arguments[:2] == ["--protocol", "5"]:
    from batkube.simulator import standin5

    sys.exit(standin5.main(arguments[2:]))

from batkube.simulator import standin  # noqa: E402

sys.exit(standin.main(arguments))
