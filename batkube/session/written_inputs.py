"""Workloads and platforms that are not as their files have them, written into the folder of results.

So every simulator, a real Batsim too, reads the same.
"""

import json

from batkube.session.inputs import Inputs
from batkube.session.jitter import content
from batkube.settings import RunSettings

IMPORTED_PLATFORM = "imported-platform.xml"
"""The platform that was made of other things."""


def with_written_inputs(settings: RunSettings, inputs: Inputs) -> RunSettings:
    """Write what was converted or jittered; the settings that name it. Raises OSError."""
    paths = []
    for path, workload in zip(settings.workloads, inputs.workloads.values(), strict=True):
        if settings.jitter or workload.name in inputs.imported:
            path = settings.out / f"{'jittered' if settings.jitter else 'imported'}-{workload.name}.json"
            path.write_text(json.dumps(content(workload), indent=1) + "\n", encoding="utf-8")
        paths.append(path)
    platform = settings.platform
    if inputs.given_platform is not None and inputs.given_platform.text is not None:
        platform = (settings.out / IMPORTED_PLATFORM,)
        platform[0].write_text(inputs.given_platform.text, encoding="utf-8")
    return settings.model_copy(update={"workloads": tuple(paths), "platform": platform})
