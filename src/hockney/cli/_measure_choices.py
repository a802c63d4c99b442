"""The options of `hockney measure` as choices of a plan: RequestError for what would be wrong, or ignored."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import TYPE_CHECKING, TypeVar

import typer

from hockney.cli._words import segment, words
from hockney.errors import RequestError
from hockney.units import parse_bytes, parse_time

if TYPE_CHECKING:
    from pathlib import Path

    from hockney.campaign.plan import Plan

Value = TypeVar("Value")

MOST_B = 2**40
"""Beyond any buffer. What a library counts, and the memory there is, the runner says of each point."""

_NOT_OF_EFFECTS = (
    *("pairs", "off_cache", "window", "visits", "algorithms", "rank_counts", "root", "segments", "radices"),
    *("start", "adaptive"),
)
_WITH_SIZES = ("congestion", "injection")


def refuse_other_choices(context: typer.Context) -> None:
    """A resumed campaign keeps its plan: another choice beside --resume would be ignored, so it is refused."""
    for name, option in _given(context).items():
        if name not in ("output", "resume", "trust", "json"):
            raise RequestError(
                f"{option} cannot be changed with --resume: the campaign's plan is kept",
                "leave it out, or start a new campaign",
            )


def expect_trusted(output: Path, plan: Plan, *, trust: bool, ask: bool) -> None:
    """Run what a plan from elsewhere names only if the user wants it: by --trust, or when asked on a terminal."""
    from hockney.campaign.trust import doubt, seal

    if not (reason := doubt(output, plan)):
        return
    if not trust:
        if ask:
            typer.echo(reason, err=True)
        if not (ask and typer.confirm("Run it?", err=True)):
            raise RequestError(reason, "look at its plan.json; --trust resumes it all the same")
    seal(output)


def refuse_empty(context: typer.Context) -> None:
    """An empty text would mean the default, which nobody who writes the option asks for."""
    for name, option in _given(context).items():
        text = context.params[name]
        if isinstance(text, str) and not words(text):
            raise RequestError(f"{option} {text!r} names nothing", "leave it out for its default")


def refuse_ignored(context: typer.Context, plan: Plan) -> None:
    """An option that none of what is measured takes would be ignored."""
    if plan.topology and "congestion" not in plan.effects:
        raise RequestError("--topology is of the effect congestion alone", "add it: --operations congestion")
    if plan.points:
        return
    given = _given(context)
    for name in [*_NOT_OF_EFFECTS, *([] if set(plan.effects) & set(_WITH_SIZES) else ["sizes"])]:
        if name in given:
            raise RequestError(
                f"{given[name]} means nothing for {', '.join(plan.effects)}",
                "leave it out, or measure points, too: --operations pingpong,…",
            )


def _given(context: typer.Context) -> dict[str, str]:
    """Of what stands on the command line, the parameter's name and its option."""
    found = {}
    for parameter in context.command.params:
        name = parameter.name or ""
        source = context.get_parameter_source(name)
        if source is not None and source.name == "COMMANDLINE":
            found[name] = parameter.opts[0]
    return found


def operations(text: str) -> dict[str, list[str]]:
    """The plan's `operations` and `effects`."""
    from hockney.campaign.effects.base import effects
    from hockney.records.keys import COLLECTIVES
    from hockney.runner.build import sources

    # Known before any launch: each kernel has a file of its name.
    pairwise = sorted(path.stem for path in (sources() / "runner" / "kernels").glob("*.cpp"))
    all_of = {"collectives": list(COLLECTIVES), "effects": effects.names()}
    known = [*pairwise, *all_of, *COLLECTIVES, *effects.names()]
    for word in words(text):
        if word not in known:
            near = get_close_matches(word, known, n=1)
            raise RequestError(
                f"--operations: unknown operation {word!r}",
                (f"did you mean {near[0]!r}? " if near else "")
                + f"known: {', '.join(pairwise)}; collectives for all of {', '.join(COLLECTIVES)}; "
                f"effects for all of {', '.join(effects.names())}",
            )
    found = dict.fromkeys(name for word in words(text) for name in all_of.get(word, [word]))
    asked = [name for name in found if name in effects.names()]
    return {"operations": [name for name in found if name not in asked], "effects": asked}


def size(text: str, option: str) -> int:
    """In bytes, no more than MOST_B."""
    size_B = named(option, parse_bytes, text)
    if size_B > MOST_B:
        raise RequestError(f"{option}: {text!r} is larger than any message (1 TiB)", "for example 1GiB")
    return size_B


def segment_size(text: str) -> int:
    """In bytes, 0 for `none`."""
    return named("--segments", segment, text)


def duration(text: str, option: str) -> float:
    """In seconds, not 0."""
    return positive(named(option, parse_time, text), option)


def positive(value: float, option: str) -> float:
    """`value`, if it is."""
    if not value > 0:
        raise RequestError(f"{option} must be positive", "for example 0.5s or 0.01")
    return value


def named(option: str, parse: Callable[[str], Value], text: str) -> Value:
    """What `parse` makes of the text; its error says which option it is of."""
    try:
        return parse(text)
    except RequestError as error:
        raise RequestError(f"{option}: {error.message}", error.hint) from error
