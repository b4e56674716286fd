"""The node life-cycle controller: nodes whose kubelets are silent (``pkg/controller/nodelifecycle``)."""
