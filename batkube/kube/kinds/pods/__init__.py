"""Pods, and the templates of pods."""
