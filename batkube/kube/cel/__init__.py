"""CEL, the Common Expression Language, as Kubernetes has it.

`parse` reads an expression into a tree (`syntax`, `macros`), `check` tells its type and what does not go together
(`checker`, `types`), a `Program` gives its value (`evaluate`). Functions are declared once, with their types and costs
(`library`). Expressions come from whoever defines a kind: they are read and walked here, never handed to Python's own
evaluation.
"""

from .checker import check
from .compilation import compilation_problem, instantiation_problem, type_problem
from .evaluate import COST_LIMIT, Program, program
from .syntax import parse
from .times import duration, timestamp
from .tree import Node, SyntaxProblem
from .types import ObjectType, Type, shown
from .values import CelError, CostExceeded, Object, Optional, SetList, Spent

__all__ = [
    "COST_LIMIT",
    "CelError",
    "CostExceeded",
    "Node",
    "Object",
    "ObjectType",
    "Optional",
    "Program",
    "SetList",
    "Spent",
    "SyntaxProblem",
    "Type",
    "check",
    "compilation_problem",
    "duration",
    "instantiation_problem",
    "parse",
    "program",
    "shown",
    "timestamp",
    "type_problem",
]
