"""`hockney show`: a machine file as formulas, tables, LaTeX or JSON."""

from __future__ import annotations

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from hockney.cli import JsonOption, emit_json, out, verb


class Format(StrEnum):
    """How `hockney show` prints a machine."""

    formula = "formula"
    table = "table"
    latex = "latex"
    json = "json"


@verb(
    "show",
    examples="""
hockney show machine.json
hockney show machine.json --format table --locality package
hockney show machine.json --format latex --model piecewise > model.tex
hockney show machine.json --model all --operation pingpong --json
""",
)
def show(
    machine: Annotated[Path, typer.Argument(help="Machine file.")] = Path("machine.json"),
    format_: Annotated[Format, typer.Option("--format", help="What to print.")] = Format.formula,
    model: Annotated[
        str | None, typer.Option(help="Model to show, or 'all'. [default: piecewise; all of them in tables]")
    ] = None,
    operation: Annotated[str | None, typer.Option(help="Only this operation.")] = None,
    locality: Annotated[str | None, typer.Option(help="Only this locality of the two ranks.")] = None,
    variant: Annotated[str | None, typer.Option(help="Only this variant.")] = None,
    cache: Annotated[
        str | None, typer.Option(help="Only buffers in cache ('warm') or out of it ('off').")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Print the fitted models of a machine so that a person can read them."""
    from hockney.machine.file import load
    from hockney.machine.render import as_formulas, as_latex, as_tables, chosen, overview
    from hockney.machine.select import matching

    whole = load(machine)
    asked = {"operation": operation, "locality": locality, "variant": variant, "cache": cache}
    part = whole.model_copy(update={"point_to_point": matching(whole, asked)})
    if as_json:
        format_ = Format.json
    default = "piecewise" if format_ in (Format.formula, Format.latex) else "all"
    part = chosen(part, model or default)
    if format_ is Format.json:
        emit_json({"machine": str(machine), **overview(part)})
    elif format_ is Format.latex:
        sys.stdout.write(as_latex(part))
    elif format_ is Format.table:
        for piece in as_tables(part):
            out.print(piece)
    else:
        out.print(as_formulas(part), markup=False, soft_wrap=True)
