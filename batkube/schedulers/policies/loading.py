"""Policies by name: our own, and a user's ``module:Class``."""

import importlib
import inspect
import os
import sys
import traceback
from dataclasses import dataclass
from pathlib import Path

from batkube.schedulers.policies.policy import Policy

BUILT_IN = {
    "fifo": "batkube.schedulers.policies.fifo:Fifo",
    "easy": "batkube.schedulers.policies.easy:Easy",
}


class PolicyError(ValueError):
    """The policy does not exist, or cannot be made. The text names it and says why, in a line."""


@dataclass(frozen=True)
class LoadedPolicy:
    """A policy, and where it comes from."""

    name: str
    """The user's name for it: ``fifo``, ``module:Class``."""
    policy: Policy
    source: Path | None = None
    """The file of a policy of the user's own."""


def is_policy(name: str) -> bool:
    """Tell whether the name is one of a policy, ours or ``module:Class``."""
    return name in BUILT_IN or ":" in name


def load(name: str, folder: Path | None = None) -> LoadedPolicy:
    """Make the policy of that name; modules are looked for in ``folder``, too, else in the current directory.

    Raises PolicyError.
    """
    beside = str((folder or Path()).absolute())
    module_name, _, class_name = BUILT_IN.get(name, name).partition(":")
    if not all(part.isidentifier() for part in module_name.split(".")) or not class_name.isidentifier():
        raise PolicyError(f"{name}: expected module:Class, as in my_module:Policy")
    if name not in BUILT_IN and beside not in sys.path and (folder is not None or "" not in sys.path):
        sys.path.insert(0, beside)
    try:
        module = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is not None and f"{module_name}.".startswith(f"{error.name}."):
            raise PolicyError(f"{name}: there is no module {error.name}, in {beside} neither") from None
        raise PolicyError(f"{name}: importing {module_name} failed: {told(error)}") from None
    except (Exception, SystemExit) as error:
        raise PolicyError(f"{name}: importing {module_name} failed: {told(error)}") from None
    made = getattr(module, class_name, None)
    if not (inspect.isclass(made) and issubclass(made, Policy)):
        what = "has nothing of that name" if made is None else "has it, but it is no subclass of Policy"
        raise PolicyError(f"{name}: {module.__file__} {what} (from batkube.schedulers.policies import Policy)")
    try:
        policy = made()
    except (Exception, SystemExit) as error:
        raise PolicyError(f"{name}: {class_name}() failed: {told(error)}") from None
    source = Path(module.__file__) if module.__file__ and name not in BUILT_IN else None
    return LoadedPolicy(name, policy, source)


def ordered_sets() -> bool:
    """Tell whether sets of strings have the same order in each process, so that a policy may depend on it."""
    return os.environ.get("PYTHONHASHSEED", "random") != "random"


def order_sets() -> None:
    """Start this very command again in an environment in which sets are ordered, unless it is one.

    Does not return then.
    """
    if not ordered_sets():
        words = [sys.executable, *sys.orig_argv[1:]]
        os.execve(sys.executable, words, {**os.environ, "PYTHONHASHSEED": "0"})


def told(error: BaseException) -> str:
    """Return an error in a line, with the line of code that it comes from."""
    text = " ".join(str(error).split())
    what = f"{type(error).__name__}: {text}" if text else type(error).__name__
    if isinstance(error, SyntaxError):  # which names the line itself
        return what
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "importlib" not in frame.filename]
    return f"{what} ({frames[-1].filename}:{frames[-1].lineno})" if frames else what
