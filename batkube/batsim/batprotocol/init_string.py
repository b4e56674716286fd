"""The options that Batsim 5 no longer has on its command line, but passes to its decision process in the init string.

``-s ENDPOINT '{"batkube": {"compute_sharing": true}}'``. Any other init string means nothing to batkube.
"""

from typing import Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from batkube.batsim.errors import ProtocolError

Form = Literal["json", "binary"]
"""The form of messages."""


class Options(BaseModel):
    """The member ``batkube`` of the init string. Its fields are named as Batsim 4's options, which they replace."""

    model_config = ConfigDict(extra="forbid", strict=True)

    form: Form = "json"
    """The form of messages. JSON has names, which are surer than numbers: see schema.py."""
    compute_sharing: bool = False
    """True if several jobs may use a host at a time. Batsim 5 itself always lets them."""
    dynamic_jobs: bool = False
    acknowledge_dynamic_jobs: bool = False
    profile_reuse: bool = False


class _InitString(BaseModel):
    model_config = ConfigDict(extra="ignore")

    batkube: Options = Options()


def read_options(init: str) -> Options:
    """Return the options in an init string. Raises ProtocolError for a wrong member ``batkube``."""
    if not init.lstrip().startswith("{"):
        return Options()
    try:
        return _InitString.model_validate_json(init).batkube
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        if first["type"] == "json_invalid":
            return Options()
        where = ".".join(map(str, first["loc"]))
        raise ProtocolError(f"init string: {where}: {first['msg']}: {first['input']!r}") from None


def write_init_string(options: Options) -> str:
    """Return an init string with ``options``; empty if all are the default."""
    said = options.model_dump_json(exclude_defaults=True)
    return "" if said == "{}" else f'{{"batkube": {said}}}'
