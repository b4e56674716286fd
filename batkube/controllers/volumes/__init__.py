"""Volumes and claims of them: which is bound to which, where they come from, and when they go."""
