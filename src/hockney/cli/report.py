"""`hockney report`: write one HTML page with figures, models and their errors."""

from __future__ import annotations

from hockney import api
from hockney.options.report import ReportOptions
from hockney.terminal import JsonOption, say, verb
from hockney.units import counted


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
hockney report class --anonymous -o class.html
hockney report tidy.csv.gz --statistic mean_over_ranks --bytes 2,1KiB
hockney report heat.json --machine machine.json
hockney report --card machine.json -o card.html
hockney report --card bluegene_p --json
""",
)
def report(options: ReportOptions, as_json: JsonOption = False) -> None:
    """Write one self-contained HTML page: times, throughput, fits, residuals, tables, provenance.

    In a browser its figures are interactive; they print as they are. Several campaigns are compared: what all of
    them measured shares a figure, and ratios to the first show what differs. Of a program that `hockney profile`
    recorded it shows what limits it, what would help, and who waits for whom.
    """
    with say.status("reading …") as status:
        answer = api.write_report(options, status)
    if as_json:
        say.json(answer)
        return
    if answer.letters:
        say.line(f"letters: {', '.join(f'{letter} {name}' for name, letter in answer.letters.items())}")
    for finding in answer.findings:
        say.line(f"{finding.verdict}: {finding.text}")
    for folder, files in ((options.figures, answer.figures), (options.csv, answer.csv)):
        if files:
            say.line(f"wrote {counted(len(files), 'file')} to {folder}")
    say.line(f"wrote {answer.report}{answer.in_place}")
    say.warnings(answer.warnings, "on the page")
