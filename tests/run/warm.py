"""``batkube`` in a process of its own whose modules are loaded already: forked from one that has done nothing else.

Loading them takes a second of processor time, which hundreds of small runs need not pay each.
"""

import contextlib
import multiprocessing
import os
import runpy
import subprocess
import sys
from collections.abc import Mapping, Sequence
from multiprocessing import forkserver
from multiprocessing.context import ForkServerContext
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent


def loading() -> ForkServerContext:
    """Return what starts processes from one that has loaded batkube."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.run.warm_modules"])
    with contextlib.chdir(ROOT):  # where it starts it finds these tests, and no other package of the name
        forkserver.ensure_running()
    return context


def run(
    context: ForkServerContext, words: Sequence[str], folder: Path, environment: Mapping[str, str], timeout: float
) -> "subprocess.CompletedProcess[str]":
    """Do what ``subprocess.run`` does with ``python -m batkube WORDS``; ``folder`` is for what it prints."""
    printed = folder / "stdout.txt", folder / "stderr.txt"
    process = context.Process(target=_child, args=(list(words), *map(str, printed), Path.cwd(), dict(environment)))
    process.start()
    process.join(timeout)
    if process.exitcode is None:
        process.kill()
        process.join()
        raise subprocess.TimeoutExpired(words, timeout)
    stdout, stderr = (path.read_text() for path in printed)
    return subprocess.CompletedProcess(words, process.exitcode, stdout, stderr)


def _child(words: list[str], stdout: str, stderr: str, cwd: Path, environment: dict[str, str]) -> None:
    os.chdir(cwd)
    sys.path[:0] = [str(cwd), *filter(None, environment.get("PYTHONPATH", "").split(os.pathsep))]
    os.environ.clear()
    os.environ.update(environment)
    for path, fd in ((os.devnull, 0), (stdout, 1), (stderr, 2)):
        opened = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
        os.dup2(opened, fd)
        os.close(opened)
    sys.argv = ["batkube", *words]
    sys.orig_argv = [sys.executable, "-m", *sys.argv]
    runpy.run_module("batkube", run_name="__main__", alter_sys=True)
