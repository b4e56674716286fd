"""DaemonSets: a pod on each node that fits (``pkg/controller/daemon``)."""
