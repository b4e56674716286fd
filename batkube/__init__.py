"""batkube: any Kubernetes scheduler, unmodified, against a cluster that Batsim simulates."""

__version__ = "0.1.0"
