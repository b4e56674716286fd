"""Files with a model in YAML, read with errors that name the file, the line and the field."""

from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from batkube.kube.codec.go_yaml import MAPPING, SCALAR, SEQUENCE, Node, decoded, nodes
from batkube.kube.codec.yaml_scalars import YamlError
from batkube.named_file import read_named_text
from batkube.startup.errors import StartupError

Model = TypeVar("Model", bound=BaseModel)


def read_model(path: Path, kind: type[Model], context: object = None) -> Model:
    """Read a model of this kind. Raises StartupError, which names the file, the line and the field.

    ``context`` is what its validators are told; the folder of the file, if it is not given.
    """
    try:
        text = read_named_text(path)
    except OSError as error:
        raise StartupError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise StartupError(f"{path}: {error}") from None
    try:
        tree, *others = nodes(text) if text.strip() else (None,)
        content = decoded(tree) if tree else None
    except YamlError as error:
        raise StartupError(f"{path}: line {error.line}: no YAML: {error.why}") from None
    if others:
        raise StartupError(f"{path}: line {others[0].line}: expected one document, found another")
    if twice := _named_twice(tree):
        raise StartupError(f"{path}: line {twice.line}: {twice.text} is there twice")
    try:
        return kind.model_validate(content, context=path.parent if context is None else context)
    except ValidationError as error:
        first = error.errors()[0]
        where = [str(part) for part in first["loc"]]
        field = f" {'.'.join(where)}:" if where else ""
        what = first["msg"].removeprefix("Value error, ")
        given = f", not {first['input']!r}" if not isinstance(first["input"], dict | list | type(None)) else ""
        raise StartupError(f"{path}: line {_line(tree, where)}:{field} {what}{given}") from None


def _line(tree: Node | None, path: list[str]) -> int:
    """Return the line, from 1, on which the field at ``path`` stands, or the line that should hold it."""
    line = tree.line if tree else 1
    for part in path:
        if tree is None:
            break
        if tree.kind == MAPPING:
            found = next((pair for pair in tree.pairs() if pair[0].text == part), None)
            if found is None:
                break
            line, tree = found[0].line, found[1]
        elif tree.kind == SEQUENCE and part.isdecimal() and int(part) < len(tree.children):
            tree = tree.children[int(part)]
            line = tree.line
    return line


def _named_twice(tree: Node | None) -> Node | None:
    """Return a key that its mapping has twice, if there is one."""
    if tree is None or tree.kind not in (SEQUENCE, MAPPING):
        return None
    if tree.kind == SEQUENCE:
        return next((twice for node in tree.children if (twice := _named_twice(node))), None)
    seen: set[str] = set()
    for key, value in tree.pairs():
        if key.kind == SCALAR:
            if key.text in seen:
                return key
            seen.add(key.text)
        if twice := _named_twice(value):
            return twice
    return None
