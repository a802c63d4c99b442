"""`hockney show`: a machine file as formulas, tables, LaTeX or JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel

from hockney.errors import RequestError
from hockney.fields import Argument, Option
from hockney.machine.level_option import AnyLevel
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later

with later():
    from hockney import _core
    from hockney.machine.congestion import Congestions
    from hockney.machine.file import Machine, load
    from hockney.machine.levels import at_any_level
    from hockney.machine.select import matching
    from hockney.models.collectives.closed_form import collective_models
    from hockney.models.views import VIEWS, View
    from hockney.report.views.in_short import as_summary
    from hockney.report.views.plot import as_plots
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


class ShowOptions(BaseModel):
    """What of a machine file is shown, and how."""

    machine: Annotated[Path, Argument("Machine file.")] = Path("machine.json")
    format_: Annotated[
        Literal["text", "table", "latex", "json", "summary"],
        Option("text, table, latex, json or summary.", flags=("--format",)),
    ] = "text"
    view: Annotated[
        Literal["asymptotic", "dominant", "bounded", "exact", "all"] | None,
        Option(
            "Models in this view: asymptotic, dominant, bounded, exact, or all four. [default: formulas; all in "
            "JSON]"
        ),
    ] = None
    model: Annotated[str | None, Option("To show, or 'all'. [default: piecewise; all of them in tables]")] = None
    operation: Annotated[
        str | None, Option("Or an effect; a collective, or 'collectives', for closed forms.")
    ] = None
    algorithm: Annotated[str, Option("[default: all]")] = ""
    ranks: Annotated[int | None, Option("The exact form of the collective is given for it.")] = None
    topology: Annotated[str, Option("Bounds are for it. [default: the machine's]")] = ""
    locality: Annotated[str | None, Option("[default: all]")] = None
    variant: Annotated[str | None, Option("[default: all]")] = None
    cache: Annotated[str | None, Option("[default: both]")] = None
    any_level: AnyLevel = False
    plot: Annotated[
        bool,
        Option("Draw times against sizes with characters, and the model through them.", flags=("--plot",)),
    ] = False


@verb(
    "show",
    examples="""
hockney show machine.json
hockney show machine.json --format summary --operation pingpong
hockney show machine.json --plot --operation pingpong
hockney show machine.json --format table --locality package
hockney show machine.json --format latex --model piecewise > model.tex
hockney show machine.json --model all --operation pingpong --json
hockney show machine.json --view bounded --topology torus:8x8x8
hockney show machine.json --view all --operation bcast --ranks 64
""",
)
def show(options: ShowOptions, as_json: JsonOption = False) -> None:
    """Print the fitted models of a machine so that a person can read them."""
    if as_json:
        options = options.model_copy(update={"format_": "json"})
    format_, operation = options.format_, options.operation
    machine = load(options.machine)
    if options.any_level:
        (machine,) = at_any_level(machine)
    is_collective = operation in (*collective_models.names(), COLLECTIVES)
    is_effect = operation in effects_known(machine)
    _refuse_ranks(options, is_collective)
    has_more = bool(options.topology) or "view" in options.model_fields_set
    if options.plot and (format_ != "text" or is_collective or is_effect or has_more):
        raise RequestError(
            "--plot draws the times of messages, as text",
            "leave out --format, --json, --view, --topology and effects",
        )
    part = machine.model_copy(update={"point_to_point": []})
    if not is_collective and not is_effect:
        part = _part(machine, options)
    if options.plot:
        say.line(as_plots(part.point_to_point, options.model or "", say.width()))
        return
    views = [view for view in VIEWS if options.view in ("all", view)]
    if options.topology and format_ != "json" and "bounded" not in views:
        raise RequestError("--topology applies to bounds alone", "add --view bounded, or all")
    needs_bounds = format_ == "json" or "bounded" in views
    congestions = Congestions(machine, options.topology) if needs_bounds else None
    fits = of_fits(part, congestions) if format_ == "json" or views else []
    more: list[ModelSection] = []
    # Effects have no cache and no models of one's choice, collectives no locality either.
    only = options.model_fields_set & {"operation", "locality", "variant", "cache", "model"}
    if is_effect or not only & {"operation", "cache", "model"}:
        more += of_effects(machine, operation, options.locality, options.variant)
    if is_collective or not only:
        shared = congestions.at() if congestions else None
        more += of_collectives(
            machine, operation, algorithm=options.algorithm, ranks=options.ranks, congestion=shared
        )
    _print(part, fits, more, options, views)
    for warning in machine.provenance.warnings if format_ != "json" else ():
        say.warn(warning)


def _refuse_ranks(options: ShowOptions, is_collective: bool) -> None:
    ranks = options.ranks
    if (ranks is not None or options.algorithm) and not is_collective:
        raise RequestError(
            "--ranks and --algorithm apply to a collective",
            "name one: --operation bcast, or --operation collectives",
        )
    if ranks is not None and not 2 <= ranks <= _core.MOST_RANKS:
        raise RequestError(
            f"a collective has at least 2 ranks and at most {_core.MOST_RANKS} (2^30), not {ranks}",
            "for example --ranks 64",
        )


def _part(machine: Machine, options: ShowOptions) -> Machine:
    """The machine with the point-to-point entries and models that the options choose."""
    if not machine.point_to_point and options.operation is None:
        return machine
    keys = options.model_dump(include={"operation", "locality", "variant", "cache"})
    part = machine.model_copy(update={"point_to_point": matching(machine, keys)})
    if not part.point_to_point:
        return part
    usual = "piecewise" if options.format_ in ("text", "latex") else "all"
    return chosen(part, options.model or usual)


def _print(
    part: Machine, fits: list[ModelSection], more: list[ModelSection], options: ShowOptions, views: Sequence[View]
) -> None:
    """Without views asked for: fits as formulas, and the exact view of the others (of all four in JSON)."""
    bare = part.model_copy(update={"point_to_point": []}) if views else part
    usual: Sequence[View] = views or ("exact",)
    match options.format_:
        case "json":
            say.json({"machine": str(options.machine), **_data(part, fits, more, views or VIEWS)})
        case "latex":
            lines = [*sections_latex(fits, usual), *sections_latex(more, usual)]
            say.text(as_latex(bare, lines))
        case "summary":
            say.line(as_summary(part))
        case "table":
            for table in (*as_tables(bare), *sections_tables([*fits, *more], usual)):
                say.table(table)
        case "text":
            parts = as_formulas(bare), sections_text(fits, usual, False), sections_text(more, usual, not views)
            say.line("\n\n".join(filter(None, parts)))


def _data(
    part: Machine, fits: list[ModelSection], more: list[ModelSection], views: Sequence[View]
) -> dict[str, object]:
    data = overview(part)
    # In the order of `of_fits`: entry by entry, model by model.
    models = [model for entry in data["entries"] for model in entry["models"].values()]
    for model, section in zip(models, sections_data(fits, views), strict=True):
        model["views"] = section["views"]
    effects = [section for section in more if "effect" in section.data]
    collectives = [section for section in more if "operation" in section.data]
    return {
        **data,
        "effects": sections_data(effects, views),
        "collectives": sections_data(collectives, views),
    }
