"""`hockney show`: print a machine file as a summary, formulas, tables or LaTeX."""

from __future__ import annotations

from hockney import api
from hockney.options.show import ShowOptions
from hockney.terminal import JsonOption, say, verb


@verb(
    "show",
    examples="""
hockney show machine.json
hockney show machine.json --format formulas --operation pingpong
hockney show machine.json --warnings
hockney show machine.json --format table --locality package
hockney show machine.json --format latex --model piecewise > model.tex
hockney show machine.json --model all --operation pingpong --json
hockney show machine.json --view bounded --topology torus:8x8x8
hockney show machine.json --view all --operation bcast
""",
)
def show(options: ShowOptions, as_json: JsonOption = False) -> None:
    """Print the fitted models of a machine in readable form."""
    if as_json:
        options = options.model_copy(update={"format_": "json"})
    if options.warnings:
        said = api.warnings_of(options.machine)
        if as_json:
            say.json(said)
            return
        for number, text in enumerate(said.warnings, 1):
            say.line(f"{number}. {text}")
        say.line(f"The run was {said.run}." if said.run else "Nothing says how certain these times are.")
        return
    shown = api.show(options)
    match options.format_:
        case "json":
            say.json(shown.data)
        case "latex":
            say.text(shown.latex)
        case "table":
            for table in shown.tables:
                say.texts(table.caption, table.columns, table.rows, table.text)
        case "formulas":
            say.text(f"{shown.text}\n")
        case "summary":
            say.line(shown.text)
    say.warnings(shown.warnings, f"`hockney show {options.machine} --warnings`", shown.part.provenance.noise)
