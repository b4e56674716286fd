"""Where Batsim's world and Kubernetes' world meet: hosts are nodes, jobs are pods, one clock is the time."""
