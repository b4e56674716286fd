"""Objects as rows of a table, as kubectl prints them.

Cells and columns are those of the real server (`pkg/printers/internalversion/printers.go` of Kubernetes); ages are
counted in simulated time.
"""

from .columns import column_definitions
from .form import TableForm, table, table_form

__all__ = ["TableForm", "column_definitions", "table", "table_form"]
