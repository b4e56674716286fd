"""The parts that are not Python: the code that is mapped into processes on the simulated clock."""
