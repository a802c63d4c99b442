"""`hockney show`: a machine file as formulas, tables, LaTeX or JSON."""

from __future__ import annotations

from hockney import api
from hockney.options.show import ShowOptions
from hockney.terminal import JsonOption, say, verb


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
    shown = api.show(options, say.width())
    match options.format_:
        case "json":
            say.json(shown.data)
        case "latex":
            say.text(shown.latex)
        case "table":
            for table in shown.tables:
                say.texts(table.caption, table.columns, table.rows, table.text)
        case "summary" | "text":
            say.line(shown.text)
    for warning in shown.warnings:
        say.warn(warning)
