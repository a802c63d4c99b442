"""`hockney show`: a machine file as formulas, tables, LaTeX or JSON."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hockney.errors import RequestError
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later

with later():
    from hockney import _core
    from hockney.machine.congestion import Congestions
    from hockney.machine.file import Machine, load
    from hockney.machine.select import matching
    from hockney.models.collectives.base import collective_models
    from hockney.models.views import VIEWS, View
    from hockney.report.views.render import as_formulas, as_latex, as_tables, chosen, overview
    from hockney.report.views.render_views import sections_data, sections_latex, sections_tables, sections_text
    from hockney.report.views.sections import (
        COLLECTIVES,
        ModelSection,
        effects_known,
        of_collectives,
        of_effects,
        of_fits,
    )


class Format(StrEnum):
    """How `hockney show` prints a machine."""

    text = "text"
    table = "table"
    latex = "latex"
    json = "json"


class Shown(StrEnum):
    """The view, or all four."""

    asymptotic = "asymptotic"
    dominant = "dominant"
    bounded = "bounded"
    exact = "exact"
    all = "all"


@verb(
    "show",
    examples="""
hockney show machine.json
hockney show machine.json --format table --locality package
hockney show machine.json --format latex --model piecewise > model.tex
hockney show machine.json --model all --operation pingpong --json
hockney show machine.json --view bounded --topology torus:8x8x8
hockney show machine.json --view all --operation bcast --ranks 64
""",
)
def show(
    machine: Annotated[Path, typer.Argument(help="Machine file.")] = Path("machine.json"),
    format_: Annotated[Format, typer.Option("--format", help="What to print.")] = Format.text,
    view: Annotated[
        Shown | None, typer.Option(help="Models in this view, or 'all' four. [default: formulas; all in JSON]")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Model to show, or 'all'. [default: piecewise; all of them in tables]")
    ] = None,
    operation: Annotated[
        str | None,
        typer.Option(help="Only this operation or effect; a collective, or 'collectives', for closed forms."),
    ] = None,
    algorithm: Annotated[str, typer.Option(help="Only this algorithm of the collective.")] = "",
    ranks: Annotated[int | None, typer.Option(help="Of the collective: exact for so many ranks.")] = None,
    topology: Annotated[
        str, typer.Option(help="Network that bounds are for, such as torus:8x8x8. [default: the machine's]")
    ] = "",
    locality: Annotated[str | None, typer.Option(help="Only this locality of the two ranks.")] = None,
    variant: Annotated[str | None, typer.Option(help="Only this variant.")] = None,
    cache: Annotated[
        str | None, typer.Option(help="Only buffers in cache ('warm') or out of it ('off').")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the fitted models of a machine so that a person can read them."""
    whole = load(machine)
    format_ = Format.json if as_json else format_
    is_collective = operation in (*collective_models.names(), COLLECTIVES)
    is_effect = operation in effects_known(whole)
    if (ranks is not None or algorithm) and not is_collective:
        raise RequestError(
            "--ranks and --algorithm are of a collective",
            "name one: --operation bcast, or --operation collectives",
        )
    if ranks is not None and not 2 <= ranks <= _core.MOST_RANKS:
        raise RequestError(
            f"a collective has at least 2 ranks and at most {_core.MOST_RANKS} (2^30), not {ranks}",
            "for example --ranks 64",
        )
    part = whole.model_copy(update={"point_to_point": []})
    if not is_collective and not is_effect:
        asked = {"operation": operation, "locality": locality, "variant": variant, "cache": cache}
        if whole.point_to_point or operation is not None:
            part = whole.model_copy(update={"point_to_point": matching(whole, asked)})
        if part.point_to_point:
            usual = "piecewise" if format_ in (Format.text, Format.latex) else "all"
            part = chosen(part, model or usual)
    views = [one for one in VIEWS if view in (Shown.all, one)]
    if topology and format_ is not Format.json and "bounded" not in views:
        raise RequestError("--topology is what bounds are for", "add --view bounded, or all")
    needs_bounds = format_ is Format.json or "bounded" in views
    congestions = Congestions(whole, topology) if needs_bounds else None
    fits = of_fits(part, congestions) if format_ is Format.json or views else []
    more: list[ModelSection] = []
    # Effects have no cache and no models of one's choice, collectives no locality either.
    if is_effect or (operation is None and cache is None and model is None):
        more += of_effects(whole, operation, locality, variant)
    if is_collective or not (operation or locality or variant or cache or model):
        shared = congestions.at() if congestions else None
        more += of_collectives(whole, operation, algorithm=algorithm, ranks=ranks, congestion=shared)
    _print(part, fits, more, format_, views, machine)
    for warning in whole.provenance.warnings if format_ is not Format.json else ():
        say.warn(warning)


def _print(
    part: Machine,
    fits: list[ModelSection],
    more: list[ModelSection],
    format_: Format,
    views: Sequence[View],
    path: Path,
) -> None:
    """Without views asked for: fits as formulas, and the exact view of the others (of all four in JSON)."""
    bare = part.model_copy(update={"point_to_point": []}) if views else part
    usual: Sequence[View] = views or ("exact",)
    if format_ is Format.json:
        say.json(_data(part, fits, more, views or VIEWS, path))
    elif format_ is Format.latex:
        lines = [*sections_latex(fits, usual), *sections_latex(more, usual)]
        sys.stdout.write(as_latex(bare, lines))
    elif format_ is Format.table:
        for piece in (*as_tables(bare), *sections_tables([*fits, *more], usual)):
            say.table(piece)
    else:
        told = [as_formulas(bare), sections_text(fits, usual, False), sections_text(more, usual, not views)]
        say.line("\n\n".join(filter(None, told)))


def _data(
    part: Machine, fits: list[ModelSection], more: list[ModelSection], views: Sequence[View], path: Path
) -> dict[str, object]:
    data = overview(part)
    # In the order of `of_fits`: entry by entry, model by model.
    models = [model for entry in data["entries"] for model in entry["models"].values()]
    for model, told in zip(models, sections_data(fits, views), strict=True):
        model["views"] = told["views"]
    effects = [one for one in more if "effect" in one.data]
    collectives = [one for one in more if "operation" in one.data]
    return {
        "machine": str(path),
        **data,
        "effects": sections_data(effects, views),
        "collectives": sections_data(collectives, views),
    }
