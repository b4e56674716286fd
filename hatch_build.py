"""The addition to the build of wheels: with BATKUBE_BUILD_HELPER=1, the helper of tree mode, built for this platform.

Without it wheels are ``py3-none-any``: the vDSO image is bytes like any other, and the helper is built by the C
compiler of the machine on which it is first needed.
"""

import importlib.util
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

NATIVE = Path(__file__).parent / "batkube" / "clock" / "native"
TAGS = {"x86_64": "py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64"}
"""By architecture. The helper is linked statically: it runs with any C library."""


class HelperHook(BuildHookInterface[Any]):
    """Puts the helper into the wheel, and the platform into its name."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Called before a wheel is made; ``version`` is ``editable`` for an editable one."""
        if version == "editable" or os.environ.get("BATKUBE_BUILD_HELPER", "0") in ("", "0"):
            return
        tag = TAGS.get(platform.machine()) if sys.platform == "linux" else None
        if tag is None:
            sys.exit(f"BATKUBE_BUILD_HELPER: needs Linux on x86_64, this is {sys.platform} on {platform.machine()}")
        # By its path: what the package depends on is not installed here.
        spec = importlib.util.spec_from_file_location("batkube_native_build", NATIVE / "build.py")
        assert spec is not None
        assert spec.loader is not None
        build = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(build)
        target = Path(self.directory) / build.HELPER.name
        target.parent.mkdir(parents=True, exist_ok=True)
        try:
            build.build_tree(target, static=True)
        except OSError as error:
            sys.exit(f"BATKUBE_BUILD_HELPER: {error}")
        except subprocess.CalledProcessError as error:
            sys.exit(f"BATKUBE_BUILD_HELPER: {error.stderr}")
        build_data["pure_python"] = False
        build_data["tag"] = tag
        build_data["force_include"][str(target)] = str(build.HELPER.relative_to(self.root))
        self._built = target

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Called afterwards."""
        if hasattr(self, "_built"):
            self._built.unlink(missing_ok=True)
