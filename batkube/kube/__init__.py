"""A Kubernetes API server in memory, usable alone as a test double.

    from batkube.kube.server import ApiServer

    server = ApiServer(now=time.time)
    await server.start()  # any client can be pointed at server.url, or use server.kubeconfig()
    server.create("nodes", {"metadata": {"name": "n1"}})
    server.get("nodes", "n1")
    await server.stop()

docs/architecture.md tells what each of the rooms is for, and which of them it may import.
"""
