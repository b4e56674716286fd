"""Build the parts that are not Python. ``python -m batkube.clock.native.build`` writes the repository's vDSO image.

Uses nothing but the standard library: the build of wheels loads this file by itself.

The image is machine code without relocations, the same for all programs of an architecture. Its bytes depend on the
compiler's version; a test builds it anew and compares what both do.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
IMAGE = HERE / "vdso-x86_64.so"
IMAGE_BY = "gcc (Debian 12.2.0-14+deb12u1) 12.2.0"
"""The compiler that made the image. Another one makes other bytes, which do the same."""
HELPER = HERE / "tree-x86_64"
"""The helper of tree mode, if the package brings it: wheels for platforms do."""
HELPER_SOURCES = [HERE / "clock_page.h", *sorted((HERE / "tree").glob("*.[ch]"))]

_FLAGS = (
    "-O2 -fPIC -fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none -mno-sse",
    "-Wall -Wextra -Werror",
    "-nostdlib -shared -s -Wl,--hash-style=both -Wl,-soname,linux-vdso.so.1 -Wl,--build-id=none -Wl,-z,noexecstack",
    "-Wl,-z,max-page-size=4096 -Wl,--no-undefined",
)


def compiler() -> str | None:
    """Return the C compiler: ``$CC``, gcc or cc."""
    return next((found for name in (os.environ.get("CC"), "gcc", "cc") if name and (found := shutil.which(name))), None)


def build(target: Path) -> None:
    """Compile the image. Raises OSError if there is no C compiler, CalledProcessError if it fails."""
    command = compiler()
    if command is None:
        raise FileNotFoundError("there is neither $CC nor gcc nor cc")
    script = f"-Wl,-T,{HERE / 'vdso.lds'}"
    subprocess.run([command, *" ".join(_FLAGS).split(), script, "-o", str(target), str(HERE / "vdso.c")], check=True)


def build_tree(target: Path, *, static: bool = False) -> None:
    """Compile the helper of tree mode. With ``static`` it runs with any C library.

    Raises OSError and CalledProcessError as ``build`` does.
    """
    command = compiler()
    if command is None:
        raise FileNotFoundError("there is neither $CC nor gcc nor cc")
    sources = [str(source) for source in HELPER_SOURCES if source.suffix == ".c"]
    words = [command, "-O2", "-Wall", "-Wextra", *(["-static", "-s"] if static else []), "-o", str(target), *sources]
    subprocess.run(words, check=True, capture_output=True, text=True)


if __name__ == "__main__":
    try:
        build(IMAGE)
    except (OSError, subprocess.CalledProcessError) as error:
        sys.exit(str(error))
    print(f"{IMAGE}: {IMAGE.stat().st_size} bytes")
