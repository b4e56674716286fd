"""``extra_data``: Batsim 5's member for the user's own fields of a job or profile.

It is a text, or in workload files an object too; batkube reads a text that is JSON.
https://batsim.readthedocs.io/en/latest/input-workload.html
"""

from typing import Any

from pydantic_core import from_json

JSON = dict[str, Any]

FIELD = "extra_data"


def with_extra_data(raw: JSON) -> JSON:
    """Return a job or profile with the members of its ``extra_data`` as if they stood in it; its own go first.

    It is unchanged if there is no ``extra_data``, or if that is no JSON object and so meant for other programs.
    """
    extra = raw.get(FIELD)
    if isinstance(extra, str) and extra.startswith("{"):
        try:
            extra = from_json(extra)
        except ValueError:
            return raw
    return {**extra, **raw} if isinstance(extra, dict) else raw
