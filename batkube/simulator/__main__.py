"""``python -m batkube.simulator``: the stand-in for the program ``batsim``."""

import sys

from batkube.simulator.standin import main

sys.exit(main())
