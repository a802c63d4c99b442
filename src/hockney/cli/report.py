"""`hockney report`: one HTML file with figures, fits and provenance of a campaign."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated, ClassVar

from pydantic import Field

from hockney import reading
from hockney.errors import RequestError
from hockney.fields import Argument, Option, flags_written
from hockney.machine.level_option import AnyLevel
from hockney.options.report import CollectiveTimes
from hockney.terminal import JsonOption, say, verb
from hockney.terminal.loading import later

with later():
    from hockney.api.campaign import Campaign
    from hockney.api.functions import report as report_of
    from hockney.api.machine import Machine
    from hockney.report.app_sections import spoken
    from hockney.report.make import write_csv, write_figures


class ReportOptions(CollectiveTimes):
    """What is reported on, with what beside it, and into which files."""

    empty_means_default: ClassVar[bool] = True

    campaigns: Annotated[
        list[Path],
        Argument(
            "Campaign folder, or a tidy table (.csv, .csv.gz, .parquet); several are compared on one page.",
            metavar="CAMPAIGN",
        ),
    ]
    output: Annotated[
        Path | None, Option("HTML file. [default: report.html, or card.html]", flags=("--output", "-o"))
    ] = None
    card: Annotated[
        bool,
        Option(
            "Two printed pages about the machine instead of the whole report; CAMPAIGN may also be a machine "
            "file, or the name of a published machine.",
            flags=("--card",),
        ),
    ] = False
    peaks: Annotated[
        list[str],
        Option(
            "NAME=RATE or NAME@LOCALITY=RATE in one direction, drawn as a line; repeat for several. Without a "
            "locality it limits messages between nodes where there are any. Of some sizes only: `PIO up to "
            "16KiB=10.6GB/s`, `SDMA above 16KiB=12.5GB/s`. [default: the links of the nodes]",
            flags=("--peak",),
            metavar="NAME[@LOCALITY]=RATE",
        ),
    ] = Field(default_factory=list)
    machine: Annotated[Path | None, Option("Its fits are shown. [default: fitted anew]")] = None
    systems: Annotated[
        list[str],
        Option(
            "A known one, or a JSON file that describes it: where ranks share a cache, a package, a "
            "node. Repeat for a table of several. [default: what the launches tell]",
            flags=("--system",),
            metavar="NAME|FILE",
        ),
    ] = Field(default_factory=list)
    figures: Annotated[
        Path | None, Option("Here a folder: every figure as PNG and SVG.", flags=("--figure",))
    ] = None
    csv: Annotated[Path | None, Option("Here a folder: one file for each configuration.")] = None
    any_level: AnyLevel = False


NOT_ON_CARDS = ("peaks", "machine", "systems", "statistic", "sizes_B", "figures", "csv")
"""Options of the whole report."""
NOT_ON_COMPARISONS = ("peaks", "machine", "systems", "sizes_B", "any_level")
"""Options of the report of one campaign."""


@verb(
    "report",
    examples="""
hockney report demo
hockney report demo -o report.html --peak 'InfiniBand=12.5GB/s'
hockney report demo --peak 'InfiniBand=100Gbit/s' --peak 'memory@cache,numa=12GB/s'
hockney report demo --machine machine.json --figure figures --csv csv
hockney report tidy.csv.gz -o published.html --json
hockney report tidy.csv.gz --system orfeo-epyc
hockney report openmpi mpich -o compared.html
hockney report tidy.csv.gz --statistic mean_over_ranks --bytes 2,1KiB
hockney report demo -o mixture.html --any-level
hockney report --card machine.json -o card.html
hockney report --card bluegene_p --json
""",
)
def report(options: ReportOptions, as_json: JsonOption = False) -> None:
    """Write one self-contained HTML page: times, throughput, fits, residuals, tables, provenance.

    In a browser its figures follow what is chosen; without scripts and in print they stand as they are. Several
    campaigns are compared: what all of them measured shares a figure, and ratios to the first say what differs.
    """
    output = options.output or Path("card.html" if options.card else "report.html")
    if output.suffix.lower() not in ("", ".html", ".htm"):
        raise RequestError(
            f"{output}: a report is HTML, not {output.suffix}",
            f"write -o {output.with_suffix('.html')}; a browser prints that as PDF",
        )
    first, *others = options.campaigns
    if not options.card:
        for campaign in options.campaigns:
            Campaign.open(campaign)
    written = flags_written(options)
    if options.card:
        if unfit := [called for name, called in written.items() if name in NOT_ON_CARDS]:
            raise RequestError(f"--card does not take {', '.join(unfit)}", "leave them out, or leave out --card")
        if others:
            raise RequestError(f"a card is of one machine, not of {len(options.campaigns)}", "name one")
        in_place = _in_place(output, is_named=options.output is not None)
        _card(first, output, in_place, any_level=options.any_level, as_json=as_json)
        return
    in_place = _in_place(output, is_named=options.output is not None)
    fitted = None if options.machine is None else Machine.open(options.machine)
    with say.status("reading …") as status:
        if others:
            # As they are called here, so that a comparison refuses them by these names.
            not_here = {
                called: getattr(options, name) for name, called in written.items() if name in NOT_ON_COMPARISONS
            }
            compared = report_of(
                options.campaigns,
                output,
                statistic=options.statistic,
                progress=lambda name: status(name),
                **not_here,
            )
            page = compared.made
        else:
            made = Campaign(first).report(
                output,
                machine=fitted,
                peaks=options.peaks,
                systems=options.systems,
                statistic=options.statistic,
                sizes_B=options.sizes_B,
                any_level=options.any_level,
                progress=lambda name: status(name),
            )
            page = made.made
        drawn = [] if options.figures is None else write_figures(page, options.figures)
        tables = [] if options.csv is None else write_csv(page, options.csv)
    if as_json:
        say.json(
            {
                "report": str(output),
                "figures": [str(path) for path in drawn],
                "csv": [str(path) for path in tables],
                "headline": [head.as_json() for head in page.headlines],
                "left_out": page.omitted,
                "evaluations": page.evaluations,
                "collectives": {section.id: section.rows for section in page.sections if section.rows},
                "applications": page.applications,
                "findings": [asdict(finding) for finding in page.findings],
                "warnings": page.warnings,
            }
        )
        return
    for warning in page.warnings:
        if warning != page.unmeasured:
            say.warn(warning)
    for head in page.headlines:
        say.line(head.text)
    for finding in page.findings if others else ():
        say.line(finding.text)
    if page.omitted:
        say.line(page.omitted)
    if page.verdict:
        say.line(page.verdict)
    for line in spoken(page.applications):
        say.line(line)
    for path in [*drawn, *tables]:
        say.line(f"wrote {path}")
    say.line(f"wrote {output}{in_place}")
    if page.unmeasured:
        # Last, so that the way to go on is not lost above the results.
        say.warn(page.unmeasured)


def _in_place(output: Path, *, is_named: bool) -> str:
    """What is said of a page that is replaced; RequestError for a file of the usual name that is none of ours."""
    if not output.is_file():
        return ""
    is_ours = b'content="hockney' in reading.beginning(output, 100_000)
    if not (is_named or is_ours):
        raise RequestError(f"{output} is there and was not written by hockney", "choose a name with -o")
    return ", in place of the page that was there"


def _card(path: Path, output: Path, in_place: str, *, any_level: bool, as_json: bool) -> None:
    if path.is_dir() or path.name.endswith((".csv", ".csv.gz", ".parquet")):
        with say.status("fitting …") as status:
            machine = Campaign(path).fit(progress=lambda name: status(f"fitting {name}"))
    else:
        machine = Machine.open(path)
    card = machine.card(output, any_level=any_level).content
    if as_json:
        say.json({"card": str(output), **card.as_json()})
        return
    for figure in card.key:
        say.line(f"{figure.name}: {figure.value}{f' ({figure.interval})' if figure.interval else ''}")
    say.line(f"wrote {output}{in_place}")
