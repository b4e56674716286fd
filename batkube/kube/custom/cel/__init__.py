"""CEL, the Common Expression Language, as far as rules of custom resources use it.

`parse` reads an expression into a tree (`syntax`), `evaluate` gives its value. Expressions come from whoever defines a
kind: they are read and walked here, never handed to Python's own evaluation.
"""

from .checks import compilation_problem
from .evaluate import CelError, evaluate
from .syntax import Node, SyntaxProblem, parse
from .types import Mismatch, check, type_of_schema

__all__ = [
    "CelError",
    "Mismatch",
    "Node",
    "SyntaxProblem",
    "check",
    "compilation_problem",
    "evaluate",
    "parse",
    "type_of_schema",
]
