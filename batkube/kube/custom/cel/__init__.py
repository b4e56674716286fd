"""CEL, the Common Expression Language, as far as rules of custom resources use it.

`parse` reads an expression into a tree (`syntax`), `evaluate` gives its value. Expressions come from whoever defines a
kind: they are read and walked here, never handed to Python's own evaluation.
"""

from .checks import compilation_problem
from .evaluate import evaluate
from .functions import duration, timestamp
from .syntax import Node, SyntaxProblem, parse
from .types import Mismatch, Type, check, optional, type_of_schema
from .values import CelError, Optional

__all__ = [
    "CelError",
    "Mismatch",
    "Node",
    "Optional",
    "SyntaxProblem",
    "Type",
    "check",
    "compilation_problem",
    "duration",
    "evaluate",
    "optional",
    "parse",
    "timestamp",
    "type_of_schema",
]
