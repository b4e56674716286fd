"""Commands that take settings as one parameter: what those say of their options becomes the command line."""

import inspect
from collections.abc import Callable, Iterator
from functools import reduce, wraps
from operator import or_
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, TypeGuard, TypeVar, Union, get_args, get_origin, get_type_hints

import typer
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from batkube.commands.errors import tell
from batkube.commands.scenario_keys import SETTING, Key, names_files
from batkube.option import PANELS, Only, Option, Without
from batkube.settings import BAD_INPUT
from batkube.settings_rules import option_of

Result = TypeVar("Result")
Model = type[BaseModel]

CONTEXT = "command_line"
"""The name of the parameter that tells which options were given."""


def with_settings(command: Callable[..., Result]) -> Callable[..., Result]:
    """Return ``command`` with the options of its settings in place of each parameter that is a model.

    A model gets what the user has given, and nothing else. What it does not take ends the command with a line that
    names the option, and with exit code 2.
    """
    parameters = [inspect.Parameter(CONTEXT, inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    models: dict[str, Model] = {}
    keys = _keys(command)
    hints = get_type_hints(command, include_extras=True)
    for parameter in inspect.signature(command).parameters.values():
        annotation = hints[parameter.name]
        if _is_model(annotation):
            models[parameter.name] = annotation
            parameters += [_parameter(*found) for found in sorted(_options(annotation), key=_place)]
        else:
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=annotation))

    @wraps(command)
    def expanded(**given: Any) -> Result:
        context: typer.Context = given.pop(CONTEXT)
        scenario, taken = None, set[str]()
        try:
            if (path := given.get(SETTING)) is not None:
                from batkube.commands.scenario import read_scenario  # others have no need to load it

                scenario = read_scenario(Path(path), keys)
                taken = {parameter for parameter in scenario.values if not _is_given(context, parameter)}
                given |= {parameter: scenario.values[parameter] for parameter in taken}
            for name, model in models.items():
                options = {field: given.pop(field) for field, _, _ in _options(model)}
                values = {
                    field: value for field, value in options.items() if field in taken or _is_given(context, field)
                }
                settings = _settings(model, values)
                given[name] = settings if scenario is None else scenario.placed(settings, taken)
        except ValueError as error:
            tell(str(error) if scenario is None else scenario.located(error, taken, keys))
            raise typer.Exit(BAD_INPUT) from None
        return command(**given)

    expanded.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    expanded.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    del expanded.__wrapped__
    expanded.__dict__["keys"] = keys
    return expanded


def keys_of(command: Callable[..., Any]) -> list[Key]:
    """Return the options of a command made by ``with_settings`` that a scenario may have."""
    keys: list[Key] = command.__dict__["keys"]
    return keys


def _keys(command: Callable[..., Any]) -> list[Key]:
    """Return the options of its settings, and its own parameters."""
    keys = []
    hints = get_type_hints(command, include_extras=True)
    for name in inspect.signature(command).parameters:
        if _is_model(hints[name]):
            found = [(field, info, option) for field, info, option in _options(hints[name]) if not option.argument]
            keys += [
                Key(field, option.names_of(field), info.annotation, option.help, option)
                for field, info, option in found
            ]
        elif get_origin(hints[name]) is Annotated:
            annotation, said = get_args(hints[name])[:2]
            names = tuple(getattr(said, "param_decls", None) or ()) or ("--" + name.replace("_", "-"),)
            keys.append(Key(name, names, annotation, getattr(said, "help", None) or ""))
    return keys


def _options(model: Model) -> Iterator[tuple[str, FieldInfo, Option]]:
    """Yield the settings that can be given, those of groups among them: their names differ within a command.

    What is a command's own comes before what it shares with others.
    """
    for name in dict.fromkeys(name for kind in model.__mro__ for name in inspect.get_annotations(kind)):
        if (field := model.model_fields.get(name)) is None:
            continue
        if (option := option_of(name, field)) is not None:
            yield name, field, option
        elif _is_model(field.annotation):
            taken = _taken(field)
            yield from (found for found in _options(field.annotation) if taken(found[0]))


def _place(found: tuple[str, FieldInfo, Option]) -> int:
    """Return the place of an option by the headings of the help; those of Batsim are behind ours."""
    panel = found[2].panel
    return PANELS.index(panel) if panel in PANELS else len(PANELS)


def _taken(group: FieldInfo) -> Callable[[str], bool]:
    """Return whether a setting of the group can be given."""
    for what in group.metadata:
        match what:
            case Only(settings=names):
                return lambda name: name in names
            case Without(settings=names):
                return lambda name: name not in names
    return lambda name: True


def _parameter(name: str, field: FieldInfo, option: Option) -> inspect.Parameter:
    several = get_origin(field.annotation) is tuple
    kind: Any = str if option.read else _plain(field.annotation)
    default: Any = field.default
    if several:
        kind, default = list[_plain(get_args(field.annotation)[0])], None  # type: ignore[misc]
    elif option.read or (default is not None and kind is str):
        default = str(default)
    if not option.shows_default:
        default = None
    required = field.is_required()
    if several and not required:
        kind |= None
    how: dict[str, Any] = {
        "help": option.help,
        "metavar": option.metavar,
        "rich_help_panel": option.panel or None,
        "show_default": not (several or default is None or default is False),
        "envvar": option.envvar,
    }
    info = typer.Argument(**how) if option.argument else typer.Option(*option.names_of(name), **how)
    return inspect.Parameter(
        name,
        inspect.Parameter.KEYWORD_ONLY,
        default=inspect.Parameter.empty if required else default,
        annotation=Annotated[kind, info],
    )


def _plain(annotation: Any) -> Any:
    """Return a type without what pydantic is told of it. Numbers, names ... come as texts: the settings read them.

    So does a choice that may be a file instead.
    """
    if annotation in (int, float, Path) or _is_model(annotation):
        return str
    origin = get_origin(annotation)
    if origin is Annotated:
        return _plain(get_args(annotation)[0])
    if origin in (Union, UnionType):
        parts = [_plain(part) for part in get_args(annotation)]
        return reduce(or_, [part for part in parts if str not in parts or part in (str, NoneType)])
    return annotation


def _is_given(context: typer.Context, name: str) -> bool:
    source = context.get_parameter_source(name)
    return source is not None and source.name != "DEFAULT"


def _settings(model: Model, given: dict[str, Any]) -> BaseModel:
    """Return the settings, made of the values of the options that are given. Raises ValueError, which names one."""
    values: dict[str, Any] = {}
    for name, field in model.model_fields.items():
        if (option := option_of(name, field)) is not None:
            if given.get(name) is not None:
                values[name] = _value(name, field, option, given[name])
        elif _is_model(field.annotation):
            taken = _taken(field)
            names = [found for found, _, _ in _options(field.annotation) if taken(found)]
            values[name] = _settings(field.annotation, {found: given[found] for found in names if found in given})
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise ValueError(_said(model, error)) from None


def _value(name: str, field: FieldInfo, option: Option, given: Any) -> Any:
    if names_files(field.annotation) and "" in (given if isinstance(given, list | tuple) else (given,)):
        raise ValueError(f"{option.names_of(name)[0]}: expected a name, not ''")
    if option.commas:
        return tuple(word for words in given for word in words.split(",") if word)
    if option.read is None:
        return given
    try:
        return option.read(given)
    except ValueError as error:
        raise ValueError(f"{option.names_of(name)[0]}: {error}") from None


def _said(model: Model, error: ValidationError) -> str:
    """Return what is wrong, by the option of the setting."""
    first = error.errors()[0]
    what = first["msg"].removeprefix("Value error, ")
    if not first["loc"]:
        return what
    name = str(first["loc"][0])
    option = option_of(name, model.model_fields[name])
    where = option.names_of(name)[0].partition("/")[0] if option is not None else name
    if first["type"] == "value_error" and (isinstance(first["input"], list | tuple) or repr(first["input"]) in what):
        return f"{where}: {what}"
    return f"{where}: {_expected(first['type'], what)}, not {_shown(first['input'])}"


def _expected(kind: str, what: str) -> str:
    """Return pydantic's complaint, of a kind of its own, in the words of ours."""
    if kind in _NUMBERS:
        return _NUMBERS[kind]
    for theirs, ours in (("Input should be", "expected a value"), ("String should match", "expected a text of the")):
        what = what.replace(theirs, ours)
    return what


_NUMBERS = {
    "int_parsing": "expected a whole number",
    "int_parsing_size": "expected a whole number that is not so large",
    "int_from_float": "expected a whole number",
    "float_parsing": "expected a number",
    "finite_number": "expected a finite number",
}


def _shown(value: object) -> str:
    """Return a value as it is quoted: of a very long one its beginning."""
    text = repr(value)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."


_LONGEST = 200


def _is_model(annotation: Any) -> TypeGuard[Model]:
    return isinstance(annotation, type) and issubclass(annotation, BaseModel)
