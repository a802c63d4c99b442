"""From models to options: a verb says which models it takes; their fields are what can be written after it."""

from __future__ import annotations

import gc
import inspect
import os
import re
from collections.abc import Callable, Collection, Mapping
from contextlib import nullcontext
from copy import copy
from functools import cache, partial
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

import typer
from annotated_types import Ge, Le
from pydantic import BaseModel
from pydantic.fields import FieldInfo
from rich.markup import escape
from typer.models import OptionInfo

from hockney.errors import RequestError
from hockney.fields import (
    Argument,
    Option,
    Value,
    Without,
    checked,
    flag,
    keywords,
    of_keywords,
    options,
    refuse_unknown,
    several,
)
from hockney.terminal import say
from hockney.vocabulary import MEANINGS, Meaning

_leave_alone = cache(gc.freeze)
"""What was imported lives to the end: the collector needs not look at it again and again."""


def flattened(function: Callable[..., Any], *, launches: bool = False) -> Callable[..., Any]:
    """A function of single options, as Typer reads them, that calls `function` with its models.

    A model gets what was written and keeps its defaults for the rest: its `model_fields_set` says what was asked
    for. Parameters that are no models are left to Typer. `launches`: the terminal belongs to another program.
    """
    hints = get_type_hints(function, include_extras=True)
    models: dict[str, type[BaseModel]] = {}
    fields: dict[str, tuple[str, str]] = {}
    paths: dict[str, str] = {}
    lists: set[str] = set()
    has_panels = _count(function) > FEW
    parameters = [_parameter("context", typer.Context)]
    for name, parameter in inspect.signature(function).parameters.items():
        if (taken := _model(hints[name])) is not None:
            models[name], left_out = taken
            for field, info, option in options(models[name]):
                if field not in left_out:
                    # Two models may have fields of one name.
                    fields[f"{name}_{field}"] = name, field
                    if _is_path(info):
                        paths[f"{name}_{field}"] = flag(field, option)
                    if _is_list(info, option):
                        lists.add(f"{name}_{field}")
                    parameters.append(
                        _option(f"{name}_{field}", field, info, option, paths, has_panels=has_panels)
                    )
        elif name != "context":
            parameters.append(_parameter(name, _placed(hints[name], has_panels=has_panels), parameter.default))
    # What must be written stands first.
    parameters.sort(key=lambda parameter: parameter.default is not inspect.Parameter.empty)

    def call(*, context: typer.Context, **values: Any) -> Any:
        if not launches:
            # For plug-ins pydantic reads what each installed package says of itself; a program may have some.
            os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
        with nullcontext() if launches else say.patience(context.command_path):
            return work(context, values)

    def work(context: typer.Context, values: dict[str, Value]) -> Any:
        _leave_alone()
        arguments: dict[str, Value | BaseModel] = {
            name: value for name, value in values.items() if name not in fields
        }
        written: dict[str, dict[str, Value]] = {name: {} for name in models}
        for parameter in lists:
            # Written several times it is one list.
            values[parameter] = ",".join(several(values[parameter] or []))
        for parameter, (name, field) in fields.items():
            # A script's --hosts "$HOSTS" with nothing in it asks for nothing, where the model says so.
            is_empty = values[parameter] == "" and getattr(models[name], "empty_means_default", False)
            if "" in several(values[parameter]) and parameter in paths and not is_empty:
                # A path without a name would be the present folder.
                named = f"{paths[parameter]}: '' names nothing"
                raise RequestError(named, "write a name, or . for the present folder")
            if _is_written(context, parameter) and not is_empty:
                written[name][field] = values[parameter]
        # The program may be called by several words: `python -m hockney`.
        verb = context.command_path.removeprefix(context.find_root().command_path).strip()
        arguments |= {name: checked(model, written[name], verb) for name, model in models.items()}
        return function(**arguments, **({"context": context} if "context" in hints else {}))

    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return call


class Flattened:
    """A verb's `flattened` function, made when Typer first looks at it: the other verbs of its file need none."""

    def __init__(self, function: Callable[..., Any], *, launches: bool = False) -> None:
        self.made = cache(partial(flattened, function, launches=launches))
        self.__name__, self.__doc__, self.__module__ = function.__name__, _unfolded(function), function.__module__

    @property
    def __signature__(self) -> inspect.Signature:
        return inspect.signature(self.made())

    @property
    def __annotations__(self) -> Any:  # type: ignore[override]
        return self.made().__annotations__

    def __call__(self, **words: Any) -> Any:
        """What the verb does with these options."""
        return self.made()(**words)


def from_table(
    function: Callable[..., Any],
    table: Mapping[str, Value],
    verb: str,
    known: Mapping[str, Value],
    of: type[BaseModel],
) -> dict[str, BaseModel]:
    """The models of a verb, with options that stand in a table: {"map-by": "core", "largest": "4MiB"}.

    A word names an option as on the command line, without its dashes, and its value is what would be written
    there. `known` are further fields of models that are an `of`. RequestError for a word that is no option of the
    verb, and for what its models refuse.
    """
    fields = words_of(function)
    refuse_unknown(table, fields, f"hockney {verb}")
    filled: dict[str, BaseModel] = {}
    for name, (model, left_out) in _models(function).items():
        own = {word: value for word, value in table.items() if fields[word][0] == name}
        said = {*left_out, *(fields[word][1] for word in own)}
        further = {
            field: value
            for field, value in known.items()
            if issubclass(model, of) and field in model.model_fields and field not in said
        }
        written = {word.replace("-", "_"): _as_written(value) for word, value in own.items()}
        filled[name] = of_keywords(model, written, verb, further)
    return filled


def _as_written(value: Value) -> Value:
    return [str(word) for word in value] if isinstance(value, list) else str(value)


def is_repeated(info: FieldInfo, option: Option) -> bool:
    """Whether an option may be written several times; a single value then is a list of one."""
    return option.repeat or (option.read is None and info.annotation == list[str])


def words_of(function: Callable[..., Any]) -> dict[str, tuple[str, str, FieldInfo, Option]]:
    """How the options of a verb are called in a table: parameter, field and option of each."""
    return {
        word.replace("_", "-"): (name, field, model.model_fields[field], option)
        for name, (model, left_out) in _models(function).items()
        for word, (field, option) in keywords(model).items()
        if field not in left_out
    }


def _models(function: Callable[..., Any]) -> dict[str, tuple[type[BaseModel], Collection[str]]]:
    """The models of a verb's parameters, and the fields of each that the verb sets itself."""
    hints = get_type_hints(function, include_extras=True)
    hints.pop("return", None)
    return {name: taken for name, hint in hints.items() if (taken := _model(hint)) is not None}


def written(context: typer.Context) -> dict[str, Value]:
    """The options that stand on the command line, `--pairs`, and what was written for them."""
    return {
        parameter.opts[0]: context.params[parameter.name]
        for parameter in context.command.params
        if parameter.name and _is_written(context, parameter.name)
    }


def _is_written(context: typer.Context, parameter: str) -> bool:
    source = context.get_parameter_source(parameter)
    return source is not None and source.name == "COMMANDLINE"


def _model(hint: Any) -> tuple[type[BaseModel], Collection[str]] | None:
    """The model of a parameter, and the fields that the verb sets itself."""
    model, *metadata = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    if not (inspect.isclass(model) and issubclass(model, BaseModel)):
        return None
    return model, [field for without in metadata if isinstance(without, Without) for field in without.fields]


def _parameter(name: str, annotation: Any, default: Any = inspect.Parameter.empty) -> inspect.Parameter:
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _unfolded(function: Callable[..., Any]) -> str:
    """What a function says of itself, each paragraph in one line: the help folds it to the terminal's width."""
    paragraphs = (inspect.getdoc(function) or "").split("\n\n")
    is_laid_out = re.compile(r"^[ *|-]", re.MULTILINE).search
    return "\n\n".join(text if is_laid_out(text) else text.replace("\n", " ") for text in paragraphs)


_WORDS: dict[Any, str] = {str: "<text>", list[str]: "<list>"}
"""What stands in the help for the word of an option."""
FEW = 8
"""Options of a verb that need no headings."""


def _count(function: Callable[..., Any]) -> int:
    """How many options a verb has."""
    return sum(
        field not in left_out and not isinstance(option, Argument)
        for model, left_out in _models(function).values()
        for field, _, option in options(model)
    )


def _placed(hint: Any, *, has_panels: bool) -> Any:
    """A parameter of Typer's own, such as --json, under the heading of its name."""
    kind, *more = get_args(hint) if get_origin(hint) is Annotated else (hint,)
    placed = copy(next((metadata for metadata in more if isinstance(metadata, OptionInfo)), None))
    if placed is None or not has_panels:
        return hint
    # The first name stands where Typer has a default otherwise.
    meaning = MEANINGS.get(str(placed.default))
    placed.rich_help_panel = meaning.panel if meaning else None
    return Annotated[kind, placed]


def _is_list(info: FieldInfo, option: Option) -> bool:
    """Whether an option is read from words with commas between: they may stand in several places, too."""
    kinds = [info.annotation, *get_args(info.annotation)]
    is_read = option.read is not None and any(get_origin(kind) is list for kind in kinds)
    return (is_read or option.commas) and not option.repeat


def _option(
    name: str, field: str, info: FieldInfo, option: Option, paths: Mapping[str, str], *, has_panels: bool
) -> inspect.Parameter:
    default = inspect.Parameter.empty if info.is_required() else _shown(info, option)
    # What Typer makes of the words: what the field holds, or text where the option or the model reads it.
    kind: Any = str if option.read or _words(info.annotation) or _is_path(info) else info.annotation
    kind = list[str] if option.repeat or info.annotation == list[Path] or _is_list(info, option) else kind
    if default not in (None, inspect.Parameter.empty) and _is_list(info, option):
        default = [default]
    annotation: Any = kind if default is not None else kind | None
    ends = [
        next((getattr(limit, end) for limit in info.metadata if isinstance(limit, bound)), None)
        for bound, end in ((Ge, "ge"), (Le, "le"))
    ]
    least, most = ends if option.read is None else (None, None)
    called = flag(field, option)
    meaning = MEANINGS.get(called, Meaning(""))
    declare: Callable[..., Any] = typer.Argument
    metavar: str | None = called
    says = option.help or meaning.help
    if not isinstance(option, Argument):
        flags = option.flags or (f"{called}/--no-{called[2:]}" if kind is bool else called,)
        declare = partial(typer.Option, *flags)
        metavar = option.metavar or ("<path>" if _is_path(info) else _WORDS.get(kind))

    def complete(ctx: typer.Context, incomplete: str) -> list[str]:
        # Nobody but a shell asks.
        from hockney.terminal.completion import completions

        return completions(ctx, incomplete, called, option.known, _words(info.annotation), paths)

    declared = declare(
        help=escape(says),
        metavar=metavar,
        min=least,
        max=most,
        autocompletion=complete,
        rich_help_panel=option.panel or (meaning.panel if has_panels else "") or None,
    )
    return _parameter(name, Annotated[annotation, declared], default)


def _is_path(info: FieldInfo) -> bool:
    """Whether a field is a path, one or None, or several: its text is kept, as Path('') is the present folder."""
    return info.annotation in (Path, Path | None, list[Path])


def _words(annotation: Any) -> list[str]:
    """The words of a `Literal`, or of one or None; empty for other types."""
    if get_origin(annotation) in (Union, UnionType):
        return [word for member in get_args(annotation) for word in _words(member)]
    return list(get_args(annotation)) if get_origin(annotation) is Literal else []


def _shown(info: FieldInfo, option: Option) -> Any:
    """The default as the help shows it: a value that was not written never reaches the model."""
    default = info.default
    if info.default_factory is not None or option.show is None:
        return None
    if option.show is str and default in (None, "", [], ()):
        return None
    return default if option.read is None else option.show(default)
