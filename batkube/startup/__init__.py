"""The time that pods take to start and to end: the file that says it, and how to make one from recorded times."""
