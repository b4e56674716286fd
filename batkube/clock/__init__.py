"""Time for real processes: knowing when a scheduler has come to rest.

Uses nothing else of batkube; Linux only where it looks into processes.
"""
