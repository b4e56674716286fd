"""A real kube-scheduler decides the same on batkube as on kube-apiserver: `python -m tests.decisions`."""
