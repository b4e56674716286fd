"""CEL, the Common Expression Language, as Kubernetes has it.

`parse` reads an expression into a tree (`syntax`, `macros`), `check` tells its types and what does not go together
(`checker`, `types`), `estimated` what it costs at most (`estimate`), a `Program` gives its value (`evaluate`).
Functions are declared once, with their types and costs (`library`). Expressions come from whoever defines a kind: they
are read and walked here, never handed to Python's own evaluation.
"""

from .checker import Checked, check
from .compilation import compilation_problem, compiled, instantiation_problem, type_problem
from .estimate import estimated
from .evaluate import COST_LIMIT, Program, program
from .sizes import LARGEST, Extent, Size
from .syntax import parse
from .times import duration, timestamp
from .tree import Node, SyntaxProblem
from .types import ObjectType, Type, shown
from .values import CelError, CostExceeded, Object, Optional, SetList, Spent

__all__ = [
    "COST_LIMIT",
    "LARGEST",
    "CelError",
    "Checked",
    "CostExceeded",
    "Extent",
    "Node",
    "Object",
    "ObjectType",
    "Optional",
    "Program",
    "SetList",
    "Size",
    "Spent",
    "SyntaxProblem",
    "Type",
    "check",
    "compilation_problem",
    "compiled",
    "duration",
    "estimated",
    "instantiation_problem",
    "parse",
    "program",
    "shown",
    "timestamp",
    "type_problem",
]
