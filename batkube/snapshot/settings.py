"""The settings of ``batkube snapshot``."""

from pathlib import Path
from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, model_validator

from batkube.option import Option
from batkube.settings_rules import check


class SnapshotSettings(BaseModel):
    """``batkube snapshot``."""

    model_config = ConfigDict(frozen=True, defer_build=True)

    dumps: Annotated[
        tuple[Path, ...],
        Option(
            "What `kubectl get nodes,pods -A -o yaml` (or json) wrote; without, the cluster itself is asked.",
            metavar="[FILE...]",
            argument=True,
        ),
    ] = ()
    kubeconfig: Annotated[
        Path | None, Option("The kubeconfig of the cluster; else $KUBECONFIG, else ~/.kube/config.", metavar="FILE")
    ] = None
    context: Annotated[str | None, Option("The context in it; else the current one.", metavar="NAME")] = None
    out: Annotated[Path, Option("Folder for the files.", metavar="DIR", short="-o")] = Path("snapshot")
    anonymize: Annotated[
        bool, Option("Replace names, labels and images by hashes, the same for the same; leave annotations out.")
    ] = False
    salt: Annotated[
        str, Option("A secret that goes into the hashes, so that nobody finds names by trying.", metavar="TEXT")
    ] = ""

    @model_validator(mode="after")
    def _options_go_together(self) -> Self:
        check(self)
        if self.dumps and (self.kubeconfig is not None or self.context is not None):
            option = "--kubeconfig" if self.kubeconfig is not None else "--context"
            raise ValueError(f"{option}: the cluster is not asked where files are given")
        return self
