"""The group batch: jobs and cron jobs."""
