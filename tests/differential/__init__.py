"""Requests at random to batkube and kube-apiserver side by side: `python -m tests.differential`."""
