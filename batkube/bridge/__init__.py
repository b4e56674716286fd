"""The place where Batsim's world and Kubernetes' world meet: hosts are nodes, jobs are pods, and there is one time."""
