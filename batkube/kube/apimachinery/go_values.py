"""The forms in which Go prints values: numbers with an exponent only if they are large or small, JSON that is safe in
HTML.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any

import orjson

_HTML = {"<": "\\u003c", ">": "\\u003e", "&": "\\u0026", "\u2028": "\\u2028", "\u2029": "\\u2029"}
_LARGE = 1e21


def go_number(value: float) -> str:
    """Return a float as `%v` prints it: 2.5, 1e+21, 1e-07."""
    if not math.isfinite(value):
        return "NaN" if math.isnan(value) else f"{'+' if value > 0 else '-'}Inf"
    if value and not 1e-4 <= abs(value) < _LARGE:
        return _with_exponent(value)
    return f"{Decimal(repr(value)):f}".removesuffix(".0")


def _with_exponent(value: float) -> str:
    digits, _, exponent = f"{value!r}".partition("e")
    if not exponent:
        digits, _, exponent = f"{value:.16e}".partition("e")
        digits = digits.rstrip("0")
    digits = digits.removesuffix(".0").rstrip(".")
    return f"{digits}e{int(exponent):+03d}"


def go_json(value: Any) -> str:
    """Return a value as `encoding/json` writes it: keys sorted, characters of HTML escaped."""
    return fit_for_html(orjson.dumps(value, default=str, option=orjson.OPT_SORT_KEYS).decode())


def fit_for_html(text: str) -> str:
    """Return JSON with signs of HTML escaped."""
    return re.sub("[<>&\u2028\u2029]", lambda found: _HTML[found[0]], text)


def go_value(value: Any) -> str:
    """Return a value as Go's %v prints it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list):
        return f"[{' '.join(go_value(item) for item in value)}]"
    if isinstance(value, dict):
        return f"map[{' '.join(f'{name}:{go_value(value[name])}' for name in sorted(value))}]"
    if isinstance(value, float):
        return go_number(value)
    return "<nil>" if value is None else str(value)
