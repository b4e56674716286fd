"""The fate of machines during a run, as users say it: events by date, and failures by chance (docs/machines.md)."""
