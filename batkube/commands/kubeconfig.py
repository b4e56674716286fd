"""``batkube kubeconfig``: a kubeconfig for a server that anybody may use."""

from batkube.kube.authentication.kubeconfig import kubeconfig, kubeconfig_text


def main(server: str) -> int:
    """Print it; 0."""
    print(kubeconfig_text(kubeconfig(server)), end="")
    return 0
