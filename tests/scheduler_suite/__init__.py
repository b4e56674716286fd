"""kube-scheduler's own integration tests, run against batkube: see README.md."""
