"""Schedulers under test: starting and stopping them, and reference policies of our own."""
