"""Answers recorded from a real kube-apiserver, asked of batkube: see README.md."""
