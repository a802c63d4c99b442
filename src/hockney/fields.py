"""What an option of the command line is: said once, at the field of the model that it fills.

    class Cooking(BaseModel):
        time_s: Annotated[float, Option("How long.", flags=("--time",), read=parse_time)] = 60.0

A verb that takes a `Cooking` has the option `--time`, which is read as a time. Nothing here knows how a
command line is parsed: models of any room may say what their options are.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar, get_origin

from pydantic import BaseModel, BeforeValidator, Field, ValidationError
from pydantic.fields import FieldInfo

from hockney import reading
from hockney.errors import RequestError
from hockney.registry import did_you_mean
from hockney.units import parse_time, words
from hockney.vocabulary import operation


def _seconds(given: Any) -> Any:
    try:
        return parse_time(given) if isinstance(given, str) else given
    except RequestError as error:
        raise ValueError(f"{error.message} ({error.hint})") from error


Seconds = Annotated[float, Field(gt=0, allow_inf_nan=False), BeforeValidator(_seconds)]
"""A time in a file of the user's: seconds, or a text with a unit."""

Model = TypeVar("Model", bound=BaseModel)
Value = str | float | Path | Iterable[str | float] | None
"""What is written for an option, or handed over for it in Python."""


@dataclass(frozen=True)
class Option:
    """The option that fills a field; metadata of the field's `Annotated` type.

    `help` says in one sentence what it is for; without it the sentence of its name does (`vocabulary.MEANINGS`).
    `flags` is how it is called, by default like the field; a switch with one flag cannot be switched off. `read`
    makes the value of the text that was written, or, where the option may be given several times (`repeat`), of
    each, and with `commas` also of those in one text; without it the text is a word, a number, a path or a list
    of words, one for each time. What is read as a list may always be given several times, as if it stood once
    with commas; so may, with `commas`, what is read as a tuple or kept as text. `show` writes a default for the
    help; None hides it. `known` are words that a
    shell completes; those of a `Literal` are known. `panel` is the heading under which the help has the option.
    """

    help: str = ""
    flags: tuple[str, ...] = ()
    metavar: str | None = None
    read: Callable[[str], Any] | None = None
    repeat: bool = False
    commas: bool = False
    show: Callable[[Any], str] | None = str
    known: Callable[[], Iterable[str]] | None = None
    panel: str = ""


@dataclass(frozen=True)
class Argument(Option):
    """The same for a word that stands without a flag, or for several where the field is a list."""


@dataclass(frozen=True)
class Without:
    """The verb sets these fields of a model itself: `Annotated[Launching, Without("ranks")]`."""

    fields: tuple[str, ...]

    def __init__(self, *fields: str) -> None:
        object.__setattr__(self, "fields", fields)


def several(given: Any) -> list[Any]:
    """What Python was given as a list; one text or number is a list of one: a text is not taken apart."""
    return [given] if isinstance(given, str) or not isinstance(given, Iterable) else list(given)


def options(model: type[BaseModel]) -> Iterator[tuple[str, FieldInfo, Option]]:
    """The fields of a model that are options, in their order."""
    for name, field in model.model_fields.items():
        for option in field.metadata:
            if isinstance(option, Option):
                yield name, field, option


def flag(name: str, option: Option) -> str:
    """How an option is called in messages: `--map-by`, or `NX` for an argument."""
    if isinstance(option, Argument):
        return option.metavar or name.upper()
    return option.flags[0] if option.flags else "--" + name.replace("_", "-")


def flags_written(model: BaseModel) -> dict[str, str]:
    """How the options are called that the user gave a model, by the names of their fields."""
    return {
        name: flag(name, option) for name, _, option in options(type(model)) if name in model.model_fields_set
    }


def refuse_written(model: BaseModel, why: str, *, hint: str = "leave it out", but: Container[str] = ()) -> None:
    """RequestError for an option that the user gave a model, `but` for some: it means nothing, and why."""
    for name, called in flags_written(model).items():
        if name not in but:
            raise RequestError(f"{called} means nothing {why}", hint)


def keywords(model: type[BaseModel]) -> dict[str, tuple[str, Option]]:
    """How the options of a model are called in Python, `network_latency`: the field and the option of each."""
    return {
        word.lstrip("-").replace("-", "_"): (name, option)
        for name, _, option in options(model)
        for word in ([name] if isinstance(option, Argument) else option.flags or (name,))
        if not re.fullmatch("-.", word)
    }


def refuse_unknown(given: Iterable[str], known: Iterable[str], verb: str) -> None:
    """RequestError for a word that is none of the `known` keywords of `hockney VERB`."""
    names = sorted(known)
    for word in given:
        if word not in names:
            raise RequestError(
                f"{verb} has no option {word!r}", f"{did_you_mean(word, names)}known: {', '.join(names)}"
            )


_NUMBERS = (int, float, int | None, float | None)


def of_keywords(
    model: type[Model], given: Mapping[str, Value], verb: str, further: Mapping[str, Value] | None = None
) -> Model:
    """The model with options as keywords of Python: a text is read as on the command line, other values are kept.

    So is a number where the field holds none, as `size=400`. `further`: fields beside what is given.
    RequestError for a word that is no option of `hockney VERB`, and as `checked`.
    """
    known = keywords(model)
    refuse_unknown(given, known, verb)
    written: dict[str, Value] = {}
    read = dict(further or {})
    for word, value in given.items():
        name, option = known[word]
        kind = model.model_fields[name].annotation
        is_number = isinstance(value, int | float) and kind not in _NUMBERS and get_origin(kind) is not list
        if option.commas and kind is str and not isinstance(value, str) and isinstance(value, Iterable):
            value = ",".join(map(str, value))
        if option.read is not None and not option.repeat and (isinstance(value, str) or is_number):
            written[name] = str(value)
            continue
        if get_origin(kind) is list or (option.repeat and isinstance(value, str | list)):
            with named(word):
                value = _several(option, several(value)) if option.repeat else several(value)
        read[name] = value
    return checked(model, written, verb, read)


def from_toml(model: type[Model], text: str, name: str, hint: str) -> Model:
    """The model of a TOML text that was read from `name`; RequestError where it is none: where, and why."""
    try:
        return model.model_validate(reading.toml(text, name, hint))
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(str(part + 1 if isinstance(part, int) else part) for part in first["loc"])
        said = f"{place}: {first['msg'].removeprefix('Value error, ')}"
        if first["type"] == "extra_forbidden" and len(first["loc"]) == 1:
            known = [field.alias or key for key, field in model.model_fields.items()]
            said, hint = f"unknown key {place!r}", f"{did_you_mean(place, known)}known: {', '.join(known)}"
        raise RequestError(f"{reading.printable(name)}: {said}", hint) from error


def _several(option: Option, given: Iterable[Any]) -> list[Any]:
    """The values of an option that was written several times; what is no text is a value already."""
    values: list[Any] = []
    for value in given:
        if option.read is None or not isinstance(value, str):
            values.append(value)
        else:
            values += map(option.read, words(value) if option.commas else [value])
    return values


@contextmanager
def named(what: str) -> Iterator[None]:
    """A RequestError of the block says what it is of: `--time: 'soon' is not a time`."""
    try:
        yield
    except RequestError as error:
        raise RequestError(f"{what}: {error.message}", error.hint) from error


def _of_other_benchmarks(flag: str, value: Value) -> Value:
    """Names of operations as ours: `--operation osu_latency,bw` is `pingpong,bandwidth`."""
    if flag != "--operation" or not isinstance(value, str | list):
        return value
    texts = [re.sub(r"[^\s,]+", lambda word: operation(word[0]), str(text)) for text in several(value)]
    return texts[0] if isinstance(value, str) else texts


def checked(
    model: type[Model], written: Mapping[str, Value], verb: str, further: Mapping[str, Value] | None = None
) -> Model:
    """The model with what was written for `hockney VERB`; RequestError names the first option that is wrong.

    `further`: values of fields that nobody wrote, and that are not read.
    """
    called = {name: flag(name, option) for name, _, option in options(model)}
    written = {name: _of_other_benchmarks(called.get(name, ""), value) for name, value in written.items()}
    given = {**(further or {}), **written}
    values = dict(given)
    for name, _, option in options(model):
        if option.read is None or name not in written:
            continue
        text = written[name]
        with named(called[name]):
            values[name] = _several(option, several(text)) if option.repeat else option.read(str(text))
    try:
        return model.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        said, hint = first["msg"].removeprefix("Value error, "), f"see `hockney {verb} --help`"
        if not first["loc"]:
            raise RequestError(said, hint) from error
        name = str(first["loc"][0])
        what = called.get(name, "--" + name.replace("_", "-"))
        if first["type"] == "literal_error":
            known = re.findall("'([^']+)'", first["ctx"]["expected"])
            if "," in str(first["input"]) and {*str(first["input"]).split(",")} <= {*known}:
                raise RequestError(
                    f"{what} takes one, not several: {first['input']!r}",
                    "give the command once for each, and `hockney merge` what comes of them",
                ) from error
            near = did_you_mean(str(first["input"]), known)
            raise RequestError(
                f"unknown {what} {first['input']!r}", f"{near}known: {', '.join(known)}"
            ) from error
        raise RequestError(f"{what} {given.get(name, first['input'])!r}: {said}", hint) from error
