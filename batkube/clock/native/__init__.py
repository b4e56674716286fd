"""What is not Python: the code that is mapped into processes on the simulated clock."""
