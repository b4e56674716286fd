"""What a run leaves behind: its events in order, its pods, and how it ended."""
