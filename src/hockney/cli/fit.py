"""`hockney fit`: fit models to a campaign and save them as a machine file."""

from __future__ import annotations

from hockney import api
from hockney.cli._measured import LEFT_OUT, MOST_ROWS, show_pairs
from hockney.options.fit import FitOptions
from hockney.terminal import JsonOption, say, verb


@verb(
    "fit",
    examples="""
hockney fit demo
hockney fit demo -o machine.json
hockney fit demo -o machine.json --topology fat-tree:nodes=148,leaf-ports=32:16,spines=4,spine-ports=48
hockney fit tidy.csv.gz -o cluster.json --json
""",
)
def fit(options: FitOptions, as_json: JsonOption = False) -> None:
    """Fit every model to every configuration of a campaign, and write the machine file."""
    with say.status("fitting …") as status:
        fitted = api.fit_to_file(options.campaign, options.output, options.topology, progress=status)
    if as_json:
        say.json(fitted.data)
        return
    if fitted.pairs:
        show_pairs(fitted.pairs, LEFT_OUT, f"show {fitted.path}")
    for line in fitted.lines[:MOST_ROWS]:
        say.line(line)
    say.line(f"wrote {fitted.path}; its formulas: `hockney show {fitted.path} --format formulas`")
    say.warnings(fitted.warnings, f"`hockney show {fitted.path} --warnings`", fitted.noise)
