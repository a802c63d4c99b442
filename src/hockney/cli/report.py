"""`hockney report`: one HTML file with figures, fits and provenance of a campaign."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hockney.errors import RequestError
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later

with later():
    from hockney.machine.build import build
    from hockney.machine.file import load
    from hockney.machine.system import find_system
    from hockney.report.app_sections import spoken
    from hockney.report.card.content import content
    from hockney.report.card.page import render, write
    from hockney.report.make import make, write_csv, write_figures, write_html
    from hockney.report.marks import Peak


@verb(
    "report",
    examples="""
hockney report demo
hockney report demo -o report.html --peak 'InfiniBand=12.5GB/s'
hockney report demo --machine machine.json --figures figures --csv csv
hockney report tidy.csv.gz -o published.html --json
hockney report tidy.csv.gz --system orfeo-epyc
hockney report --card machine.json -o card.html
hockney report --card bluegene_p --json
""",
)
def report(
    campaign: Annotated[
        Path,
        typer.Argument(
            help="Campaign folder, or a tidy table (.csv, .csv.gz, .parquet); of a card also a machine file, or "
            "the name of a published machine.",
            metavar="CAMPAIGN",
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="HTML file to write. [default: report.html, or card.html]", show_default=False
        ),
    ] = None,
    card: Annotated[
        bool, typer.Option("--card", help="Two printed pages about the machine instead of the whole report.")
    ] = False,
    peak: Annotated[
        list[str] | None,
        typer.Option(
            help="NAME=RATE in one direction, drawn as a line; repeat for several.", metavar="NAME=RATE"
        ),
    ] = None,
    machine: Annotated[
        Path | None, typer.Option(help="Machine file with the fits. [default: fitted anew]", show_default=False)
    ] = None,
    system: Annotated[
        list[str] | None,
        typer.Option(
            help="System file, or the name of a known system: where ranks share a cache, a package, a node. "
            "Repeat for a table of several. [default: what the launches tell]",
            metavar="NAME|FILE",
            show_default=False,
        ),
    ] = None,
    figures: Annotated[Path | None, typer.Option(help="Folder for every figure as PNG and SVG.")] = None,
    csv: Annotated[Path | None, typer.Option(help="Folder for one CSV for each configuration.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Write one self-contained HTML page: times, throughput, fits, residuals, tables, provenance."""
    output = output or Path("card.html" if card else "report.html")
    if output.suffix.lower() not in ("", ".html", ".htm"):
        raise RequestError(
            f"{output}: a report is HTML, not {output.suffix}",
            f"write -o {output.with_suffix('.html')}; a browser prints that as PDF",
        )
    if card:
        options = {"--peak": peak, "--machine": machine, "--system": system, "--figures": figures, "--csv": csv}
        if unfit := [name for name, value in options.items() if value]:
            raise RequestError(f"--card does not take {', '.join(unfit)}", "leave them out, or leave out --card")
        _card(campaign, output, as_json=as_json)
        return
    peaks = [Peak.parse(text) for text in peak or []]
    fitted = None if machine is None else load(machine)
    described = [find_system(name) for name in dict.fromkeys(system or [])]
    with say.status("reading …") as status:
        made = make(campaign, peaks, fitted, progress=lambda name: status(name), systems=described)
        write_html(made, output)
        drawn = [] if figures is None else write_figures(made, figures)
        tables = [] if csv is None else write_csv(made, csv)
    if as_json:
        say.json(
            {
                "report": str(output),
                "figures": [str(path) for path in drawn],
                "csv": [str(path) for path in tables],
                "headline": [head.as_json() for head in made.headlines],
                "evaluations": made.evaluations,
                "applications": made.applications,
                "warnings": made.warnings,
            }
        )
        return
    for warning in made.warnings:
        if warning != made.unmeasured:
            say.warn(warning)
    for head in made.headlines:
        say.line(head.text)
    if made.verdict:
        say.line(made.verdict)
    for line in spoken(made.applications):
        say.line(line)
    for path in [*drawn, *tables]:
        say.line(f"wrote {path}")
    say.line(f"wrote {output}")
    if made.unmeasured:
        # Last, so that the way to go on is not lost above the results.
        say.warn(made.unmeasured)


def _card(path: Path, output: Path, *, as_json: bool) -> None:
    if path.is_dir() or path.name.endswith((".csv", ".csv.gz", ".parquet")):
        with say.status("fitting …") as status:
            machine = build(path, progress=lambda name: status(f"fitting {name}"))
    else:
        machine = load(path)
    made = content(machine)
    write(render(machine, made), output)
    if as_json:
        say.json({"card": str(output), **made.as_json()})
        return
    for one in made.key:
        say.line(f"{one.name}: {one.value}{f' ({one.interval})' if one.interval else ''}")
    say.line(f"wrote {output}")
