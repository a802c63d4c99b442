"""From models to options: a verb says which models it takes; their fields are what can be written after it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer
from annotated_types import Ge, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo

from hockney.cli.loading import load
from hockney.options import Argument, Option, checked, options


@dataclass(frozen=True)
class Without:
    """The verb sets these fields of a model itself: `Annotated[Launching, Without("ranks")]`."""

    fields: tuple[str, ...]

    def __init__(self, *fields: str) -> None:
        object.__setattr__(self, "fields", fields)


@dataclass(frozen=True)
class _Taken:
    """A model that a verb takes, and the names of its fields that are options of the verb."""

    model: type[BaseModel]
    names: tuple[str, ...]


def flattened(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of single options, as Typer reads them, that calls `function` with its models.

    A model gets what was written and keeps its defaults for the rest: its `model_fields_set` says what was asked
    for. Parameters that are no models are left to Typer.
    """
    hints = get_type_hints(function, include_extras=True)
    taken: dict[str, _Taken] = {}
    parameters = [inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)]
    for name, parameter in inspect.signature(function).parameters.items():
        if (model := _taken(hints[name])) is not None:
            taken[name] = model
            parameters += [one for one in _parameters(model.model) if one.name in model.names]
        elif name != "context":
            kind = inspect.Parameter.KEYWORD_ONLY
            parameters.append(parameter.replace(annotation=hints[name], kind=kind))

    def call(*, context: typer.Context, **values: Any) -> Any:
        load()
        arguments = {name: value for name, value in values.items() if name in hints}
        for name, one in taken.items():
            # An empty text, as a shell's empty variable gives it, is as good as none.
            written = {
                field: values[field] for field in one.names if is_written(context, field) and values[field] != ""
            }
            arguments[name] = checked(one.model, written, words(context))
        if "context" in hints:
            arguments["context"] = context
        return function(**arguments)

    # What must be written stands first.
    parameters.sort(key=lambda one: one.default is not inspect.Parameter.empty)
    call.__name__, call.__doc__, call.__module__ = function.__name__, function.__doc__, function.__module__
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


def is_written(context: typer.Context, name: str) -> bool:
    """Whether an option stands on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


def words(context: typer.Context) -> str:
    """The verb as it is called: `run ring`."""
    return " ".join(context.command_path.split()[1:])


def _taken(hint: Any) -> _Taken | None:
    model, *said = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if not (inspect.isclass(model) and issubclass(model, BaseModel)):
        return None
    left_out = [field for one in said if isinstance(one, Without) for field in one.fields]
    return _Taken(model, tuple(name for name, _, _ in options(model) if name not in left_out))


def _parameters(model: type[BaseModel]) -> Iterator[inspect.Parameter]:
    for name, field, option in options(model):
        default = inspect.Parameter.empty if field.is_required() else _default(field, option)
        kind: Any = _kind(field, option, default is None)
        annotation = Annotated[kind, _info(field, option)]
        yield inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _kind(field: FieldInfo, option: Option, is_optional: bool) -> Any:
    """What Typer makes of the words: what the field holds, and text where the option or the model reads it."""
    kind: Any = str if option.read or get_origin(field.annotation) is Literal else field.annotation
    kind = list[str] if option.repeat else kind
    return kind | None if is_optional else kind


def _default(field: FieldInfo, option: Option) -> Any:
    """What the help shows: a value that was not written never reaches the model."""
    default = field.default
    if field.default_factory is not None or default in (None, "", []) or option.show is None:
        return None
    return default if option.read is None else option.show(default) or None


def _info(field: FieldInfo, option: Option) -> Any:
    ends = [next((getattr(one, end) for one in field.metadata if isinstance(one, kind)), None)
            for kind, end in ((Ge, "ge"), (Le, "le"))]  # fmt: skip
    least, most = ends if option.read is None else (None, None)
    if isinstance(option, Argument):
        return typer.Argument(help=option.help, metavar=option.metavar, min=least, max=most)
    return typer.Option(*option.flags, help=option.help, metavar=option.metavar, min=least, max=most)
