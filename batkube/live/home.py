"""The page at ``/`` of a simulated cluster."""

from functools import cache

from batkube.report.document import environment, pieces


@cache
def home() -> bytes:
    """Return the page; all that it shows comes by server-sent events."""
    text = environment().get_template("live.html").render(
        style=pieces(("vendor/uPlot.min.css", "look.css", "live.css")),
        script=pieces(("vendor/uPlot.LICENSE.js", "vendor/uPlot.iife.min.js", "format.js", "charts.js", "live.js")),
    )  # fmt: skip
    return text.encode()
