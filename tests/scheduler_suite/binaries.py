"""The suite's test binaries: one for each of its packages, built by Go from the module cache with our files in place of
those that start etcd and kube-apiserver.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

VERSION = "1.36.3"
MODULE = Path(__file__).parent / "module"
SUITE = "test/integration"
"""The path of the suite in k8s.io/kubernetes."""

_REPLACED = {
    f"{SUITE}/framework/etcd.go": "framework/etcd.go",
    f"{SUITE}/framework/test_server.go": "framework/test_server.go",
    "cmd/kube-apiserver/app/testing/testserver.go": "apiserver/testserver.go",
}
_BUILD = ("go", "test", "-c", "-trimpath", "-vet=off", "-ldflags=-s -w")


class SuiteError(RuntimeError):
    """The suite cannot be built, or nothing of it goes by the names that were given. The text says why."""


class Binary(NamedTuple):
    """The tests of one package of the suite."""

    package: str  # below SUITE: scheduler/filters
    path: Path
    folder: Path  # of its sources, where the tests expect to be started


def cache() -> Path:
    """Return where programs are kept that take minutes to build (`BATKUBE_TOOLS`)."""
    usual = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "batkube"
    return Path(os.environ.get("BATKUBE_TOOLS") or usual) / f"scheduler-suite-{VERSION}"


def built(packages: Iterable[str]) -> list[Binary]:
    """The binaries of these packages; what is missing or older than its sources is built. Raises SuiteError."""
    folder = cache()
    sources = Path(json.loads(_go(("go", "mod", "download", "-json", f"k8s.io/kubernetes@v{VERSION}"), MODULE))["Dir"])
    binaries = [
        Binary(package, folder / f"{package.replace('/', '.')}.test", sources / SUITE / package) for package in packages
    ]
    state = _state_of_module()
    stale = [binary for binary in binaries if not binary.path.exists() or _built_from(binary) != state]
    if stale:
        with _module_beside(folder, sources) as module:
            for binary in stale:
                print(f"building {binary.path}", flush=True)
                _build(binary, module)
                _stamp(binary).write_text(state)
    return binaries


def _stamp(binary: Binary) -> Path:
    return binary.path.with_suffix(".sources")


def _built_from(binary: Binary) -> str:
    return _stamp(binary).read_text() if _stamp(binary).exists() else ""


def _state_of_module() -> str:
    """A hash over all that we add to the suite, and over how it is built."""
    state = sha256(" ".join(_BUILD).encode())
    for path in sorted(path for path in MODULE.rglob("*") if path.is_file()):
        state.update(f"{path.relative_to(MODULE)}\n".encode() + path.read_bytes())
    return state.hexdigest()


@contextmanager
def _module_beside(folder: Path, sources: Path) -> Iterator[Path]:
    """A copy of our module in which k8s.io/kubernetes is a link: no file of the module cache can be replaced."""
    folder.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="module-", dir=folder) as temporary:
        module = Path(temporary).resolve()
        shutil.copytree(MODULE, module, dirs_exist_ok=True)
        (module / "kubernetes").symlink_to(sources)
        overlay = {str(module / "kubernetes" / old): str(module / new) for old, new in _REPLACED.items()}
        (module / "overlay.json").write_text(json.dumps({"Replace": overlay}))
        yield module


def _build(binary: Binary, module: Path) -> None:
    new = binary.path.with_name(f".{binary.path.name}.{os.getpid()}")
    package = f"k8s.io/kubernetes/{SUITE}/{binary.package}"
    _go((*_BUILD, "-overlay", "overlay.json", "-o", str(new), package), module)
    new.replace(binary.path)


def _go(words: tuple[str, ...], folder: Path) -> str:
    environment = os.environ | {"CGO_ENABLED": "0", "GOWORK": "off"}
    try:
        done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True)
    except FileNotFoundError:
        raise SuiteError("go is not installed") from None
    if done.returncode:
        raise SuiteError(f"{' '.join(words[:3])} failed: {done.stderr.strip()}")
    return done.stdout
