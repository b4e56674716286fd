"""The wheels: one wheel for all platforms, and one that brings the helper of tree mode and needs no compiler."""

import json
import os
import platform
import struct
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from batkube.clock.native.build import HELPER, IMAGE, compiler

ROOT = Path(__file__).parents[1]

WORKLOAD = {
    "nb_res": 16,
    "jobs": [{"id": "a", "subtime": 3, "res": 1, "profile": "p"}],
    "profiles": {"p": {"type": "delay", "delay": 3600}},
}


def build(folder: Path, **env: str) -> Path:
    """The wheel of this checkout."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env={**os.environ, **env})
    assert done.returncode == 0, done.stderr
    (wheel,) = folder.glob("*.whl")
    return wheel


def install(wheel: Path, folder: Path) -> dict[str, str]:
    """As pip does, but for what it depends on; the environment in which it is used, without any compiler."""
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-index", "--no-deps", "--target", str(folder)]
    subprocess.run([*command, "--disable-pip-version-check", str(wheel)], check=True)
    (folder / "no-programs").mkdir()
    return {"PATH": str(folder / "no-programs"), "PYTHONPATH": str(folder), "XDG_CACHE_HOME": str(folder / "cache")}


def needs_interpreter(program: bytes) -> bool:
    """Tell whether an ELF program is loaded by another, that of a C library: if it has a segment PT_INTERP."""
    (headers,) = struct.unpack_from("<Q", program, 32)
    (count,) = struct.unpack_from("<H", program, 56)
    return any(struct.unpack_from("<I", program, headers + 56 * index)[0] == 3 for index in range(count))


def python(env: dict[str, str], *arguments: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([sys.executable, *arguments], cwd=cwd, env=env, capture_output=True, text=True, timeout=120)


def test_one_wheel_fits_all_platforms_and_gives_go_programs_the_clock(tmp_path: Path) -> None:
    wheel = build(tmp_path / "dist", BATKUBE_BUILD_HELPER="")
    assert wheel.name.endswith("-py3-none-any.whl")
    image = str(IMAGE.relative_to(ROOT))
    with zipfile.ZipFile(wheel) as file:
        assert file.read(image) == IMAGE.read_bytes()
        assert str(HELPER.relative_to(ROOT)) not in file.namelist()
    if platform.machine() != "x86_64" or sys.platform != "linux":
        pytest.skip("the clock needs Linux on x86_64")
    code = "from batkube.clock.probe import means_for; print(means_for('once').works); print(means_for('tree').reason)"
    done = python(install(wheel, tmp_path), "-c", code, cwd=tmp_path)
    assert done.stdout.splitlines() == [
        "True", "its helper must be built, and there is no C compiler (neither $CC nor gcc nor cc)",
    ], done.stderr  # fmt: skip


@pytest.mark.skipif(platform.machine() != "x86_64" or sys.platform != "linux", reason="needs Linux on x86_64")
def test_the_wheel_for_this_platform_needs_no_compiler(tmp_path: Path) -> None:
    if compiler() is None:
        pytest.skip("no C compiler to build it with")
    wheel = build(tmp_path / "dist", BATKUBE_BUILD_HELPER="1")
    assert wheel.name.endswith("-py3-none-manylinux_2_17_x86_64.musllinux_1_1_x86_64.whl")
    env = install(wheel, tmp_path)
    code = "from batkube.clock import tree; print(tree.program())"
    assert python(env, "-c", code, cwd=tmp_path).stdout.strip() == str(tmp_path / HELPER.relative_to(ROOT))
    assert not needs_interpreter((tmp_path / HELPER.relative_to(ROOT)).read_bytes())
    (tmp_path / "w.json").write_text(json.dumps(WORKLOAD))
    words = ["-p", str(ROOT / "platforms" / "small-cluster.xml"), "-w", "w.json", "--clock", "tree", "-o", "out"]
    words += ["--scheduler-cmd", f"{sys.executable} -m batkube.schedulers.fifo --kubeconfig {{kubeconfig}}"]
    done = python(env, "-m", "batkube", "run", *words, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads((tmp_path / "out" / "run.json").read_text())["scheduler"]["clock"] == "tree"
    assert not (tmp_path / "cache").exists()


@pytest.mark.skipif(platform.machine() != "x86_64" or sys.platform != "linux", reason="needs Linux on x86_64")
def test_without_a_compiler_the_wheel_for_a_platform_cannot_be_built(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path)]
    env = {"PATH": str(tmp_path), "BATKUBE_BUILD_HELPER": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, env=env)
    assert done.returncode != 0
    assert done.stderr.strip().splitlines() == ["BATKUBE_BUILD_HELPER: there is neither $CC nor gcc nor cc"]
