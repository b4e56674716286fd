"""The results of a run: its events in order, its pods, and its end."""
