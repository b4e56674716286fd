"""Hosts and links as parallel tasks share them, by SimGrid's models."""
