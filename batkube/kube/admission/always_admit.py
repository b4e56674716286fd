"""AlwaysAdmit: it accepts everything, as if there were no plugin."""

from .plugin import Plugin


class AlwaysAdmit(Plugin):
    name = "AlwaysAdmit"
    by_default = False
