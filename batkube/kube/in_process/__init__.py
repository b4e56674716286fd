"""The writes of callers in this process, which do not go through HTTP."""
