"""Settings of an API server: who may come in, its plugins, gates and versions, and what it has from its start."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict

from batkube.option import ACCESS, API, Option


class AccessSettings(BaseModel):
    """Access to the API server: who may come in, and how clients learn it."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    tls: Annotated[
        bool, Option("HTTPS, and nobody comes in without the kubeconfig's token or certificate.", ACCESS)
    ] = False
    insecure: Annotated[bool, Option("Plain HTTP, on loopback only; there it is the default.", ACCESS)] = False
    token: Annotated[
        str | None,
        Option(
            "The token that lets clients in; turns TLS on but for --insecure.", ACCESS, "TOKEN", envvar="BATKUBE_TOKEN"
        ),
    ] = None
    client_certificate: Annotated[
        bool, Option("A client certificate in the kubeconfig, no token; turns TLS on.", ACCESS)
    ] = False
    in_cluster_dir: Annotated[
        Path | None,
        Option("Write token, ca.crt and namespace here, as a pod finds them; turns TLS on.", ACCESS, "DIR"),
    ] = None
    external_hostname: Annotated[
        str | None,
        Option("Name by which clients call the server: goes into kubeconfig and certificate.", ACCESS, "NAME"),
    ] = None


class ApiSettings(BaseModel):
    """The settings of the API server."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    enable_admission_plugins: Annotated[
        tuple[str, ...], Option("Plugins to have at work, by kube-apiserver's names.", API, "NAME,...", commas=True)
    ] = ()
    disable_admission_plugins: Annotated[
        tuple[str, ...], Option("Plugins to do without.", API, "NAME,...", commas=True)
    ] = ()
    feature_gates: Annotated[
        tuple[str, ...],
        Option("Feature gates of kube-apiserver: docs/conformance.md.", API, "NAME=BOOL", commas=True),
    ] = ()
    runtime_config: Annotated[
        tuple[str, ...],
        Option("API versions that discovery shows: api/all=true, GROUP/VERSION=true.", API, "NAME=BOOL", commas=True),
    ] = ()
    definitions: Annotated[
        tuple[Path, ...],
        Option("CustomResourceDefinitions to serve (YAML, JSON); may be repeated.", API, "FILE|DIR", name="--crd"),
    ] = ()
    objects: Annotated[
        tuple[Path, ...],
        Option("Objects of any kind to have from the start; may be repeated.", API, "FILE|DIR"),
    ] = ()
