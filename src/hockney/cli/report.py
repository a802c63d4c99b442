"""`hockney report`: one HTML file with figures, fits and provenance of a campaign."""

from __future__ import annotations

from hockney import api
from hockney.options.report import ReportOptions
from hockney.terminal import JsonOption, say, verb


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
    with say.status("reading …") as status:
        answer = api.write_report(options, status)
    if as_json:
        say.json(answer)
    elif isinstance(answer, api.ReportAnswer):
        for warning in answer.warnings:
            if warning != answer.unmeasured:
                say.warn(warning)
        for text in [*answer.lines, *(f"wrote {path}" for path in [*answer.figures, *answer.csv])]:
            say.line(text)
        say.line(f"wrote {answer.report}{answer.in_place}")
        if answer.unmeasured:
            # Last, so that the way to go on is not lost above the results.
            say.warn(answer.unmeasured)
    else:
        for figure in answer.key:
            say.line(f"{figure.name}: {figure.value}{f' ({figure.interval})' if figure.interval else ''}")
        say.line(f"wrote {answer.card}{answer.in_place}")
