"""Reading workloads in all the formats that people have."""
