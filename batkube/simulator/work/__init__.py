"""The work of jobs: how a profile becomes delays, parallel tasks, messages and traces on the hosts of a job."""
