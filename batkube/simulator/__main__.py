"""``python -m batkube.simulator``: the standalone simulator, in the place of Batsim 4 or (``--protocol 5``) 5."""

import sys

arguments = sys.argv[1:]
# Only the version that is asked for is imported: protocol 5 needs libraries that take longer than a short simulation.
if arguments[:2] == ["--protocol", "5"]:
    from batkube.simulator.standalone import batsim5

    sys.exit(batsim5.main(arguments[2:]))

from batkube.simulator.standalone import batsim4  # noqa: E402

sys.exit(batsim4.main(arguments))
